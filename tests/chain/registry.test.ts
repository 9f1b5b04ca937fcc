import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createAdapter, createCodec, createCodecs } from '../../chains/adapters';
import { assets, networks, type NetworkId } from '../../domain/chains/assets';
import { configSchema, parseConfig, type Config } from '../../domain/config';

type Compose = {
  services: Record<string, { command?: string[]; environment?: Record<string, string>; secrets?: string[] }>;
};

const root = join(__dirname, '..', '..');
const read = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');
const { services } = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const example = read('.env.example');
const config = parseConfig({});

/** The variables that the adapter of a network is made from, or null where none can be made. */
function variablesOf(network: NetworkId): string[] | null {
  const asked = new Set<string>();
  const listening = new Proxy(config, {
    get(target, name) {
      asked.add(String(name));
      return target[name as keyof Config];
    },
  });
  try {
    if (createAdapter(network, listening).network !== network) return null;
  } catch {
    return null; // there is none, which is what is asked
  }
  asked.delete('chain'); // put together from variables that all processes have
  return [...asked];
}

function hasCodec(network: NetworkId): boolean {
  try {
    return (
      createCodec(network, config.chain).network === network && createCodecs(config.chain)[network]?.network === network
    );
  } catch {
    return false;
  }
}

/** What a network of the registry still lacks, in words. Steps: docs/adding-a-network.md. */
function forgotten(network: NetworkId): string[] {
  const faults: string[] = [];
  const need = (holds: boolean, fault: string): void => void (holds || faults.push(fault));

  const entry = networks[network] as (typeof networks)[NetworkId] | undefined;
  const own = assets.filter((asset) => asset.network === network);
  need(entry?.id === network, `domain/chains/assets.ts: networks has no '${network}'`);
  need(
    own.some((asset) => asset.currency === entry?.native && asset.contract === null),
    `domain/chains/assets.ts: no asset is the native coin of '${network}'`,
  );

  need(hasCodec(network), `chains/codecs.ts: no codec of '${network}'`);
  const variables = variablesOf(network);
  need(variables !== null, `chains/adapters.ts: no adapter of '${network}'`);

  const testFile = `tests/chain/${network}.test.ts`;
  const test = read(testFile);
  need(test !== '', `${testFile} is missing`);
  need(test.includes(`chainContract('${network}'`), `${testFile} does not call chainContract('${network}', …)`);

  need(
    Boolean(variables?.some((name) => name.endsWith('_URL'))),
    `domain/config.ts: no variable says where the node of '${network}' is`,
  );
  for (const name of variables ?? []) {
    need(name in configSchema.properties, `domain/config.ts: no variable ${name}`);
    need(new RegExp(`^#? ?${name}=`, 'm').test(example), `.env.example: no ${name}`);
  }
  need(config.chainNetworks.includes(network), `domain/config.ts: CHAIN_NETWORKS leaves out '${network}' by default`);

  const workers = Object.entries(services).filter(
    ([, { command, environment }]) =>
      command?.[0] === 'dist/workers/chain.js' && environment?.CHAIN_NETWORKS?.split(',').includes(network),
  );
  need(workers.length === 1, `docker-compose.yml: ${workers.length} chain workers serve '${network}', and not one`);
  for (const [name, { environment = {} }] of [...workers, ['worker-payments', services['worker-payments']!] as const]) {
    for (const variable of variables ?? [])
      need(
        variable in environment || `${variable}_FILE` in environment,
        `docker-compose.yml: ${name} is not given ${variable}`,
      );
  }
  return faults;
}

it.each(Object.keys(networks) as NetworkId[])('%s has all that a network needs', (network) => {
  expect(forgotten(network)).toEqual([]);
});

it('names everything that a new network lacks', () => {
  expect(forgotten('dogecoin' as NetworkId)).toEqual([
    `domain/chains/assets.ts: networks has no 'dogecoin'`,
    `domain/chains/assets.ts: no asset is the native coin of 'dogecoin'`,
    `chains/codecs.ts: no codec of 'dogecoin'`,
    `chains/adapters.ts: no adapter of 'dogecoin'`,
    'tests/chain/dogecoin.test.ts is missing',
    `tests/chain/dogecoin.test.ts does not call chainContract('dogecoin', …)`,
    `domain/config.ts: no variable says where the node of 'dogecoin' is`,
    `domain/config.ts: CHAIN_NETWORKS leaves out 'dogecoin' by default`,
    `docker-compose.yml: 0 chain workers serve 'dogecoin', and not one`,
  ]);
});

it('has each asset on a network that exists, under a name of its own', () => {
  expect(assets.filter((asset) => !(asset.network in networks))).toEqual([]);
  expect(new Set(assets.map((asset) => asset.currency)).size).toBe(assets.length);
  for (const { currency, decimals, payDecimals, addressRegex } of assets) {
    expect([currency, payDecimals <= decimals]).toEqual([currency, true]);
    expect(() => new RegExp(addressRegex)).not.toThrow();
  }
});

it('unwinds more blocks than a deposit waits for', () => {
  for (const { confirmations, reorgWindow, explorerTxUrl } of Object.values(networks)) {
    expect(confirmations).toBeGreaterThan(0);
    expect(reorgWindow).toBeGreaterThan(confirmations);
    expect(explorerTxUrl).toMatch(/^https:\/\/.*\{txId\}/);
  }
});
