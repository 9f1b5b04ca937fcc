import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob, normalize } from 'node:path';
import { parse } from 'yaml';
import { networks, type NetworkId } from '../domain/chains/assets';
import { passwordVariable, roles as databaseRoles } from '../db/roles/roles';
import { asked, parseConfig, type ProcessName } from '../domain/config';
import { configSchema } from '../domain/settings';
import { historyShards } from '../sandbox/parts/temporal-on-postgres/settings';
import { composeFile } from './compose-file';

type Service = {
  image: string;
  build?: string;
  command?: string[];
  /** Started only where one of them is asked for. */
  profiles?: string[];
  environment?: Record<string, string | number>;
  secrets?: string[];
  env_file?: string | string[];
  volumes?: string[];
  user?: string;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  networks?: string[] | Record<string, { aliases?: string[]; ipv4_address?: string }>;
  ports?: string[];
  healthcheck?: { test: string[] };
  extra_hosts?: string[];
  depends_on?: Record<string, { condition: string }>;
};
type Compose = {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { internal?: boolean; ipam?: { config: Array<{ subnet: string }> } } | null>;
};

const root = join(__dirname, '..');
const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
const compose = composeFile() as Compose;
const services = Object.entries(compose.services);
/** What a test instance has otherwise. */
const override = parse(readFileSync(join(root, 'docker-compose.test.yml'), 'utf8'), {
  customTags: ['seq', 'map'].map((kind) => ({
    tag: '!override',
    collection: kind as 'seq' | 'map',
    resolve: (value: unknown) => value,
  })),
}) as Omit<Compose, 'services'> & { name: string; services: Record<string, Partial<Service>> };
const ours = services.filter(([, service]) => service.build);
const known = Object.keys(configSchema.properties);

const networksOf = ({ networks: own = [] }: Service): string[] => (Array.isArray(own) ? own : Object.keys(own));

/** The nodes that the signer asks, where there are any. */
const signerHosts = ['SIGNER_NODE_HOST', 'SIGNER_SECOND_NODE_HOST', 'SIGNER_NODE_PORT'];

/** What the images of others read. */
const theirs: Record<string, readonly string[]> = {
  postgres: ['POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD', 'DATABASE_PASSWORD_TEMPORAL'],
  'temporalio/auto-setup': [
    ...['DB', 'DB_PORT', 'POSTGRES_SEEDS', 'POSTGRES_USER', 'POSTGRES_PWD', 'DBNAME', 'VISIBILITY_DBNAME'],
    ...['DEFAULT_NAMESPACE', 'DEFAULT_NAMESPACE_RETENTION', 'SKIP_ADD_CUSTOM_SEARCH_ATTRIBUTES', 'TEMPORAL_ADDRESS'],
    ...['SKIP_DB_CREATE', 'NUM_HISTORY_SHARDS'],
  ],
  'temporalio/ui': ['TEMPORAL_ADDRESS', 'TEMPORAL_DISABLE_WRITE_ACTIONS'],
  'nginxinc/nginx-unprivileged': ['NGINX_ENVSUBST_OUTPUT_DIR', ...signerHosts],
  'prom/prometheus': [],
  'prom/alertmanager': [],
  'grafana/grafana': [
    ...['GF_SECURITY_ADMIN_PASSWORD__FILE', 'GF_ANALYTICS_REPORTING_ENABLED', 'GF_ANALYTICS_CHECK_FOR_UPDATES'],
    ...['GF_PLUGINS_PREINSTALL_DISABLED', 'GF_USERS_ALLOW_SIGN_UP'],
  ],
};

const anUrl = 'https://pay.example';
const examples: Readonly<Record<string, string>> = {
  SMTP_URL: 'smtps://mail.example',
  ETH_SWEEPER_CONTRACT: `0x${'ab'.repeat(20)}`,
};

