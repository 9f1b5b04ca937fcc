import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { evmNetworks, expiringNetworks, namedNetworks, utxoNetworks } from '../domain/chains/assets';
import { ConfigError, loginOf, parseConfig } from '../domain/config';
import { configSchema } from '../domain/settings';

const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://payments@db/payments',
  TEMPORAL_ADDRESS: 'temporal:7233',
  SECRETS_KEY: 'ab'.repeat(32),
  API_URL: 'https://api.example',
  CHECKOUT_URL: 'https://pay.example',
  DASHBOARD_URL: 'https://api.example/dashboard',
  SMTP_URL: 'smtps://mail.example',
};

describe('.env.example', () => {
  const lines = readFileSync(join(__dirname, '..', '.env.example'), 'utf8').split('\n');
  const entries = lines.flatMap((line, at) => {
    const match = /^#?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line);
    return match
      ? [{ name: match[1] ?? '', value: match[2] ?? '', about: (lines[at - 1] ?? '').replace(/^# /, '') }]
      : [];
  });

  it('names every variable once, in the order of the schema', () => {
    expect(entries.map(({ name }) => name)).toEqual(Object.keys(configSchema.properties));
  });

  it.each(Object.entries(configSchema.properties))('describes %s and shows its default', (name, schema) => {
    const { description, default: fallback } = schema as unknown as { description: string; default: unknown };
    expect(entries.find((entry) => entry.name === name)).toEqual({ name, value: String(fallback), about: description });
  });

  it('is itself a valid configuration that changes nothing', () => {
    expect(parseConfig(Object.fromEntries(entries.map(({ name, value }) => [name, value])))).toEqual(parseConfig({}));
  });
});

it('takes a complete production configuration', () => {
  expect(parseConfig(production)).toMatchObject({
    isProduction: true,
    chain: {
      chainNames: Object.fromEntries(namedNetworks().map(({ id }) => [id, 'mainnet'])),
      chainIds: Object.fromEntries(evmNetworks().map(({ id, chainId }) => [id, chainId])),
      sweepers: {},
    },
  });
});

it.each([
  ['ALLOW_INSECURE_CALLBACKS', 'true'],
  ['FAIL_POINTS', 'true'],
  ['CONFIRMATIONS', 'bitcoin=1'],
  ['RATE_SOURCE', 'file'],
  ['RATE_FILE', '/tmp/prices.json'],
  ['WEBHOOK_TIME_SCALE', '0.1'],
  ['APPROVAL_COOLING_OFF_HOURS', '23'],
  ['EVEN_ANSWER_MS', '499'],
  ['SIGNER_COOLING_OFF_HOURS', '23'],
  ['BTC_NETWORK', 'regtest'],
  ['BTC_NETWORK', 'simnet'],
  ['LTC_NETWORK', 'regtest'],
  ['XRPL_NETWORK', 'simulator'],
  ['TRON_NETWORK', 'simulator'],
])('refuses %s=%s in production, and only there', (name, value) => {
  expect(() => parseConfig({ ...production, [name]: value })).toThrow(
    new RegExp(`${name}.* refused with NODE_ENV=production`),
  );
  expect(() => parseConfig({ [name]: value })).not.toThrow();
});

it.each(['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SECRETS_KEY'])('refuses production without %s', (name) => {
  expect(() => parseConfig({ ...production, [name]: '' })).toThrow(ConfigError);
  expect(() => parseConfig({ ...production, [name]: '' })).toThrow(name);
});

it('takes two keys while SECRETS_KEY is changed', () => {
  const both = `${'ab'.repeat(32)}, ${'cd'.repeat(32)}`;
  expect(parseConfig({ ...production, SECRETS_KEY: both }).SECRETS_KEY).toBe(both);
});

it.each([
  ['API_PORT', 'http'],
  ['POLL_INTERVAL_MS', '1'],
  ['RATE_SOURCE', 'guess'],
  ['WEBHOOK_TIME_SCALE', '0'],
  ['TOKEN_CONTRACTS', '[]'],
  ['CONFIRMATIONS', 'bitcoin'],
  ['UNEXPLAINED_BOUNDS', 'ETH'],
  ['UNEXPLAINED_BOUNDS', 'ETH=-1'],
  ['UNEXPLAINED_BOUNDS', 'ETH=1=2'],
  ['UNEXPLAINED_BOUNDS', 'NONE=1'],
  ['SIGNER_DAILY_CAPS', 'ETH'],
  ['SIGNER_DAILY_CAPS', 'ETH=-1'],
  ['SIGNER_DAILY_CAPS', 'NONE=1'],
  ['LANES', 'ethereum'],
  ['LANES', 'ethereum=0'],
  ['LANES', 'ethereum=17'],
  ['LANES', 'bitcoin=2'],
  ['LANES', 'dogecoin=1'],
  ['LOG_LEVELS', 'webhooks=debug'],
  ['LOG_LEVELS', 'requests=loud'],
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['AML_PROVIDER', 'list,oracle'],
  ['OPERATOR_IPS', 'office'],
  ['OPERATOR_IPS', '10.1'],
  ['OPERATOR_IPS', '10.0.0.1,0.0.0.0/0'],
])('refuses %s=%s by its name', (name, value) => {
  expect(() => parseConfig({ [name]: value })).toThrow(new RegExp(`Configuration: .*${name}.*See \\.env\\.example`));
});

it.each(['API_URL', 'CHECKOUT_URL', 'DASHBOARD_URL'])('wants https of %s in production, and only there', (name) => {
  for (const value of ['http://pay.example', 'pay.example', ''])
    expect(() => parseConfig({ ...production, [name]: value })).toThrow(`${name} is no https:// address`);
  expect(() => parseConfig({ ...production, [name]: undefined })).toThrow(name);
  expect(() => parseConfig({ [name]: 'http://127.0.0.1:3000' })).not.toThrow();
});

it.each([
  ['https://api.shop.example', 'https://api.shop.example/dashboard', true],
  ['https://api.shop.example', 'https://dashboard.shop.example', true],
  ['https://shop.example', 'https://dashboard.shop.example/dashboard', true],
  ['https://api.shop.example', 'https://shop.example', true],
  ['https://api.shop.example', 'https://dashboard.elsewhere.example', false],
  ['https://shop.example', 'https://evilshop.example', false],
  ['https://api.example', 'https://dashboard.example', false],
  ['https://203.0.113.7', 'https://203.0.113.8', false],
])('of API_URL=%s, takes DASHBOARD_URL=%s: %s', (API_URL, DASHBOARD_URL, isTaken) => {
  const parse = () => parseConfig({ ...production, API_URL, DASHBOARD_URL });
  if (isTaken) expect(parse).not.toThrow();
  else expect(parse).toThrow('DASHBOARD_URL is not of the same site as API_URL');
});

it('takes any names of this machine for API and dashboard in a sandbox alone', () => {
  const urls = { API_URL: 'http://127.0.0.1:3000', DASHBOARD_URL: 'http://localhost:3000/dashboard' };
  expect(() => parseConfig(urls)).not.toThrow();
  expect(() => parseConfig({ ...production, ...urls })).toThrow('same site');
  expect(() => parseConfig({ ...urls, API_URL: 'http://192.168.1.5:3000' })).toThrow('same site');
});

it('names every fault at once', () => {
  expect(() => parseConfig({ ...production, FAIL_POINTS: 'true', SECRETS_KEY: 'short' })).toThrow(
    /FAIL_POINTS.*SECRETS_KEY/,
  );
});

it('reads a secret from the file that <NAME>_FILE names, unless it is given itself', () => {
  const read = (path: string): string => `from ${path}\n`;
  expect(parseConfig({ BTC_RPC_PASSWORD_FILE: '/run/p' }, read).BTC_RPC_PASSWORD).toBe('from /run/p');
  expect(parseConfig({ BTC_RPC_PASSWORD_FILE: '/run/p', BTC_RPC_PASSWORD: 'x' }, read).BTC_RPC_PASSWORD).toBe('x');
  expect(parseConfig({ SIGNER_SEED_FILE: '/run/seed' }, read).SIGNER_SEED_FILE).toBe('/run/seed');
});

it('asks a provider over TLS only, and with a key', () => {
  const chosen = { AML_PROVIDER: 'chainalysis, list', AML_API_KEY: 'key' };
  expect(parseConfig({ ...production, ...chosen }).amlProviders).toEqual(['list', 'chainalysis']);
  expect(() => parseConfig({ ...production, ...chosen, AML_API_KEY: '' })).toThrow('AML_API_KEY is missing');
  const plain = { ...chosen, AML_API_URL: 'http://127.0.0.1:9' };
  expect(() => parseConfig({ ...production, ...plain })).toThrow('AML_API_URL is no https:// address');
  expect(() => parseConfig(plain)).not.toThrow();
  expect(() => parseConfig({ ...chosen, AML_API_URL: 'chainalysis' })).toThrow('AML_API_URL');
});

it('asks a node of TRON for its final blocks where they are, and takes contracts as its network writes them', () => {
  const own = {
    TRON_RPC_URL: 'http://10.0.0.2:8090',
    TOKEN_CONTRACTS: '{"USDT_TRC20":"TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf"}',
  };
  expect(loginOf('tron', parseConfig(own))).toEqual({ url: own.TRON_RPC_URL });
  const final = 'http://10.0.0.2:8091';
  expect(loginOf('tron', parseConfig({ ...own, TRON_FINAL_RPC_URL: final }))).toEqual({ url: own.TRON_RPC_URL, final });
  expect(parseConfig(own).chain.tokenContracts).toEqual({ USDT_TRC20: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf' });
});

it('turns lists and pairs into values', () => {
  const { chainNetworks, confirmations, lanes, unexplainedBounds, newDestinations } = parseConfig({
    CHAIN_NETWORKS: ' bitcoin , ',
    CONFIRMATIONS: 'bitcoin=2,ethereum=12',
    LANES: 'ethereum=4, bitcoin=1',
    UNEXPLAINED_BOUNDS: 'ETH=0.5, BTC=0',
    SIGNER_DAILY_CAPS: 'ETH=5',
  });
  expect(chainNetworks).toEqual(['bitcoin']);
  expect(confirmations).toEqual({ bitcoin: 2, ethereum: 12 });
  const usual = {
    ...Object.fromEntries(utxoNetworks().map(({ id }) => [id, 1])),
    ...Object.fromEntries(evmNetworks().map(({ id }) => [id, 2])),
    ...Object.fromEntries(expiringNetworks().map(({ id, hasReserve }) => [id, hasReserve ? 1 : 2])),
  };
  expect(lanes).toEqual({ ...usual, ethereum: 4 });
  expect(parseConfig({}).lanes).toEqual(usual);
  expect(parseConfig({ LANES: 'bitcoin=1' }).lanes.ethereum).toBe(2);
  expect(unexplainedBounds).toEqual({ ETH: '0.5', BTC: '0' });
  expect(newDestinations).toEqual({ coolingOffHours: 24, dailyCaps: { ETH: '5' } });
});

describe('networks that are on', () => {
  it('are Bitcoin and Ethereum unless told, and one chain worker serves all of them', () => {
    expect(parseConfig({})).toMatchObject({
      networks: ['bitcoin', 'ethereum'],
      chainNetworks: ['bitcoin', 'ethereum'],
    });
    expect(parseConfig({ NETWORKS: 'litecoin, bitcoin,litecoin' })).toMatchObject({
      networks: ['litecoin', 'bitcoin'],
      chainNetworks: ['litecoin', 'bitcoin'],
    });
  });

  it.each([
    [{ NETWORKS: 'bitcoin,dogecoin' }, "NETWORKS: there is no network 'dogecoin' in the registry"],
    [{ NETWORKS: 'constructor' }, "NETWORKS: there is no network 'constructor' in the registry"],
    [{ NETWORKS: ' , ' }, 'NETWORKS names no network'],
    [{ CHAIN_NETWORKS: 'litecoin' }, "CHAIN_NETWORKS: 'litecoin' is not in NETWORKS"],
    [{ CHAIN_NETWORKS: 'dogecoin' }, "CHAIN_NETWORKS: there is no network 'dogecoin' in the registry"],
  ])('%j is refused: %s', (env, says) => {
    expect(() => parseConfig(env)).toThrow(ConfigError);
    expect(() => parseConfig(env)).toThrow(says);
  });
});

/** A setting, what is wrong with it, and what the refusal says. Each is refused in production alone. */
const refused: ReadonlyArray<readonly [name: keyof typeof configSchema.properties, value: string, says: string]> = [
  ['SECRETS_KEY', 'ab'.repeat(31), 'SECRETS_KEY must be 64 hex digits'],
  ['SECRETS_KEY', `${'ab'.repeat(32)},${'cd'.repeat(31)}`, 'SECRETS_KEY must be 64 hex digits, or several'],
  ['SECRETS_KEY', `${'ab'.repeat(32)},`, 'SECRETS_KEY must be 64 hex digits, or several'],
  ['SECRETS_KEY', `${'ab'.repeat(32)},${'0'.repeat(64)}`, 'SECRETS_KEY is one digit, repeated'],
  ['SECRETS_KEY', '0'.repeat(64), 'SECRETS_KEY is one digit, repeated'],
  ['SECRETS_KEY', 'f'.repeat(64), 'SECRETS_KEY is one digit, repeated'],
  ['CHECKOUT_IPS', '0.0.0.0/0', "CHECKOUT_IPS: '0.0.0.0/0' is wider than /16"],
  ['CHECKOUT_IPS', '10.0.0.0/15', "CHECKOUT_IPS: '10.0.0.0/15' is wider than /16"],
  ['CHECKOUT_IPS', '::/0', "CHECKOUT_IPS: '::/0' is wider than /16"],
  ['CHECKOUT_IPS', '::/96', "CHECKOUT_IPS: '::/96' is wider than /16"],
  ['CHECKOUT_IPS', '::ffff:0:0/96', "CHECKOUT_IPS: '::ffff:0:0/96' is wider than /16"],
  ['CHECKOUT_IPS', '10.0.0.1, checkout', "CHECKOUT_IPS: 'checkout' is no address or range"],
  ['CHECKOUT_IPS', '10.1', "CHECKOUT_IPS: '10.1' is no address or range"],
  ['ETH_CHAIN_ID', '31337', 'ETH_CHAIN_ID=31337 is a test chain'],
  ['ETH_CHAIN_ID', '11155111', 'ETH_CHAIN_ID=11155111 is a test chain'],
  ['POLYGON_CHAIN_ID', '1', 'POLYGON_CHAIN_ID=1 is a test chain'],
  ['POLYGON_RPC_URL', 'http://node.example:8545', 'POLYGON_RPC_URL is plain http to a public address'],
  ['BTC_NETWORK', 'testnet', 'BTC_NETWORK=testnet is a test chain'],
  ['LTC_NETWORK', 'testnet', 'LTC_NETWORK=testnet is a test chain'],
  ['XRPL_NETWORK', 'testnet', 'XRPL_NETWORK=testnet is a test chain'],
  ['TRON_NETWORK', 'nile', 'TRON_NETWORK=nile is a test chain'],
  ['TRON_FINAL_RPC_URL', 'http://203.0.113.7:8091', 'TRON_FINAL_RPC_URL is plain http to a public address'],
  ['RATE_QUORUM', '1', 'RATE_QUORUM must be 2 or more'],
  ['RATE_EXCHANGES', 'kraken', 'RATE_EXCHANGES names fewer exchanges than RATE_QUORUM'],
  ['RATE_EXCHANGES', 'kraken,kraken', 'RATE_EXCHANGES names fewer exchanges than RATE_QUORUM'],
  ['RATE_MAX_AGE_SECONDS', '901', 'RATE_MAX_AGE_SECONDS must be 900 or less'],
  ['SMTP_URL', 'smtp://mail.example:25', 'SMTP_URL sends mail without TLS'],
  ['SMTP_URL', 'smtp://mail.example:587?requireTLS=false', 'SMTP_URL sends mail without TLS'],
  ['SMTP_URL', 'mail.example', 'SMTP_URL is no smtp:// or smtps:// address'],
  ['BTC_RPC_URL', 'http://203.0.113.7:8332', 'BTC_RPC_URL is plain http to a public address'],
  ['LTC_RPC_URL', 'http://203.0.113.7:9332', 'LTC_RPC_URL is plain http to a public address'],
  ['ETH_RPC_URL', 'http://node.example:8545', 'ETH_RPC_URL is plain http to a public address'],
  ['ETH_RPC_URL', 'node.example', 'ETH_RPC_URL is no http:// or https:// address'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://203.0.113.7:4318', 'OTEL_EXPORTER_OTLP_ENDPOINT is plain http'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector', 'OTEL_EXPORTER_OTLP_ENDPOINT is no http:// or https:// address'],
  ['TEMPORAL_API_KEY', 'key', 'TEMPORAL_API_KEY would be sent without TLS'],
  ['TOKEN_CONTRACTS', '{"USDT_ERC20":"0x12"}', "TOKEN_CONTRACTS: '0x12' of USDT_ERC20 is no contract address"],
  [
    'TOKEN_CONTRACTS',
    `{"USDT_TRC20":"0x${'ab'.repeat(20)}"}`,
    `TOKEN_CONTRACTS: '0x${'ab'.repeat(20)}' of USDT_TRC20 is no contract address`,
  ],
  ['TOKEN_CONTRACTS', '{"USDT_ERC20":7}', "TOKEN_CONTRACTS: '7' of USDT_ERC20 is no contract address"],
];
const everywhere = ['TOKEN_CONTRACTS'];

describe('D: what production refuses at its start', () => {
  it.each(refused)('%s=%s: %s', (name, value, says) => {
    expect(() => parseConfig({ ...production, [name]: value })).toThrow(says);
    expect(() => parseConfig({ ...production, [name]: value })).toThrow(ConfigError);
    if (everywhere.includes(name)) expect(() => parseConfig({ [name]: value })).toThrow(says);
    else expect(() => parseConfig({ [name]: value })).not.toThrow();
  });

  it.each([
    ['TOKEN_CONTRACTS', ''],
    ['CHECKOUT_IPS', '172.30.77.0/24, 10.1.0.0/16, 10.0.0.7, 2001:db8::/32, ::1'],
    ['RATE_MAX_AGE_SECONDS', '900'],
    ['SMTP_URL', 'smtps://user:word@mail.example:465'],
    ['SMTP_URL', 'smtp://mail.example:587?requireTLS=true'],
    ['SMTP_URL', 'smtp://127.0.0.1:25'],
    ['BTC_RPC_URL', 'http://10.0.0.7:8332'],
    ['BTC_RPC_URL', 'http://bitcoind:8332'],
    ['ETH_RPC_URL', 'http://127.0.0.1:8545'],
    ['ETH_RPC_URL', 'http://[fd00::1]:8545'],
    ['ETH_RPC_URL', 'https://node.example'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318'],
  ])('takes %s=%s', (name, value) => {
    expect(() => parseConfig({ ...production, [name]: value })).not.toThrow();
  });

  it('takes a Temporal key over TLS', () => {
    expect(() => parseConfig({ ...production, TEMPORAL_API_KEY: 'key', TEMPORAL_TLS: 'true' })).not.toThrow();
  });

  it('asks each process only for what it needs', () => {
    const { API_URL, CHECKOUT_URL, DASHBOARD_URL, SECRETS_KEY, ...worker } = production;
    const checkout = { NODE_ENV: 'production', API_URL, CHECKOUT_URL, DASHBOARD_URL };
    expect(() => parseConfig(checkout, undefined, 'checkout')).not.toThrow();
    expect(() => parseConfig(checkout, undefined, 'api')).toThrow(/SECRETS_KEY.*DATABASE_URL.*TEMPORAL_ADDRESS/);
    for (const name of ['chain', 'signer'] as const) expect(() => parseConfig(worker, undefined, name)).not.toThrow();
    expect(() => parseConfig(worker, undefined, 'payments')).toThrow('SECRETS_KEY');
    expect([SECRETS_KEY, API_URL, CHECKOUT_URL, DASHBOARD_URL]).not.toContain(undefined);
  });
});

describe('4: chains of a mode', () => {
  const onTest = { MODE: 'test', BTC_NETWORK: 'testnet4', ETH_CHAIN_ID: '11155111' };

  it('a test instance runs in production on public test chains, and looks at networks that are on alone', () => {
    expect(parseConfig({ ...production, ...onTest })).toMatchObject({ MODE: 'test', isProduction: true });
    expect(() =>
      parseConfig({ ...production, ...onTest, BTC_NETWORK: 'signet', ETH_CHAIN_ID: '560048' }),
    ).not.toThrow();
    const litecoin = { ...onTest, NETWORKS: 'bitcoin,ethereum,litecoin' };
    expect(() => parseConfig({ ...production, ...litecoin })).toThrow('LTC_NETWORK=mainnet is no test chain');
    expect(() => parseConfig({ ...production, ...litecoin, LTC_NETWORK: 'testnet' })).not.toThrow();
    const xrpl = { ...onTest, NETWORKS: 'bitcoin,ethereum,xrpl' };
    const api = (env: Record<string, string>) => () => parseConfig({ ...production, ...env }, undefined, 'api');
    expect(api(xrpl)).toThrow('XRPL_NETWORK=mainnet is no test chain');
    expect(api({ ...xrpl, XRPL_NETWORK: 'testnet' })).not.toThrow();
  });

  it.each([
    ['BTC_NETWORK', 'mainnet'],
    ['ETH_CHAIN_ID', '1'],
    ['ETH_CHAIN_ID', '137'],
  ])('a test instance refuses %s=%s wherever it runs', (name, value) => {
    for (const env of [{ ...production, ...onTest }, onTest])
      expect(() => parseConfig({ ...env, [name]: value })).toThrow(`${name}=${value} is no test chain`);
  });

  it('a test instance takes chains of one machine in a sandbox alone', () => {
    expect(() => parseConfig({ MODE: 'test', BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' })).not.toThrow();
    expect(() => parseConfig({ ...production, ...onTest, ETH_CHAIN_ID: '31337' })).toThrow('ETH_CHAIN_ID=31337');
    expect(() => parseConfig({ ...production, ...onTest, BTC_NETWORK: 'regtest' })).toThrow('BTC_NETWORK');
  });

  it.each(['testnet4', 'signet'])('a live instance refuses BTC_NETWORK=%s in production', (chain) =>
    expect(() => parseConfig({ ...production, BTC_NETWORK: chain })).toThrow('is a test chain'),
  );

  it('refuses a mode that is none', () => expect(() => parseConfig({ MODE: 'staging' })).toThrow('MODE'));

  it('a sandbox may be live on its own chains', () =>
    expect(parseConfig({ BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' }).MODE).toBe('live'));

  describe('the simulator', () => {
    const local = { MODE: 'test', BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' };
    const simulator = { SIMULATOR_URL: 'http://127.0.0.1:8050', SIMULATOR_KEY: 'ab'.repeat(32) };
    it('is asked in a sandbox', () => expect(() => parseConfig({ ...local, ...simulator })).not.toThrow());
    it('is refused in live mode, elsewhere than on this machine, and without a key', () => {
      expect(() => parseConfig(simulator)).toThrow('SIMULATOR_URL is for a test instance alone');
      for (const url of ['http://203.0.113.7:8050', 'https://pay.example', 'http://127.0.0.1:8050@pay.example'])
        expect(() => parseConfig({ ...local, ...simulator, SIMULATOR_URL: url })).toThrow('SIMULATOR_URL is no');
      expect(() => parseConfig({ ...local, ...simulator, SIMULATOR_KEY: '' })).toThrow('SIMULATOR_KEY');
      expect(() => parseConfig({ ...production, ...onTest, ...simulator })).toThrow(
        'SIMULATOR_URL weakens the service',
      );
    });
  });
});
