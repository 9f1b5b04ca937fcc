import { envSchema } from 'env-schema';
import type { Static } from 'typebox';
import { normaliseRange } from './access/ip-range';
import {
  evmNetworks,
  findAsset,
  namedNetworks,
  networks,
  payableAsset,
  type ChainSettings,
  type EvmPrefix,
  type ExpiringPrefix,
  type NetworkId,
  type UtxoPrefix,
} from './chains/assets';
import { isLocalChain } from './chains/freshness';
import { isTestChain } from './chains/chosen-chain';
import { defaultLanes, mostLanes } from './treasury/lanes';
import { lightningFaults, type LightningPart } from './lightning/settings';
import type { NewDestinationRules } from './txmanager/new-destinations';
import { keysIn } from './secrets-key';
import { parseSignerNodes, type SignerNodes } from './signer-nodes';
import { refusalsOf } from './production';
import { configSchema } from './settings';

type Raw = Static<typeof configSchema>;
export type Config = Readonly<
  Omit<
    Raw,
    | 'TOKEN_CONTRACTS'
    | 'NETWORKS'
    | 'CHAIN_NETWORKS'
    | 'CONFIRMATIONS'
    | 'UNEXPLAINED_BOUNDS'
    | 'LANES'
    | 'RATE_EXCHANGES'
    | 'AML_PROVIDER'
    | 'OPERATOR_IPS'
    | 'SIGNER_NODES'
  >
> &
  Readonly<{
    chain: ChainSettings;
    /** Networks that are offered, followed and paid on. */
    networks: readonly NetworkId[];
    /** Those of them that this chain worker serves. */
    chainNetworks: readonly NetworkId[];
    /** Depth per network in place of the registry's; empty in production. */
    confirmations: Readonly<Record<string, number>>;
    /** Hot wallets per network. */
    lanes: Readonly<Record<string, number>>;
    /** Decimal strings by currency. */
    unexplainedBounds: Readonly<Record<string, string>>;
    newDestinations: NewDestinationRules;
    signerNodes: SignerNodes;
    rateExchanges: readonly string[];
    /** Addresses and CIDR ranges that operators call from; empty: from anywhere. */
    operatorIps: readonly string[];
    /** Names of the screening providers; empty: screening is skipped. */
    amlProviders: readonly AmlProvider[];
    isProduction: boolean;
  }>;

/** The settings of every network's node. */
export type NodeConfig = Pick<
  Config,
  `${UtxoPrefix}_RPC_${'URL' | 'USER' | 'PASSWORD'}` | `${EvmPrefix | ExpiringPrefix}_RPC_URL` | 'TRON_FINAL_RPC_URL'
>;
type Login = Readonly<{ url: string; user?: string; password?: string; final?: string }>;
/** How the node of a network is reached. */
export function loginOf(id: NetworkId, config: NodeConfig): Login {
  const network = networks[id];
  if (network.kind === 'account') {
    const final = network.expiring === 'tron' ? config.TRON_FINAL_RPC_URL : '';
    return { url: config[`${network.settings.prefix}_RPC_URL`], ...(final ? { final } : {}) };
  }
  const { prefix } = network.settings;
  return {
    url: config[`${prefix}_RPC_URL`],
    user: config[`${prefix}_RPC_USER`],
    password: config[`${prefix}_RPC_PASSWORD`],
  };
}

/** Where the second node of a network is; empty: there is none. */
export const secondUrlOf = (
  id: NetworkId,
  config: Pick<Config, `${UtxoPrefix | EvmPrefix | ExpiringPrefix}_SECOND_RPC_URL`>,
): string => config[`${networks[id].settings.prefix}_SECOND_RPC_URL`];

const amlProviders = ['list', 'chainalysis'] as const;
type AmlProvider = (typeof amlProviders)[number];

/** A setting that keeps the process from starting; the message names the variable and what to do. */
export class ConfigError extends Error {
  /** `faults`: each on its own, where there are several. */
  constructor(
    message: string,
    readonly faults: readonly string[] = [message],
  ) {
    super(message);
  }
}

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
  ['EVEN_ANSWER_MS', (raw) => raw.EVEN_ANSWER_MS < 500],
  ['SIGNER_COOLING_OFF_HOURS', (raw) => raw.SIGNER_COOLING_OFF_HOURS < 24],
  ['SIMULATOR_URL', (raw) => raw.SIMULATOR_URL !== ''],
  ...namedNetworks().map(({ settings: { prefix }, chains }): [string, (raw: Raw) => boolean] => [
    `${prefix}_NETWORK`,
    (raw) => chains[raw[`${prefix}_NETWORK`]]?.isLocal ?? false,
  ]),
];