/** A value as compose would fill it in, `filled` for what the operator must give. */
const filled = (value: string | number): string =>
  String(value).replace(
    /\$\{([A-Z_]+)(?::-([^{}]*)|:?\?[^{}]*)\}/g,
    (_, name: string, fallback?: string) => fallback ?? examples[name] ?? (name.endsWith('_URL') ? anUrl : 'given'),
  );

/** A file of secrets, as a deployment without nodes of the signer's own has them. */
const secretIn = (path: string): string =>
  path.endsWith('secrets-key') ? 'ab'.repeat(32) : path.endsWith('signer-nodes') ? '' : 'secret';

const passwords = ['migrate' as const, ...databaseRoles].map(passwordVariable);

it.each(ours)('%s is set by variables that the configuration knows', (_, service) => {
  const variables = Object.keys(service.environment ?? {});
  for (const name of variables.filter((one) => !passwords.includes(one)))
    expect(known).toContain(known.includes(name) ? name : name.replace(/_FILE$/, ''));
});

it.each(services.filter(([, { build }]) => !build))('%s is pinned and set by variables of its image', (_, service) => {
  const [image = '', tag = ''] = service.image.split('@')[0]!.split(':');
  expect(tag).toMatch(/^v?\d+\.\d+(\.\d+)?(-\w+)*$/);
  expect(Object.keys(theirs)).toContain(image);
  for (const name of Object.keys(service.environment ?? {})) expect(theirs[image]).toContain(name);
});

const ofChains = ours.filter(([name]) => !['migrate', 'checkout'].includes(name));
it.each(ofChains)('%s knows the chains, and the contracts of tokens on them', (_, { environment = {} }) => {
  const chains = [
    'MODE',
    'NETWORKS',
    'BTC_NETWORK',
    'LTC_NETWORK',
    'XRPL_NETWORK',
    'TRON_NETWORK',
    'ETH_CHAIN_ID',
    'TOKEN_CONTRACTS',
  ];
  for (const name of chains) expect(environment[name]).toMatch(new RegExp(`^\\$\\{${name}:-`));
});

it('asks the operator for variables of the configuration, and a password for each role of the database', () => {
  const asked = [...text.matchAll(/\$\{([A-Z_]+)/g)].map((match) => match[1]);
  const ofDatabase = ['POSTGRES_PASSWORD', 'DATABASE_PASSWORD_TEMPORAL', ...passwords];
  const isKnown = (name = ''): boolean =>
    known.includes(name) || known.includes(name.replace(/_FILE$/, '')) || signerHosts.includes(name);
  expect(asked.filter((name) => !isKnown(name) && !ofDatabase.includes(name ?? ''))).toEqual([]);
});

it.each(ours)('%s runs a file that the build makes', (_, service) => {
  const file = service.command?.[0] ?? '';
  expect(file).toMatch(/^dist\/.+\.js$/);
  const source = file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  expect(existsSync(join(root, source))).toBe(true);
  const build = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')) as { include: string[] };
  expect(build.include).toContain(source.split('/')[0]);
});

/** Which process of the configuration a service is, by the file that it runs. */
const processOf = ({ command }: Service): ProcessName =>
  /(api|checkout|payments|chain|signer)/.exec(command?.[0]?.replace('dist/', '') ?? '')![1] as ProcessName;

it.each(ours.filter(([name]) => name !== 'migrate'))(
  '%s would start in production, given its secrets',
  (_, service) => {
    const env = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value)]),
    );
    if (service.profiles) env.NETWORKS = ['bitcoin', 'ethereum', ...service.profiles].join(',');
    const config = parseConfig(
      env,
      (path) => {
        expect(service.secrets).toContain(path.replace('/run/secrets/', ''));
        return secretIn(path);
      },
      processOf(service),
    );
    expect(config.isProduction).toBe(true);
  },
);

