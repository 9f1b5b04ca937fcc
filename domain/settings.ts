import { Type, type TInteger, type TString } from 'typebox';
import {
  assets,
  evmNetworks,
  expiringNetworks,
  utxoNetworks,
  type EvmNetwork,
  type EvmPrefix,
  type ExpiringNetwork,
  type ExpiringPrefix,
  type UtxoNetwork,
  type UtxoPrefix,
} from './chains/assets';
import { usualUnderWay } from './lightning/outgoing-payment';
import { logLevelsPattern, logSubjects } from './log';

/** Every variable a process reads, typed and described; `.env.example` is checked against it. Each secret may come as
 *  `<NAME>_FILE`, the path of a file that holds it. */
const text = (description: string, fallback?: string) =>
  Type.String(fallback === undefined ? { description } : { description, default: fallback });
const whole = (description: string, fallback: number, minimum = 0) =>
  Type.Integer({ description, default: fallback, minimum });
const flag = (description: string) => Type.Boolean({ description, default: false });

/** Which chain of a network it is, by its name. */
const chainOf = (name: string, prefix: string, chains: object) => ({
  [`${prefix}_NETWORK`]: Type.Union(
    Object.keys(chains).map((chain) => Type.Literal(chain)),
    { description: `Which ${name} chain`, default: 'mainnet' },
  ),
});

/** How the node of a UTXO network is reached, and which of its chains it serves. */
const utxoNode = ({ name, settings: { prefix, node, url }, chains }: UtxoNetwork) => ({
  [`${prefix}_RPC_URL`]: text(`JSON-RPC of ${node}`, url),
  [`${prefix}_RPC_USER`]: text(`User of the ${name} RPC`, ''),
  [`${prefix}_RPC_PASSWORD`]: text(`Password of the ${name} RPC`, ''),
  [`${prefix}_SECOND_RPC_URL`]: text(
    `Another ${name} node, of another operator, compared with the first; credentials in the address; empty: none`,
    '',
  ),
  ...chainOf(name, prefix, chains),
});
type UtxoVariable = `${UtxoPrefix}_${'RPC_URL' | 'RPC_USER' | 'RPC_PASSWORD' | 'SECOND_RPC_URL' | 'NETWORK'}`;
const utxoNodes = Object.assign({}, ...utxoNetworks().map(utxoNode)) as Readonly<Record<UtxoVariable, TString>>;

/** How the node of an EVM network is reached, and which chain it must serve. */
const evmNode = ({ name, settings: { prefix, node, url }, chainId }: EvmNetwork) => ({
  [`${prefix}_RPC_URL`]: text(`JSON-RPC of ${node}`, url),
  [`${prefix}_SECOND_RPC_URL`]: text(
    `Another ${name} node, of another operator, compared with the first; empty: none`,
    '',
  ),
  [`${prefix}_CHAIN_ID`]: whole(`Chain id that the ${name} node must report`, chainId),
  [`${prefix}_SWEEPER_CONTRACT`]: text(
    `Our contract on ${name} that sweeps tokens of many addresses at once; empty: one by one`,
    '',
  ),
});
type EvmVariable = `${EvmPrefix}_${'RPC_URL' | 'SECOND_RPC_URL' | 'SWEEPER_CONTRACT'}`;
const evmNodes = Object.assign({}, ...evmNetworks().map(evmNode)) as Readonly<
  Record<EvmVariable, TString> & Record<`${EvmPrefix}_CHAIN_ID`, TInteger>
>;

/** How the node of a network whose transactions expire is reached, and which of its chains it serves. The signer's own:
 *  SIGNER_NODES. */
const expiringNode = ({ name, settings: { prefix, node, url }, chains, expiring }: ExpiringNetwork) => ({
  [`${prefix}_RPC_URL`]: text(`HTTP API of ${node}; credentials in the address`, url),
  ...(expiring === 'tron'
    ? { TRON_FINAL_RPC_URL: text('Where that node shows its final blocks (walletsolidity); empty: there too', '') }
    : {}),
  [`${prefix}_SECOND_RPC_URL`]: text(
    `Another ${name} node, of another operator, compared with the first; credentials in the address; empty: none`,
    '',
  ),
  ...chainOf(name, prefix, chains),
});
const expiringNodes = Object.assign({}, ...expiringNetworks().map(expiringNode)) as Readonly<
  Record<`${ExpiringPrefix}_${'RPC_URL' | 'SECOND_RPC_URL' | 'NETWORK'}` | 'TRON_FINAL_RPC_URL', TString>
>;

