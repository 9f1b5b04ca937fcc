import { envSchema } from 'env-schema';
import { Type, type Static } from 'typebox';
import { findAsset, networks, type ChainSettings, type NetworkId } from './chains/assets';
import { mostLanes } from './treasury/lanes';
import type { NewDestinationRules } from './txmanager/new-destinations';
import { refusalsOf } from './production';

/** Every variable a process reads, typed and described; `.env.example` is checked against it. Each secret may come as
 *  `<NAME>_FILE`, the path of a file that holds it. */
const text = (description: string, fallback?: string) =>
  Type.String(fallback === undefined ? { description } : { description, default: fallback });
const whole = (description: string, fallback: number, minimum = 0) =>
  Type.Integer({ description, default: fallback, minimum });
const flag = (description: string) => Type.Boolean({ description, default: false });

export const configSchema = Type.Object({
  NODE_ENV: Type.Union([Type.Literal('production'), Type.Literal('sandbox'), Type.Literal('test')], {
    description: 'production refuses every setting that weakens something',
    default: 'sandbox',
  }),
  DATABASE_URL: text('PostgreSQL 15 or newer; empty: the sandbox starts its own', ''),
  DATABASE_POOL: whole('Connections per process', 10, 1),
  DATABASE_WAIT_MS: whole('How long a request waits for a connection before it is told 503', 1500, 1),
  TEMPORAL_ADDRESS: text('host:port of the Temporal frontend; empty: the sandbox starts its own', ''),
  TEMPORAL_NAMESPACE: text('Temporal namespace', 'default'),
  TEMPORAL_API_KEY: text('API key, for Temporal Cloud', ''),
  TEMPORAL_TLS: flag('Connect to Temporal over TLS'),
  TEMPORAL_UI_URL: text('Base of the Temporal UI, for links in the operator timeline', ''),
  SECRETS_KEY: text('32 bytes in hex: encrypts IPN secrets at rest and keys the hashes of API keys', ''),

  API_HOST: text('Address the API listens on', '127.0.0.1'),
  API_PORT: whole('Port of the API', 3000),
  API_URL: text(
    'Public base address of the API; links are built from it, never from the Host header',
    'http://127.0.0.1:3000',
  ),
  API_INTERNAL_URL: text('Where the checkout reaches the API without leaving the machine; empty: API_URL', ''),
  CHECKOUT_HOST: text('Address the checkout listens on', '127.0.0.1'),
  CHECKOUT_PORT: whole('Port of the checkout', 3001),
  CHECKOUT_URL: text('Public base address of the checkout', 'http://127.0.0.1:3001'),
  DASHBOARD_URL: text(
    'Public base address of the dashboard: API_URL/dashboard or a static host of the same site; mail leads there',
    'http://localhost:3000/dashboard',
  ),
  TERMS_VERSION: text('Version of the terms that a new user accepts', '1'),
  PRIVACY_VERSION: text('Version of the privacy notice that a new user accepts', '1'),
  METRICS_HOST: text(
    'Address that the API and each worker serve metrics and health on; never a public one',
    '127.0.0.1',
  ),
  METRICS_PORT: whole('Port of /metrics, /healthz and /readyz of the API and of each worker; 0: none', 0),
  PROXY_COUNT: whole('Reverse proxies in front of the API whose X-Forwarded-For entries are believed', 0),
  CHECKOUT_IPS: text(
    'Addresses or CIDR ranges of checkout hosts, comma-separated: their X-Forwarded-For names the payer whom limits are kept for',
    '',
  ),
  CHECKOUT_PROXY_COUNT: whole('Reverse proxies in front of the checkout whose X-Forwarded-For entries are believed', 0),
  RATE_LIMIT_STANDARD: whole('Requests per minute and caller on routes without a limit of their own', 600, 1),

  BTC_RPC_URL: text('JSON-RPC of Bitcoin Core or btcd', 'http://127.0.0.1:18334'),
  BTC_RPC_USER: text('User of the Bitcoin RPC', ''),
  BTC_RPC_PASSWORD: text('Password of the Bitcoin RPC', ''),
  BTC_SECOND_RPC_URL: text(
    'Another Bitcoin node, of another operator, compared with the first; credentials in the address; empty: none',
    '',
  ),
  BTC_NETWORK: Type.Union(
    [Type.Literal('mainnet'), Type.Literal('testnet'), Type.Literal('regtest'), Type.Literal('simnet')],
    {
      description: 'Which Bitcoin chain',
      default: 'mainnet',
    },
  ),
  ETH_RPC_URL: text('JSON-RPC of an Ethereum node', 'http://127.0.0.1:8545'),
  ETH_SECOND_RPC_URL: text('Another Ethereum node, of another operator, compared with the first; empty: none', ''),
  ETH_CHAIN_ID: whole('Chain id that the node must report', 1),
  TOKEN_CONTRACTS: text('JSON object ticker → contract, for chains other than the main network', '{}'),
  SWEEPER_CONTRACT: text(
    'Our contract on Ethereum that sweeps tokens of many addresses at once; empty: one by one',
    '',
  ),
  CHAIN_NETWORKS: text('Networks that this chain worker serves, comma-separated', 'bitcoin,ethereum'),
  POLL_INTERVAL_MS: whole('Pause between two looks at a node', 1000, 50),
  UNEXPLAINED_BOUNDS: text(
    'Up to how much on our own wallets that nobody claims is booked by itself: currency=amount pairs, comma-separated',
    'ETH=0.01,USDT_ERC20=20,USDC_ERC20=20',
  ),
  CONFIRMATIONS: text('Sandbox only: network=depth pairs, comma-separated, in place of the registry', ''),

  SIGNER_SEED_FILE: text('Signer only: file with the BIP-39 mnemonic, mode 0600', ''),
  SIGNER_COOLING_OFF_HOURS: whole(
    'Signer only: a destination is new for this long after the signer first saw it; production: 24 at least',
    24,
  ),
  SIGNER_DAILY_CAPS: text(
    'Signer only: what may go to new destinations in 24 hours, currency=amount pairs; else as in domain/chains/assets',
    '',
  ),
  SIGNER_EPOCH_FILE: text(
    'Signer only: file in which it counts recoveries of the database; on another disk, and never restored with it',
    '',
  ),
  RECOVERY_WATCH_ADDRESSES: whole(
    'Signer only: after a recovery, how many more addresses of the old branch are watched, per network and role',
    50_000,
    1,
  ),
  LANES: text(
    'Signer only: hot wallets of an account chain, network=count pairs; what is stuck delays one of them',
    'ethereum=1',
  ),

  RATE_SOURCE: Type.Union([Type.Literal('exchanges'), Type.Literal('file')], {
    description: 'Where prices come from',
    default: 'exchanges',
  }),
  RATE_FILE: text('Sandbox only: price file of RATE_SOURCE=file', ''),
  RATE_EXCHANGES: text('Exchanges asked, comma-separated ccxt ids', 'kraken,coinbase,bitstamp,gemini'),
  RATE_QUORUM: whole('Sources that must agree', 2, 1),
  RATE_MAX_AGE_SECONDS: whole('A rate older than this prices nothing', 120, 1),
  RATE_REFRESH_SECONDS: whole('Pause between two looks at the sources', 15, 1),

  QUOTE_TTL_SECONDS: whole('How long a crypto quote is guaranteed', 900, 1),
  DEFAULT_EXPIRES_IN: whole('Seconds until a payment expires where the merchant names none', 3600, 60),
  OPEN_PAYMENTS_QUOTA: whole('Open payments per merchant', 1000, 1),
  OPEN_CHECKOUTS_QUOTA: whole('Unpaid checkouts per widget; they do not count as open payments', 500, 1),

  SWEEP_BATCH_SECONDS: whole('How long a confirmed payment waits for others that one sweep can move with it', 0),
  SWEEP_MAX_COST_PCT: whole(
    'A sweep that costs more than this share of what it moves waits for company or a cheaper hour',
    25,
    1,
  ),
  SWEEP_MAX_WAIT_HOURS: whole(
    'The longest wait for a cheaper sweep: then it goes at any price that leaves something',
    24,
  ),

  APPROVAL_COOLING_OFF_HOURS: whole(
    'How long a user must have held the right to approve before it counts above approvalUsd; production: 24 at least',
    24,
  ),

  AML_PROVIDER: text('Who screens where money came from, comma-separated: list, chainalysis; empty: nobody', ''),
  AML_API_URL: text('Base address of the Chainalysis sanctions API', 'https://public.chainalysis.com'),
  AML_API_KEY: text('Key of the Chainalysis sanctions API', ''),

  SWAP_PROVIDER: Type.Union([Type.Literal(''), Type.Literal('changenow')], {
    description: 'Who converts externally: changenow; empty: nobody, and no pair can be set to external',
    default: '',
  }),
  SWAP_API_URL: text('Base address of the API of ChangeNOW', 'https://api.changenow.io'),
  SWAP_API_KEY: text('Key of the API of ChangeNOW', ''),
  SWAP_POLL_SECONDS: whole('Pause between two looks at an order of the swap provider', 20, 1),

  SMTP_URL: text('smtp:// or smtps:// of the mail server', 'smtp://127.0.0.1:1025'),
  MAIL_FROM: text('Sender of our mail', 'payments@localhost'),
  ALLOW_INSECURE_CALLBACKS: flag('Sandbox only: lifts the https and public-address rules of callback URLs'),
  WEBHOOK_TIME_SCALE: Type.Number({
    description: 'Sandbox only: factor on the pauses between delivery attempts',
    default: 1,
    exclusiveMinimum: 0,
  }),
  FAIL_POINTS: flag('Test only: arms the fail points through the fail_point table'),
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => Type.Literal(level)),
    { description: 'Least severe level that is logged', default: 'info' },
  ),
});