describe('D: what each process is given', () => {
  it.each(ours.filter(([name]) => name !== 'migrate'))('%s has no secret that it is not asked for', (_, service) => {
    const needed: readonly string[] = asked[processOf(service)];
    const given = Object.keys(service.environment ?? {}).map((name) => name.replace(/_FILE$/, ''));
    for (const secret of ['DATABASE_URL', 'SECRETS_KEY'])
      expect([secret, given.includes(secret)]).toEqual([secret, needed.includes(secret)]);
    expect((service.secrets ?? []).includes('secrets-key')).toBe(needed.includes('SECRETS_KEY'));
  });

  it('the checkout starts with neither the key of secrets nor a database', () => {
    const { checkout } = compose.services as Record<string, Service>;
    expect(JSON.stringify(checkout)).not.toMatch(/SECRETS_KEY|DATABASE|secrets-key/);
    expect(checkout && networksOf(checkout)).not.toContain('inside');
  });
});

describe('A10: roles in compose', () => {
  const roleOf: Record<string, string> = {
    api: 'api',
    'worker-payments': 'payments',
    ...Object.fromEntries(Object.keys(networks).map((network) => [`worker-chain-${network}`, 'chain'])),
    'worker-signer': 'signer',
  };

  it('connects each process with its own role and password, and the checkout not at all', () => {
    for (const [name, { environment = {} }] of ours.filter(([name]) => name !== 'migrate')) {
      const role = roleOf[name];
      const password = role && '${DATABASE_PASSWORD_' + role.toUpperCase() + ':?}';
      expect(environment.DATABASE_URL).toBe(role && `postgres://cp_${role}:${password}@postgres:5432/payments`);
    }
    expect(ours.map(([name]) => name).sort()).toEqual(['checkout', 'migrate', ...Object.keys(roleOf)].sort());
  });

  it('begins Temporal with as many history shards as the sandbox has, for they cannot be changed later', () => {
    expect(compose.services['temporal']?.environment?.['NUM_HISTORY_SHARDS']).toBe(historyShards);
  });

  it('lets Temporal and all of ours connect at once: by default PostgreSQL takes 100', () => {
    const ofTemporal = 4 * (20 + 10);
    const { default: pool } = configSchema.properties.DATABASE_POOL as { default?: number };
    const taken = Number(/^max_connections=(\d+)$/.exec(compose.services['postgres']?.command?.at(-1) ?? '')?.[1]);
    expect(taken).toBeGreaterThan(ofTemporal + pool! * ours.length);
  });

  it('gives Temporal a role without a right in the database of payments', () => {
    expect(compose.services['temporal']?.environment).toMatchObject({
      POSTGRES_USER: 'cp_temporal',
      POSTGRES_PWD: '${DATABASE_PASSWORD_TEMPORAL:?}',
      SKIP_DB_CREATE: 'true',
    });
    const script = readFileSync(join(root, 'db/roles/temporal.sh'), 'utf8');
    expect(script).toContain('CREATE ROLE cp_temporal LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE');
    expect(script).not.toMatch(/ON DATABASE payments/);
  });

  it('lets the migration step alone have the password of the administrator', () => {
    const holders = services.filter(([, one]) => JSON.stringify(one.environment ?? {}).includes('${POSTGRES_PASSWORD'));
    expect(holders.map(([name]) => name).sort()).toEqual(['migrate', 'postgres']);
  });
});

it('serves every network with a chain worker', () => {
  const served = ours.flatMap(([, { command, environment }]) =>
    command?.[0] === 'dist/workers/chain.js' ? String(environment?.CHAIN_NETWORKS).split(',') : [],
  );
  expect(served.sort()).toEqual(Object.keys(networks).sort());
});

it('starts by default what serves the networks that are on by default, and asks nothing for the others', () => {
  const { networks: on } = parseConfig({});
  for (const [name, { command, environment = {}, profiles }] of ours) {
    if (command?.[0] !== 'dist/workers/chain.js') continue;
    const network = String(environment.CHAIN_NETWORKS) as NetworkId;
    expect([name, profiles]).toEqual([name, on.includes(network) ? undefined : [network]]);
    const of = networks[network];
    if (!profiles || of.kind !== 'utxo') continue;
    const must = new RegExp(`\\$\\{${of.settings.prefix}_\\w+:?\\?`);
    expect([name, must.exec(JSON.stringify(environment))]).toEqual([name, null]);
  }
  expect(compose.services['worker-payments']?.environment?.NETWORKS).toBe(`\${NETWORKS:-${on.join()}}`);
});