export const configSchema = Type.Object({
  NODE_ENV: Type.Union([Type.Literal('production'), Type.Literal('sandbox'), Type.Literal('test')], {
    description: 'production refuses every setting that weakens something',
    default: 'sandbox',
  }),
  MODE: Type.Union([Type.Literal('live'), Type.Literal('test')], {
    description: 'Of the whole instance. test: keys of another prefix, test chains alone, a banner on every page',
    default: 'live',
  }),
  DATABASE_URL: text('PostgreSQL 15 or newer; empty: the sandbox starts its own', ''),
  DATABASE_POOL: whole('Connections per process', 10, 1),
  DATABASE_WAIT_MS: whole('How long a request waits for a connection before it is told 503', 1500, 1),
  TEMPORAL_ADDRESS: text('host:port of the Temporal frontend; empty: the sandbox starts its own', ''),
  TEMPORAL_NAMESPACE: text('Temporal namespace', 'default'),
  TEMPORAL_API_KEY: text('API key, for Temporal Cloud', ''),
  TEMPORAL_TLS: flag('Connect to Temporal over TLS'),
  TEMPORAL_UI_URL: text('Base of the Temporal UI, for links in the operator timeline', ''),
  SECRETS_KEY: text(
    '32 bytes in hex: encrypts secrets at rest and keys the hashes of tokens; while it is changed several, by ' +
      'commas, of which the first writes and all read',
    '',
  ),

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
    'Addresses or CIDR ranges of checkout hosts, comma-separated: limits are kept for the payer whom they forward',
    '',
  ),
  OPERATOR_IPS: text(
    'Addresses or CIDR ranges that operators call from, comma-separated: others are refused; empty: from anywhere',
    '',
  ),
  CHECKOUT_PROXY_COUNT: whole('Reverse proxies in front of the checkout whose X-Forwarded-For entries are believed', 0),
  RATE_LIMIT_STANDARD: whole('Requests per minute and caller on routes without a limit of their own', 600, 1),

  ...utxoNodes,
  ...evmNodes,
  LIGHTNING_URL: text('REST API of our Lightning node (lnd 0.20), https; empty: no Lightning', ''),
  LIGHTNING_TLS_FILE: text('File with the certificate of the Lightning node: tls.cert of lnd', ''),
  LIGHTNING_READ_MACAROON_FILE: text(
    'File with a macaroon that may info:read, invoices:read, offchain:read and onchain:read, and nothing else',
    '',
  ),
  LIGHTNING_INVOICE_MACAROON_FILE: text(
    'Chain worker of Bitcoin only: file with a macaroon that may invoices:read and invoices:write, and nothing else',
    '',
  ),
  LIGHTNING_PREIMAGE_KEY: text(
    'Chain worker of Bitcoin only: 32 bytes in hex, of which preimages are made; while it is changed several, by ' +
      'commas, of which the first makes new ones',
    '',
  ),
  LIGHTNING_PAY_MACAROON_FILE: text(
    'Signer only: file with a macaroon that may info:read, offchain:read and offchain:write, and nothing else',
    '',
  ),
  LIGHTNING_PAYMENTS: flag(
    'Offers payments in BTC_LN; the same for all processes, with LIGHTNING_URL. What comes so is credited, stays in ' +
      'the channels of the node, and leaves them by LIGHTNING_WITHDRAWALS alone',
  ),
  LIGHTNING_WITHDRAWALS: flag(
    'Offers withdrawals of BTC_LN to Lightning addresses and to invoices of whitelisted nodes, mass payouts to ' +
      'Lightning addresses, and refunds to invoices of payers; the same for all processes, with LIGHTNING_URL',
  ),
  ...expiringNodes,
  TOKEN_CONTRACTS: text('JSON object ticker → contract, for chains other than the main network; empty: none', ''),
  NETWORKS: text(
    'Networks that this deployment offers, comma-separated; the same for all processes',
    'bitcoin,ethereum',
  ),
  CHAIN_NETWORKS: text('Networks that this chain worker serves, comma-separated; empty: all of NETWORKS', ''),
  POLL_INTERVAL_MS: whole('Pause between two looks at a node', 1000, 50),
  UNEXPLAINED_BOUNDS: text(
    'Up to how much on our own wallets that nobody claims is booked by itself: currency=amount pairs, comma-separated',
    assets
      .flatMap((one) => (one.unexplainedBound === '0' ? [] : [`${one.currency}=${one.unexplainedBound}`]))
      .join(','),
  ),
  CONFIRMATIONS: text('Sandbox only: network=depth pairs, comma-separated, in place of the registry', ''),

  SIGNER_SEED_FILE: text('Signer only: file with the BIP-39 mnemonic, mode 0600', ''),
  SIGNER_EARLIER_SEED_FILES: text(
    'Signer only: files with the mnemonics before that of SIGNER_SEED_FILE, comma-separated, the oldest first',
    '',
  ),
  SIGNER_COOLING_OFF_HOURS: whole(
    'Signer only: a destination is new for this long after the signer first saw it; production: 24 at least',
    24,
  ),
  SIGNER_DAILY_CAPS: text(
    'Signer only: what may go to new destinations in 24 hours, currency=amount pairs; else as in domain/chains/assets',
    '',
  ),
  SIGNER_LIGHTNING_UNDER_WAY: whole(
    'Signer only: payments of one merchant that the Lightning node has under way at once, at the most',
    usualUnderWay,
    1,
  ),
  SIGNER_EPOCH_FILE: text(
    'Signer only: file in which it counts recoveries of the database; on another disk, and never restored with it',
    '',
  ),
  SIGNER_NODES: text(
    'Signer only: JSON object network → address of a node of its own, for networks whose transactions expire; ' +
      'of TRON two in a list where that of final blocks is another; credentials in the address; empty: none',
    '',
  ),
  RECOVERY_WATCH_ADDRESSES: whole(
    'Signer only: after a recovery, how many more addresses of the old branch are watched, per network and role',
    50_000,
    1,
  ),
  LANES: text(
    'Signer only: hot wallets of an account chain, each with a gas wallet, network=count pairs; 2 where not named',
    'ethereum=2',
  ),

  RATE_SOURCE: Type.Union([Type.Literal('exchanges'), Type.Literal('file')], {
    description: 'Where prices come from',
    default: 'exchanges',
  }),
  RATE_FILE: text('Sandbox only: price file of RATE_SOURCE=file', ''),
  RATE_EXCHANGES: text('Exchanges asked, comma-separated ccxt ids', 'kraken,coinbase,bitstamp,gemini'),
  RATE_QUORUM: whole('Sources that must agree', 2, 1),
  PAYER_DATA_DAYS: whole(
    'What payers said of themselves is deleted so many days after the end of their payment; 0: never',
    365,
  ),
  RATE_MAX_AGE_SECONDS: whole('A rate older than this prices nothing', 120, 1),
  RATE_REFRESH_SECONDS: whole('Pause between two looks at the sources', 15, 1),

  QUOTE_TTL_SECONDS: whole('How long a crypto quote is guaranteed', 900, 1),
  DEFAULT_EXPIRES_IN: whole('Seconds until a payment expires where the merchant names none', 3600, 60),
  OPEN_PAYMENTS_QUOTA: whole('Open payments per merchant', 1000, 1),
  OPEN_CHECKOUTS_QUOTA: whole('Unpaid checkouts per widget; they do not count as open payments', 500, 1),

  SWEEP_BATCH_SECONDS: whole('How long a confirmed payment waits for others that one sweep can move with it', 0),
  SWEEP_MAX_COST_PCT: whole(
    'A sweep that costs more than this share of what it moves waits for other payments or a cheaper hour',
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

  EVEN_ANSWER_MS: whole(
    'Answers that must not tell whether an e-mail address is known come at multiples of so many ms; 500 in production',
    500,
    1,
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
  SIMULATOR_URL: text('Sandbox of a test instance only: where its payers are asked to pay', ''),
  SIMULATOR_KEY: text('Sandbox of a test instance only: what its payers ask the API for', ''),
  FAIL_POINTS: flag('Test only: arms the fail points through the fail_point table'),
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => Type.Literal(level)),
    { description: 'Least severe level that is logged', default: 'info' },
  ),
  LOG_LEVELS: Type.String({
    description: `Other levels, as subject=level, of ${logSubjects.join(', ')}; of others that of LOG_LEVEL`,
    default: '',
    pattern: logLevelsPattern,
  }),

  OTEL_SDK_DISABLED: flag('No traces, whatever the settings below say'),
  OTEL_TRACES_EXPORTER: Type.Union([Type.Literal(''), Type.Literal('otlp'), Type.Literal('none')], {
    description: 'Where traces go: otlp; none: nowhere; empty: otlp where OTEL_EXPORTER_OTLP_ENDPOINT is set',
    default: '',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: text('Base address of an OpenTelemetry collector; empty: no traces', ''),
  OTEL_EXPORTER_OTLP_PROTOCOL: Type.Union([Type.Literal('http/protobuf'), Type.Literal('http/json')], {
    description: 'How the collector is spoken to; http/json where the other is not understood',
    default: 'http/protobuf',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: text('What the collector knows us by, as name=value pairs, comma-separated', ''),
  OTEL_TRACES_SAMPLER: Type.Union(
    ['always_on', 'always_off', 'traceidratio', 'parentbased_always_on']
      .concat('parentbased_always_off', 'parentbased_traceidratio')
      .map((sampler) => Type.Literal(sampler)),
    { description: 'Which requests begin a trace; decided here alone', default: 'parentbased_always_on' },
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.String({
    description: 'Share of the requests that begin a trace, 0 to 1, for the samplers named traceidratio',
    default: '1',
    pattern: '^(0|1|0?\\.[0-9]+|1\\.0+)$',
  }),
  OTEL_RESOURCE_ATTRIBUTES: text('More that every span says of its process, as name=value pairs, comma-separated', ''),
});