type Raw = Static<typeof configSchema>;
export type Config = Readonly<
  Omit<
    Raw,
    | 'TOKEN_CONTRACTS'
    | 'CHAIN_NETWORKS'
    | 'CONFIRMATIONS'
    | 'UNEXPLAINED_BOUNDS'
    | 'LANES'
    | 'RATE_EXCHANGES'
    | 'AML_PROVIDER'
  >
> &
  Readonly<{
    chain: ChainSettings;
    chainNetworks: readonly string[];
    /** Depth per network in place of the registry's; empty in production. */
    confirmations: Readonly<Record<string, number>>;
    /** Hot wallets per network; 1 where it has none. */
    lanes: Readonly<Record<string, number>>;
    /** Decimal strings by currency. */
    unexplainedBounds: Readonly<Record<string, string>>;
    newDestinations: NewDestinationRules;
    rateExchanges: readonly string[];
    /** Names of the screening providers; empty: screening is skipped. */
    amlProviders: readonly AmlProvider[];
    isProduction: boolean;
  }>;

/** The settings of every network's node. */
export type NodeConfig = Pick<Config, 'BTC_RPC_URL' | 'BTC_RPC_USER' | 'BTC_RPC_PASSWORD' | 'ETH_RPC_URL'>;
/** How the node of each network is reached. */
export const loginOf: Readonly<
  Record<NetworkId, (config: NodeConfig) => Readonly<{ url: string; user?: string; password?: string }>>