it('waits for the schema and for health, and checks everything that stays', () => {
  for (const [name, service] of services) {
    if (name !== 'migrate' && name !== 'temporal-ui') expect(service.healthcheck?.test[0]).toBe('CMD');
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(Object.keys(compose.services)).toContain(needed);
      expect(condition).toBe(needed === 'migrate' ? 'service_completed_successfully' : 'service_healthy');
    }
    if (service.build && name !== 'migrate' && name !== 'checkout')
      expect(service.depends_on).toHaveProperty('migrate');
    for (const network of networksOf(service)) expect(Object.keys(compose.networks)).toContain(network);
    for (const secret of service.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(secret);
  }
});

it('gives the seed to the signer alone, and the signer no way out but to its own nodes', () => {
  for (const [name, service] of ours) {
    const holdsSeed =
      (service.secrets ?? []).includes('signer-seed') || 'SIGNER_SEED_FILE' in (service.environment ?? {});
    expect(holdsSeed).toBe(name === 'worker-signer');
  }
  expect(compose.services['worker-signer']).toMatchObject({ networks: ['inside', 'signer-nodes'] });
  expect(compose.services['worker-signer']?.ports).toBeUndefined();
  expect(compose.networks.inside).toEqual({ internal: true });
  expect(compose.networks['signer-nodes']?.internal).toBe(true);
});

describe("the signer's way to its own nodes", () => {
  const { 'worker-signer': signer, 'signer-way-out': way } = compose.services as Record<string, Service>;
  const read = (file: string): string =>
    readFileSync(join(root, 'deploy/signer-nodes', file), 'utf8').replaceAll(/^\s*#.*$/gm, '');
  const on = (network: string): string[] =>
    services.filter(([, service]) => networksOf(service).includes(network)).map(([name]) => name);

  it('is there where it is asked for alone, and nobody else is on it', () => {
    expect(way!.profiles).toEqual(['signer-nodes']);
    expect(way!.ports).toBeUndefined();
    expect([on('signer-nodes'), on('signer-nodes-out')]).toEqual([
      ['signer-way-out', 'worker-signer'],
      ['signer-way-out'],
    ]);
    expect(networksOf(way!)).toEqual(['signer-nodes', 'signer-nodes-out']);
    expect(compose.networks['signer-nodes-out']).toEqual({});
    for (const volume of way!.volumes!) expect(existsSync(join(root, volume.split(':')[0]!))).toBe(true);
  });

  it.each([
    ['live', compose],
    ['test', override],
  ])(
    'has one address in its range, by which the signer knows the names of its nodes: %s',
    (_, { services, networks }) => {
      const { networks: own } = services['signer-way-out']!;
      const address = (own as Record<string, { ipv4_address?: string }>)['signer-nodes']!.ipv4_address!;
      const range = networks['signer-nodes']!.ipam!.config[0]!.subnet;
      expect(`${address.replace(/\.\d+$/, '')}.0/24`).toBe(range);
      expect(services['worker-signer']!.extra_hosts).toEqual(
        ['SIGNER_NODE_HOST', 'SIGNER_SECOND_NODE_HOST'].map((name) => `${String(way!.environment![name])}:${address}`),
      );
      expect(services['signer-way-out']!.healthcheck!.test).toContain(address);
    },
  );

  it('leads to the hosts that are named, at one port, and to nothing else', () => {
    expect(read('nginx.conf')).toMatch(/^stream \{\s+include \/tmp\/ways\.conf;\s+\}$/m);
    expect(read('nginx.conf')).not.toMatch(/\bhttp\b/);
    const ways = read('ways.conf.template');
    const [, map = ''] = /^map \$ssl_preread_server_name \$way \{([^}]*(?:\$\{[^}]*\}[^}]*)*)\}$/m.exec(ways) ?? [];
    expect(map.trim().split(/;\s*/)).toEqual([
      '${SIGNER_NODE_HOST} ${SIGNER_NODE_HOST}:${SIGNER_NODE_PORT}',
      '${SIGNER_SECOND_NODE_HOST} ${SIGNER_SECOND_NODE_HOST}:${SIGNER_NODE_PORT}',
      'default ""',
      '',
    ]);
    expect(ways.match(/listen [^;]+;/g)).toEqual(['listen ${SIGNER_NODE_PORT};']);
    expect(ways.match(/proxy_pass [^;]+;/g)).toEqual(['proxy_pass $way;']);
    expect(ways).toMatch(/^ {2}ssl_preread on;$/m);
    // What it fills in is given to it, and it writes where it may.
    const filledIn = new Set([...ways.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!));
    expect([...filledIn].sort()).toEqual([...signerHosts].sort());
    expect(Object.keys(way!.environment!)).toEqual(expect.arrayContaining(signerHosts));
    expect(way!.environment).toMatchObject({ NGINX_ENVSUBST_OUTPUT_DIR: '/tmp' });
  });

  it('is told of by a file, because credentials may be in it, which is empty where there are none', () => {
    expect(signer!.environment).toMatchObject({ SIGNER_NODES_FILE: '/run/secrets/signer-nodes' });
    expect(filled(compose.secrets['signer-nodes']!.file)).toBe('/dev/null');
    const readers = services.filter(([, { secrets = [] }]) => secrets.includes('signer-nodes'));
    expect(readers.map(([name]) => name)).toEqual(['worker-signer']);
  });
});