/** What each process must be given in production; it is not asked for anything else. */
export const asked = {
  api: ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SECRETS_KEY', 'API_URL', 'CHECKOUT_URL', 'DASHBOARD_URL'],
  payments: ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SECRETS_KEY', 'CHECKOUT_URL', 'DASHBOARD_URL'],
  chain: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  signer: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  checkout: ['API_URL', 'CHECKOUT_URL', 'DASHBOARD_URL'],
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
    if (isAsked('SECRETS_KEY') && !keysIn(raw.SECRETS_KEY).every((one) => /^[0-9a-f]{64}$/.test(one)))
      faults.push('SECRETS_KEY must be 64 hex digits, or several such keys with commas between');
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
  const sweepers = sweepersIn(raw, faults);
  const chosen = parseAmlProviders(raw, isProduction, faults);
  checkSwap(raw, isProduction, faults);
  const unexplainedBounds = parseAmounts('UNEXPLAINED_BOUNDS', raw, faults);
  const dailyCaps = parseAmounts('SIGNER_DAILY_CAPS', raw, faults);
  const lanes = parseLanes(raw.LANES, faults);
  const operatorIps = parseRanges('OPERATOR_IPS', raw, faults);
  const on = parseNetworks(raw, faults);
  const signerNodes = signerNodesIn(raw, faults, on.networks, process);
  const chain = {
    chainNames: Object.fromEntries(
      namedNetworks().map(({ id, settings: { prefix } }) => [id, raw[`${prefix}_NETWORK`]]),
    ),
    chainIds: Object.fromEntries(evmNetworks().map(({ id, settings: { prefix } }) => [id, raw[`${prefix}_CHAIN_ID`]])),
    tokenContracts,
    sweepers,
  };
  if (raw.MODE === 'test' && followsChains(process)) faults.push(...liveChainsOf(on.networks, chain, isProduction));
  checkSimulator(raw, faults);
  const lightningOf = { networks: on.networks, chainName: raw.BTC_NETWORK, process: inLightning(on, process) };
  faults.push(...lightningFaults(raw, lightningOf));
  const confirmations = parseConfirmations(raw, faults);
  if (faults.length) throw new ConfigError(`Configuration: ${faults.join('; ')}. See .env.example`, faults);
  return {
    ...raw,
    chain,
    ...on,
    confirmations,
    lanes,
    unexplainedBounds,
    newDestinations: { coolingOffHours: raw.SIGNER_COOLING_OFF_HOURS, dailyCaps },
    signerNodes,
    rateExchanges: list(raw.RATE_EXCHANGES),
    operatorIps,
    amlProviders: chosen,
    isProduction,
  };
}

function parseConfirmations(raw: Raw, faults: string[]): Record<string, number> {
  const confirmations: Record<string, number> = {};
  for (const pair of list(raw.CONFIRMATIONS)) {
    const match = /^([a-z]+)=(\d{1,4})$/.exec(pair);
    if (match?.[1] && match[2]) confirmations[match[1]] = parseInt(match[2], 10);
    else faults.push(`CONFIRMATIONS: '${pair}' is not network=depth`);
  }
  return confirmations;
}

const signerNodesIn = (raw: Raw, faults: string[], on: readonly NetworkId[], process?: ProcessName): SignerNodes =>
  parseSignerNodes(raw.SIGNER_NODES, faults, {
    networks: on,
    isAsked: process === undefined || process === 'signer',
    followedAt: (id) => loginOf(id, raw).url,
    isProduction: raw.NODE_ENV === 'production',
  });

/** What a process has to do with our Lightning node. */
function inLightning(on: Pick<Config, 'chainNetworks'>, process?: ProcessName): LightningPart {
  if (process === undefined) return 'all';
  if (process === 'chain' && on.chainNetworks.includes('bitcoin')) return 'taker';
  if (process === 'signer') return 'payer';
  return process === 'payments' ? 'reader' : 'other';
}

/** Whether a process is told which chains there are. */
const followsChains = (process?: ProcessName): boolean =>
  process === undefined || ['api', 'payments', 'chain', 'signer'].includes(process);