> = {
  bitcoin: (config) => ({
    url: config.BTC_RPC_URL,
    user: config.BTC_RPC_USER,
    password: config.BTC_RPC_PASSWORD,
  }),
  ethereum: (config) => ({ url: config.ETH_RPC_URL }),
};

/** Where the second node of each network is; empty: there is none. */
export const secondUrlOf: Readonly<
  Record<NetworkId, (config: Pick<Config, 'BTC_SECOND_RPC_URL' | 'ETH_SECOND_RPC_URL'>) => string>
> = {
  bitcoin: (config) => config.BTC_SECOND_RPC_URL,
  ethereum: (config) => config.ETH_SECOND_RPC_URL,
};

const amlProviders = ['list', 'chainalysis'] as const;
type AmlProvider = (typeof amlProviders)[number];

/** A setting that keeps the process from starting; the message names the variable and what to do. */
export class ConfigError extends Error {}

const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);

/** What weakens a running service, and is refused in production. */
const weakening: ReadonlyArray<[variable: string, isSet: (raw: Raw) => boolean]> = [
  ['ALLOW_INSECURE_CALLBACKS', (raw) => raw.ALLOW_INSECURE_CALLBACKS],
  ['FAIL_POINTS', (raw) => raw.FAIL_POINTS],
  ['CONFIRMATIONS', (raw) => raw.CONFIRMATIONS !== ''],
  ['RATE_SOURCE=file', (raw) => raw.RATE_SOURCE === 'file'],
  ['RATE_FILE', (raw) => raw.RATE_FILE !== ''],
  ['WEBHOOK_TIME_SCALE', (raw) => raw.WEBHOOK_TIME_SCALE !== 1],
  ['APPROVAL_COOLING_OFF_HOURS', (raw) => raw.APPROVAL_COOLING_OFF_HOURS < 24],
  ['SIGNER_COOLING_OFF_HOURS', (raw) => raw.SIGNER_COOLING_OFF_HOURS < 24],
  ['BTC_NETWORK', (raw) => raw.BTC_NETWORK === 'regtest' || raw.BTC_NETWORK === 'simnet'],
];