describe('D: a file of secrets', () => {
  const fromThisFolder = (source: string): boolean => /^\.{1,2}\//.test(source);
  const ofServices = services.flatMap(([, { env_file: ofEnvironment = [], volumes = [] }]) => [
    ...[ofEnvironment].flat(),
    // What containers read of deploy/ and db/ belongs to the repository.
    ...volumes
      .map((volume) => volume.split(':')[0]!)
      .filter((source) => fromThisFolder(source) && !/^\.\/(deploy|db)\//.test(source)),
  ]);
  // A secret of a network that is off is empty.
  const ofSecrets = Object.values(compose.secrets)
    .map(({ file }) => filled(file))
    .filter((file) => file !== '/dev/null');
  const files = ['.env', ...ofSecrets, ...ofServices].map((file) => normalize(file));

  /** As docker reads it: a pattern that matches a folder matches what the folder holds, and the last match decides. */
  const isLeftOut = (file: string): boolean => {
    const paths = file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
    const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    const patterns = lines.map((line) => line.trim()).filter((line) => line && !line.startsWith('#'));
    return patterns.reduce((leftOut, line) => {
      const pattern = line.replace(/^!/, '').replace(/^\/|\/$/g, '');
      return paths.some((path) => matchesGlob(path, pattern)) ? !line.startsWith('!') : leftOut;
    }, false);
  };

  it('is the seed, the key of secrets, the password of the node, the environment', () => {
    const expected = ['.env', 'secrets/signer-seed', 'secrets/secrets-key', 'secrets/btc-rpc-password'];
    expect(files).toEqual(expect.arrayContaining(expected));
  });

  it.each(files)('%s never gets into the repository', (file) => {
    const { status, stderr } = spawnSync('git', ['check-ignore', '--quiet', '--no-index', file], { cwd: root });
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
  });

  it.each(files)('%s never gets into the image', (file) => {
    expect(isLeftOut(file)).toBe(true);
  });
});

it('believes the checkout alone about its payers, over a network that nothing else is on', () => {
  const { api, checkout } = compose.services as Record<string, Service>;
  const onlyOurs = Object.keys(compose.networks).filter(
    (network) =>
      compose.networks[network]?.internal &&
      String(services.filter(([, service]) => networksOf(service).includes(network)).map(([name]) => name)) ===
        'api,checkout',
  );
  expect(onlyOurs).toHaveLength(1);
  const shared = compose.networks[onlyOurs[0]!];
  expect(shared?.internal).toBe(true);
  expect(shared?.ipam?.config.map(({ subnet }) => subnet)).toEqual([api?.environment?.CHECKOUT_IPS]);

  // The checkout asks by a name that the API has there alone, so it comes from there; the API knows itself by that
  // name.
  const { hostname, port } = new URL(String(checkout?.environment?.API_INTERNAL_URL));
  const named = Object.entries(api?.networks ?? {}).filter(([, { aliases = [] }]) => aliases.includes(hostname));
  expect(named.map(([network]) => network)).toEqual(onlyOurs);
  expect(Object.keys(compose.services)).not.toContain(hostname);
  expect(port).toBe(String(api?.environment?.API_PORT));
  expect(api?.environment?.API_INTERNAL_URL).toBe(checkout?.environment?.API_INTERNAL_URL);
});

it('counts the proxy that its ports are for', () => {
  expect(filled(compose.services['api']?.environment?.PROXY_COUNT ?? '')).toBe('1');
  expect(filled(compose.services['checkout']?.environment?.CHECKOUT_PROXY_COUNT ?? '')).toBe('1');
});

it('publishes nothing beyond this machine', () => {
  for (const [, service] of services) for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
});

describe('D: metrics in compose', () => {
  const served = ours.filter(([, { environment }]) => environment?.METRICS_PORT);
  const exposed = services.filter(([, { ports }]) => ports?.length).map(([name]) => name);

  it('are served by the API and every worker', () => {
    expect(served.map(([name]) => name)).toEqual(
      ours.map(([name]) => name).filter((name) => /^(api|worker-.+)$/.test(name)),
    );
  });

  it.each(served)('of %s are on no port of the machine', (_, { environment, ports = [] }) => {
    expect(ports.map((port) => port.split(':').at(-1))).not.toContain(String(environment?.METRICS_PORT));
    expect(environment?.METRICS_PORT).not.toBe(environment?.API_PORT);
  });

  it('of the API are on the inner network alone', () => {
    const { api } = compose.services as Record<string, Service>;
    const named = Object.entries(api?.networks ?? {}).filter(([, { aliases = [] }]) =>
      aliases.includes(String(api?.environment?.METRICS_HOST)),
    );
    expect(named.map(([network]) => network)).toEqual(['inside']);
    expect(compose.networks.inside?.internal).toBe(true);
  });

  it.each(served.filter(([name]) => name !== 'api'))('of %s are out of reach of what strangers reach', (_, worker) => {
    const reachable = exposed.filter((name) =>
      networksOf(compose.services[name]!).some((network) => networksOf(worker).includes(network)),
    );
    expect(reachable.filter((name) => name !== 'api')).toEqual([]);
  });
});

describe('B5: Prometheus in compose', () => {
  const { prometheus, alertmanager, grafana } = compose.services as Record<string, Service>;
  const read = (file: string): unknown => parse(readFileSync(join(root, 'deploy/observability', file), 'utf8'));
  type Scrape = { static_configs: Array<{ targets: string[] }>; dns_sd_configs?: Array<{ names: string[] }> };

  it('starts where it is asked for alone, with its files from this repository', () => {
    for (const one of [prometheus!, alertmanager!, grafana!]) {
      expect(one.profiles).toEqual(['observability']);
      for (const volume of one.volumes!.filter((mount) => mount.startsWith('./')))
        expect([volume, existsSync(join(root, volume.split(':')[0]!))]).toEqual([volume, true]);
    }
  });

  it('scrapes every process that serves metrics', () => {
    const { scrape_configs: scrapes } = read('prometheus.yml') as { scrape_configs: Scrape[] };
    const hosts = scrapes.flatMap(({ static_configs: fixed, dns_sd_configs: names = [] }) => [
      ...fixed.flatMap(({ targets }) => targets.map((target) => target.replace(/:9100$/, ''))),
      ...names.flatMap((one) => one.names),
    ]);
    const served = ours.filter(([, { environment }]) => environment?.METRICS_PORT);
    const own = served.map(([name]) => (name === 'api' ? 'api-metrics' : name));
    expect(hosts.sort()).toEqual(own.sort());
  });

  it('is reached by who shows it and whom it tells, and neither reaches a process of ours', () => {
    expect(networksOf(prometheus!)).toEqual(['inside', 'observability']);
    expect(prometheus!.ports).toBeUndefined();
    expect(compose.networks.observability?.internal).toBe(true);
    for (const [name, one] of services.filter(([other]) => !['prometheus', 'alertmanager', 'grafana'].includes(other)))
      for (const network of [...networksOf(alertmanager!), ...networksOf(grafana!)])
        expect([name, networksOf(one).includes(network)]).toEqual([name, false]);
  });
});

describe('D: the containers', () => {
  it.each(services)('%s runs as an ordinary user who may gain nothing', (_, service) => {
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
  });

  /** The only folders on disk that a container writes to. */
  const written: Readonly<Record<string, string>> = {
    postgres: '/var/lib/postgresql',
    temporal: '/etc/temporal/config',
    'worker-signer': '/var/lib/signer',
    prometheus: '/prometheus',
    alertmanager: '/alertmanager',
    grafana: '/var/lib/grafana',
  };

  it.each(services)('%s writes to memory, and to the folder of its own', (name, service) => {
    expect(service.read_only).toBe(true);
    expect(service.tmpfs).toContain('/tmp');
    const writable = (service.volumes ?? []).filter((volume) => !volume.endsWith(':ro'));
    expect(writable.map((volume) => volume.split(':')[1])).toEqual(written[name] ? [written[name]] : []);
  });

  it('have the configuration of Temporal from the image that runs', () => {
    const { temporal } = compose.services as Record<string, Service>;
    const [, tag] = temporal!.image.split('@')[0]!.split(':');
    expect(temporal!.volumes).toEqual([`temporal-${tag}:/etc/temporal/config`]);
    expect(compose).toHaveProperty(['volumes', `temporal-${tag}`]);
  });
});

describe('D: Temporal and its UI', () => {
  const { temporal, 'temporal-ui': ui, 'temporal-ui-proxy': proxy } = compose.services as Record<string, Service>;
  const conf = readFileSync(join(root, 'deploy/temporal-ui.conf'), 'utf8').replaceAll(/^\s*#.*$/gm, '');

  it('are on inner networks alone, and on no port', () => {
    for (const service of [temporal!, ui!]) {
      expect(service.ports).toBeUndefined();
      for (const network of networksOf(service))
        expect([network, compose.networks[network]?.internal]).toEqual([network, true]);
    }
    expect(networksOf(temporal!)).toEqual(['inside']);
  });

  it('are reached through a proxy that reaches nothing else', () => {
    const doors = services.filter(
      ([name, one]) => name !== 'temporal-ui' && networksOf(one).some((network) => network === 'temporal-ui'),
    );
    expect(doors.map(([name]) => name)).toEqual(['temporal-ui-proxy']);
    const others = services.filter(([name]) => !name.startsWith('temporal-ui'));
    for (const network of networksOf(proxy!))
      expect(others.filter(([, one]) => networksOf(one).includes(network))).toEqual([]);
    expect(proxy!.ports).toEqual(['127.0.0.1:8080:8080']);
    expect(proxy!.volumes).toEqual(['./deploy/temporal-ui.conf:/etc/nginx/conf.d/default.conf:ro']);
  });

  it('want a password before anything of them is answered', () => {
    const before = conf.slice(0, conf.indexOf('location'));
    expect(before).toMatch(/^ {2}auth_basic "[^"]+";$/m);
    const [, users] = /^ {2}auth_basic_user_file \/run\/secrets\/([\w-]+);$/m.exec(before) ?? [];
    expect(proxy!.secrets).toEqual([users]);
    expect(compose.secrets).toHaveProperty([users!]);
    const open = [...conf.matchAll(/location [^{]+\{[^}]*\}/g)]
      .map(([block]) => block)
      .filter((block) => /auth_basic off/.test(block));
    expect(open.map((block) => block.replaceAll(/\s+/g, ' '))).toEqual([
      'location = /healthz { auth_basic off; return 200 "alive\\n"; }',
    ]);
    expect(conf.match(/auth_basic off/g)).toHaveLength(1);
    expect(conf).toMatch(/proxy_set_header Authorization "";/);
  });

  it('are read there, and not acted on', () => {
    expect(ui!.environment).toMatchObject({ TEMPORAL_DISABLE_WRITE_ACTIONS: 'true' });
  });
});

describe('A5: the sweeper in compose', () => {
  it('is there unless the operator says otherwise, for those who plan sweeps and those who sign them', () => {
    const given = services.filter(([, { environment }]) => environment?.ETH_SWEEPER_CONTRACT !== undefined);
    expect(given.map(([name]) => name).sort()).toEqual(['worker-payments', 'worker-signer']);
    // Unset is refused; set to nothing is a decision.
    for (const [, { environment }] of given)
      expect(environment?.ETH_SWEEPER_CONTRACT).toMatch(/^\$\{ETH_SWEEPER_CONTRACT\?[^}:]+token-sweeps\.md\)\}$/);
  });
});