/** What a test instance must not be on: chains whose coins are worth something, in production also local ones. */
function liveChainsOf(on: readonly NetworkId[], chain: ChainSettings, isProduction: boolean): string[] {
  return on.flatMap((id) => {
    const network = networks[id];
    const setting =
      'chains' in network
        ? `${network.settings.prefix}_NETWORK=${chain.chainNames[id]}`
        : `${network.settings.prefix}_CHAIN_ID=${chain.chainIds[id]}`;
    if (!isTestChain(network, chain)) return [`${setting} is no test chain: with MODE=test there are no others`];
    if (isProduction && network.kind === 'account' && isLocalChain(network, chain))
      return [`${setting} is a chain of one machine: production takes public test chains`];
    return [];
  });
}

/** Who pays by simulation has a payer's keys: a sandbox's own process, on this machine. */
function checkSimulator(raw: Raw, faults: string[]): void {
  if (!raw.SIMULATOR_URL) return;
  if (raw.MODE !== 'test') faults.push('SIMULATOR_URL is for a test instance alone: MODE=test');
  if (!/^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):\d+$/.test(raw.SIMULATOR_URL))
    faults.push('SIMULATOR_URL is no http:// address of this machine');
  if (!/^[0-9a-f]{64}$/.test(raw.SIMULATOR_KEY)) faults.push('SIMULATOR_KEY must be 64 hex digits');
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

/** Addresses and CIDR ranges. A mistyped one must not open or close the door for anybody unnoticed. */
function parseRanges(name: 'OPERATOR_IPS', raw: Raw, faults: string[]): string[] {
  const entries = list(raw[name]);
  for (const entry of entries)
    if (normaliseRange(entry) === null) faults.push(`${name}: '${entry}' is no address or range`);
  return entries;
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
    const isKnown = currency && payableAsset(currency, name === 'SIGNER_DAILY_CAPS');
    if (isKnown && amount) amounts[currency] = amount;
    else faults.push(`${name}: '${pair}' is not currency=amount`);
  }
  return amounts;
}

/** The networks that are on, and those that a chain worker serves. */
function parseNetworks(raw: Raw, faults: string[]): Pick<Config, 'networks' | 'chainNetworks'> {
  const named = (name: 'NETWORKS' | 'CHAIN_NETWORKS'): NetworkId[] =>
    [...new Set(list(raw[name]))].flatMap((id) => {
      if (Object.hasOwn(networks, id)) return [id as NetworkId];
      faults.push(`${name}: there is no network '${id}' in the registry`);
      return [];
    });
  const [all, own] = [named('NETWORKS'), named('CHAIN_NETWORKS')];
  if (!all.length) faults.push('NETWORKS names no network');
  for (const id of own) if (!all.includes(id)) faults.push(`CHAIN_NETWORKS: '${id}' is not in NETWORKS`);
  return { networks: all, chainNetworks: own.length ? own : all };
}

/** Hot wallets, by network. Transactions of coins do not wait for one another: one is enough there. On account chains
 *  two are the least that lets money leave beside a transaction which no block takes; where an account must hold a
 *  reserve, another is one that somebody asks for. */
function parseLanes(text: string, faults: string[]): Record<string, number> {
  const lanes: Record<string, number> = Object.fromEntries(
    Object.values(networks).map((one) => [one.id, one.kind === 'account' && !one.hasReserve ? defaultLanes : 1]),
  );
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

/** Our contract on each EVM network that has one. */
function sweepersIn(raw: Raw, faults: string[]): ChainSettings['sweepers'] {
  const set = evmNetworks().map(({ id, settings: { prefix } }) => {
    const name = `${prefix}_SWEEPER_CONTRACT` as const;
    if (!/^(0x[0-9a-fA-F]{40})?$/.test(raw[name])) faults.push(`${name} is no address of a contract`);
    return [id, raw[name]] as const;
  });
  return Object.fromEntries(set.filter(([, address]) => address !== ''));
}

/** What a contract of a token looks like: as an address of its network. */
const contractForm = (ticker: string): RegExp => new RegExp(findAsset(ticker)?.addressRegex ?? '^0x[0-9a-fA-F]{40}$');

function parseContracts(json: string, faults: string[]): Record<string, string> {
  try {
    const value: unknown = JSON.parse(json || '{}');
    if (value && typeof value === 'object' && !Array.isArray(value)) {
      for (const [ticker, contract] of Object.entries(value))
        if (typeof contract !== 'string' || !contractForm(ticker).test(contract))
          faults.push(`TOKEN_CONTRACTS: '${String(contract)}' of ${ticker} is no contract address`);
      return value as Record<string, string>;
    }
  } catch {
    // reported below, with every other fault
  }
  faults.push('TOKEN_CONTRACTS is not a JSON object of ticker to contract');
  return {};
}