/** What each process must be given in production; it is not asked for anything else. */
export const asked = {
  api: ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SECRETS_KEY', 'API_URL', 'CHECKOUT_URL', 'DASHBOARD_URL'],
  payments: ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SECRETS_KEY', 'CHECKOUT_URL', 'DASHBOARD_URL'],
  chain: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  signer: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  checkout: ['API_URL', 'CHECKOUT_URL'],
  operator: ['DATABASE_URL', 'SECRETS_KEY', 'DASHBOARD_URL'],
  screening: ['DATABASE_URL'],
} as const satisfies Readonly<Record<string, ReadonlyArray<keyof Raw>>>;
export type ProcessName = keyof typeof asked;

/** The typed configuration of `env`, or ConfigError with every fault named. `readFile` serves `<NAME>_FILE`. `process`:
 *  who asks; everything is required unless it is told. */
export function parseConfig(
  env: Readonly<Record<string, string | undefined>>,
  readFile?: (path: string) => string,
  process?: ProcessName,
): Config {
  const given: Record<string, string> = {};
  for (const name of Object.keys(configSchema.properties)) {
    const file = env[`${name}_FILE`];
    const direct = env[name];
    if (direct !== undefined) given[name] = direct;
    else if (file && readFile && !(`${name}_FILE` in configSchema.properties)) given[name] = readFile(file).trim();
  }
  let raw: Raw;
  try {
    raw = envSchema<Raw>({ schema: configSchema as never, data: given, dotenv: false, env: false });
  } catch (error) {
    throw new ConfigError(`Configuration: ${(error as Error).message}. See .env.example`);
  }
  const isProduction = raw.NODE_ENV === 'production';
  const faults: string[] = [];
  if (isProduction) {
    for (const [variable, isSet] of weakening)
      if (isSet(raw)) faults.push(`${variable} weakens the service and is refused with NODE_ENV=production`);
    const isAsked = (name: keyof Raw): boolean => (process ? asked[process] : asked.api).some((one) => one === name);
    if (isAsked('SECRETS_KEY') && !/^[0-9a-f]{64}$/.test(raw.SECRETS_KEY))
      faults.push('SECRETS_KEY must be 64 hex digits');
    faults.push(...refusalsOf(raw));
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS'] as const)
      if (isAsked(name) && !raw[name]) faults.push(`${name} is missing`);
    // Cookies are secure on https alone. Contract: 5.2.
    for (const name of ['API_URL', 'CHECKOUT_URL', 'DASHBOARD_URL'] as const)
      if (isAsked(name) && URL.parse(raw[name])?.protocol !== 'https:') faults.push(`${name} is no https:// address`);
  }
  const knowsBoth = process === undefined || process === 'api';
  if (knowsBoth && !isSameSite(raw.DASHBOARD_URL, raw.API_URL, isProduction))
    faults.push('DASHBOARD_URL is not of the same site as API_URL: its sessions would not be sent');
  const tokenContracts = parseContracts(raw.TOKEN_CONTRACTS, faults);
  if (!/^(0x[0-9a-fA-F]{40})?$/.test(raw.SWEEPER_CONTRACT)) faults.push('SWEEPER_CONTRACT is not an Ethereum address');
  const chosen = parseAmlProviders(raw, isProduction, faults);
  checkSwap(raw, isProduction, faults);
  const unexplainedBounds = parseAmounts('UNEXPLAINED_BOUNDS', raw, faults);
  const dailyCaps = parseAmounts('SIGNER_DAILY_CAPS', raw, faults);
  const lanes = parseLanes(raw.LANES, faults);
  const confirmations: Record<string, number> = {};
  for (const pair of list(raw.CONFIRMATIONS)) {
    const match = /^([a-z]+)=(\d{1,4})$/.exec(pair);
    if (match?.[1] && match[2]) confirmations[match[1]] = parseInt(match[2], 10);
    else faults.push(`CONFIRMATIONS: '${pair}' is not network=depth`);
  }
  if (faults.length) throw new ConfigError(`Configuration: ${faults.join('; ')}. See .env.example`);
  return {
    ...raw,
    chain: {
      chainNames: { bitcoin: raw.BTC_NETWORK },
      chainIds: { ethereum: raw.ETH_CHAIN_ID },
      tokenContracts,
      sweepers: raw.SWEEPER_CONTRACT ? { ethereum: raw.SWEEPER_CONTRACT } : {},
    },
    chainNetworks: list(raw.CHAIN_NETWORKS),
    confirmations,
    lanes,
    unexplainedBounds,
    newDestinations: { coolingOffHours: raw.SIGNER_COOLING_OFF_HOURS, dailyCaps },
    rateExchanges: list(raw.RATE_EXCHANGES),
    amlProviders: chosen,
    isProduction,
  };
}