describe('4: a live and a test instance side by side', () => {
  /** A public test chain of each network, as its setting names it. */
  const testChains = Object.fromEntries(
    Object.values(networks).map((network): [variable: string, chain: string] => {
      const { prefix } = network.settings;
      if (!('chains' in network)) return [`${prefix}_CHAIN_ID`, Object.keys(network.testChains ?? {})[0]!];
      return [`${prefix}_NETWORK`, Object.keys(network.chains).find((one) => network.chains[one]!.faucet)!];
    }),
  );
  const own = (name: string): Partial<Service> => override.services[name] ?? {};

  it('names services of the instance alone', () => {
    for (const name of Object.keys(override.services)) expect(Object.keys(compose.services)).toContain(name);
  });

  it.each(ours)('%s runs in test mode', (name) => expect(own(name).environment?.MODE).toBe('test'));

  it('share no port, no network of a fixed range, and no secret', () => {
    const published = services.flatMap(([name, { ports = [] }]) => (ports.length ? [[name, ports] as const] : []));
    expect(published.length).toBeGreaterThan(0);
    for (const [name, ports] of published) {
      const hosts = (all: readonly string[]): string[] => all.map((one) => one.replace(/:\d+$/, ''));
      expect(own(name).ports).toHaveLength(ports.length);
      expect(hosts(own(name).ports!).filter((host) => hosts(ports).includes(host))).toEqual([]);
    }
    for (const [name, network] of Object.entries(compose.networks)) {
      const range = network?.ipam?.config[0]?.subnet;
      if (range === undefined) continue;
      const other = override.networks[name]?.ipam?.config[0]?.subnet;
      expect(other).not.toBe(range);
      const reads = services.filter(([, { environment }]) => JSON.stringify(environment ?? {}).includes(range));
      for (const [reader] of reads) expect(JSON.stringify(own(reader).environment)).toContain(other);
    }
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      if (file.includes('${')) continue; // the operator names it, in the environment of each
      expect(override.secrets[name]?.file).toMatch(/^\.\/secrets\/test\//);
      expect(override.secrets[name]?.file).not.toBe(file);
    }
  });

  it.each(ours.filter(([name]) => name !== 'migrate'))('%s would start as a test instance', (name, service) => {
    const all = Object.entries({ ...service.environment, ...own(name).environment });
    const env = Object.fromEntries(all.map(([variable, value]) => [variable, filled(value)]));
    for (const [variable, value] of Object.entries(testChains)) if (variable in env) env[variable] = value;
    if (service.profiles) env.NETWORKS = ['bitcoin', 'ethereum', ...service.profiles].join(',');
    const config = parseConfig(env, secretIn, processOf(service));
    expect(config).toMatchObject({ isProduction: true, MODE: 'test' });
  });
});