/** Whether a page at `page` sends our SameSite cookies to `api`: one host, or names below one registered domain, by
 *  the same scheme. Without a list of public suffixes, the last two labels count as the registered domain. A sandbox
 *  may name this machine as it likes. */
function isSameSite(page: string, api: string, isProduction: boolean): boolean {
  const [one, other] = [URL.parse(page), URL.parse(api)];
  if (!one || !other) return !isProduction; // told as no address above
  if (!isProduction && [one, other].every(({ hostname }) => /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)))
    return true;
  if (one.protocol !== other.protocol) return false;
  const [a, b] = [one.hostname, other.hostname];
  if (a === b) return true;
  if ([a, b].some((host) => /^[\d.]+$|^\[/.test(host))) return false;
  if (a.endsWith(`.${b}`) || b.endsWith(`.${a}`)) return true;
  const [mine, theirs] = [a.split('.'), b.split('.')];
  return mine.length > 2 && theirs.length > 2 && mine.slice(-2).join('.') === theirs.slice(-2).join('.');
}

function checkSwap(raw: Raw, isProduction: boolean, faults: string[]): void {
  if (!raw.SWAP_PROVIDER) return;
  const scheme = URL.parse(raw.SWAP_API_URL)?.protocol;
  if (scheme !== 'https:' && (isProduction || scheme !== 'http:')) faults.push('SWAP_API_URL is no https:// address');
  if (!raw.SWAP_API_KEY) faults.push(`SWAP_API_KEY is missing for SWAP_PROVIDER=${raw.SWAP_PROVIDER}`);
}

function parseAmlProviders(raw: Raw, isProduction: boolean, faults: string[]): AmlProvider[] {
  const names = [...new Set(list(raw.AML_PROVIDER))];
  for (const name of names)
    if (!amlProviders.some((known) => known === name))
      faults.push(`AML_PROVIDER: '${name}' is none of ${amlProviders.join(', ')}`);
  if (names.includes('chainalysis')) {
    const scheme = URL.parse(raw.AML_API_URL)?.protocol;
    if (scheme !== 'https:' && (isProduction || scheme !== 'http:')) faults.push('AML_API_URL is no https:// address');
    if (!raw.AML_API_KEY) faults.push('AML_API_KEY is missing for AML_PROVIDER=chainalysis');
  }
  return amlProviders.filter((known) => names.includes(known));
}

/** Amounts by currency, of a setting of `currency=amount` pairs. */
function parseAmounts(name: 'UNEXPLAINED_BOUNDS' | 'SIGNER_DAILY_CAPS', raw: Raw, faults: string[]) {
  const amounts: Record<string, string> = {};
  for (const pair of list(raw[name])) {
    const [, currency, amount] = /^(\w+)=(\d{1,30}(?:\.\d{1,18})?)$/.exec(pair) ?? [];
    if (currency && amount && findAsset(currency)) amounts[currency] = amount;
    else faults.push(`${name}: '${pair}' is not currency=amount`);
  }
  return amounts;
}

/** Hot wallets, by network. Transactions of coins do not wait for one another: one is enough there. */
function parseLanes(text: string, faults: string[]): Record<string, number> {
  const lanes: Record<string, number> = {};
  for (const pair of list(text)) {
    const [, name, digits] = /^([a-z]+)=(\d{1,2})$/.exec(pair) ?? [];
    const network = Object.values(networks).find(({ id }) => id === name);
    const count = digits === undefined ? 0 : parseInt(digits, 10);
    const most = network?.kind === 'account' ? mostLanes : 1;
    if (network && count >= 1 && count <= most) lanes[network.id] = count;
    else faults.push(`LANES: '${pair}' is not network=count, from 1 to ${most}`);
  }
  return lanes;
}

function parseContracts(json: string, faults: string[]): Record<string, string> {
  try {
    const value: unknown = JSON.parse(json);
    if (value && typeof value === 'object' && !Array.isArray(value)) {
      for (const [ticker, contract] of Object.entries(value))
        if (typeof contract !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(contract))
          faults.push(`TOKEN_CONTRACTS: '${String(contract)}' of ${ticker} is no contract address`);
      return value as Record<string, string>;
    }
  } catch {
    // reported below, with every other fault
  }
  faults.push('TOKEN_CONTRACTS is not a JSON object of ticker to contract');
  return {};
}
