/** @jest-environment node */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAdapter, createCodec, createCodecs } from '../../chains/adapters';
import {
  assets,
  evmNetworks,
  networks,
  sequenceOf,
  utxoNetworks,
  type Asset,
  type ChainSettings,
  type Network,
  type NetworkId,
} from '../../domain/chains/assets';
import { explorersOf } from '../../domain/chains/chosen-chain';
import { isLocalChain } from '../../domain/chains/freshness';
import { isCarried } from '../../domain/chains/tags';
import { parseConfig, secondUrlOf, type Config } from '../../domain/config';
import { configSchema } from '../../domain/settings';
import { compare } from '../../domain/money';
import { playMoney } from '../../sandbox/play-money';
import { coinNodeName } from '../../sandbox/stack/coin-nodes';
import { fixedPorts } from '../../sandbox/stack/ports';
import { composeFile } from '../compose-file';
import { evmChain, otherCoin, register } from './registering';

type Compose = {
  services: Record<string, { command?: string[]; environment?: Record<string, string>; secrets?: string[] }>;
};

const nowhere: ChainSettings = { chainNames: {}, chainIds: {}, tokenContracts: {}, sweepers: {} };
const root = join(__dirname, '..', '..');
const read = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');
const { services } = composeFile() as Compose;
const example = read('.env.example');

/** The variables that the adapter of a network is made from, or null where none can be made. */
function variablesOf(network: NetworkId): string[] | null {
  const config = parseConfig({});
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
  const config = parseConfig({});
  try {
    return (
      createCodec(network, config.chain).network === network && createCodecs(config.chain)[network]?.network === network
    );
  } catch {
    return false;
  }
}

function canBeOn(network: NetworkId): boolean {
  try {
    return parseConfig({ NETWORKS: network }, undefined, 'chain').chainNetworks.includes(network);
  } catch {
    return false;
  }
}

function hasPlayMoney(asset: Asset): boolean {
  try {
    return compare(playMoney(asset).usd, '0') === 1;
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
  need(entry?.id === network, `domain/chains/networks.ts: networks has no '${network}'`);
  need(
    own.some((asset) => asset.currency === entry?.native && asset.contract === null),
    `domain/chains/asset-list.ts: no asset is the native coin of '${network}'`,
  );

  need(hasCodec(network), `domain/config.ts: no chain of '${network}' is configured`);
  const variables = variablesOf(network);
  need(variables !== null, `domain/config.ts: loginOf has no '${network}'`);
  need(canBeOn(network), `domain/config.ts: NETWORKS does not take '${network}'`);

  const testFile = `tests/chain/${network}.test.ts`;
  const test = read(testFile);
  need(test !== '', `${testFile} is missing`);
  // What has no nonces, pool or reorganisations is held to what its own file says.
  need(
    entry?.expiring !== undefined || test.includes(`chainContract('${network}'`),
    `${testFile} does not call chainContract('${network}', …)`,
  );

  need(
    Boolean(variables?.some((name) => name.endsWith('_URL'))),
    `domain/settings.ts: no variable says where the node of '${network}' is`,
  );
  for (const name of variables ?? []) {
    need(name in configSchema.properties, `domain/settings.ts: no variable ${name}`);
    need(new RegExp(`^#? ?${name}=`, 'm').test(example), `.env.example: no ${name}`);
  }

  need(
    entry?.kind !== 'utxo' || network === 'bitcoin' || coinNodeName(network) !== undefined,
    `sandbox/stack/coin-nodes.ts: no program is the node of '${network}'`,
  );
  const coins = new Map(own.map((asset) => [asset.asset, asset]));
  for (const [coin, asset] of coins)
    need(hasPlayMoney(asset), `sandbox/play-money.ts: no price and no float of ${coin}`);

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
    `domain/chains/networks.ts: networks has no 'dogecoin'`,
    `domain/chains/asset-list.ts: no asset is the native coin of 'dogecoin'`,
    `domain/config.ts: no chain of 'dogecoin' is configured`,
    `domain/config.ts: loginOf has no 'dogecoin'`,
    `domain/config.ts: NETWORKS does not take 'dogecoin'`,
    'tests/chain/dogecoin.test.ts is missing',
    `tests/chain/dogecoin.test.ts does not call chainContract('dogecoin', …)`,
    `domain/settings.ts: no variable says where the node of 'dogecoin' is`,
    `docker-compose.yml: 0 chain workers serve 'dogecoin', and not one`,
  ]);
});

it('wants no more of a coin of a known family than its tests, its node in the sandbox and its worker', () => {
  const leave = register(otherCoin.assets, otherCoin.network);
  try {
    expect(forgotten(otherCoin.network.id)).toEqual([
      'tests/chain/othercoin.test.ts is missing',
      `tests/chain/othercoin.test.ts does not call chainContract('othercoin', …)`,
      `sandbox/stack/coin-nodes.ts: no program is the node of 'othercoin'`,
      'sandbox/play-money.ts: no price and no float of OCN',
      `docker-compose.yml: 0 chain workers serve 'othercoin', and not one`,
    ]);
  } finally {
    leave();
  }
});

it('wants nothing for the sandbox of an EVM network whose coins are those of others', () => {
  const [native, token] = evmChain.assets;
  const leave = register([{ ...native, asset: 'ETH' }, token], evmChain.network);
  try {
    expect(forgotten(evmChain.network.id)).toEqual([
      'tests/chain/otherchain.test.ts is missing',
      `tests/chain/otherchain.test.ts does not call chainContract('otherchain', …)`,
      `docker-compose.yml: 0 chain workers serve 'otherchain', and not one`,
    ]);
  } finally {
    leave();
  }
});

it('has names that the settings, the database and the ports of the sandbox take, each network its own', () => {
  for (const { id, settings } of Object.values(networks)) {
    expect(id).toMatch(/^[a-z]+$/);
    expect(settings.prefix).toMatch(/^[A-Z]+$/);
  }
  const ports = Object.values(fixedPorts);
  expect(ports.filter((port, at) => !(port > 0) || ports.indexOf(port) !== at)).toEqual([]);
  const chainIds = evmNetworks().flatMap(({ chainId, localChainIds, testChains = {} }) => [
    ...[chainId, ...localChainIds, ...Object.keys(testChains).map(Number)],
  ]);
  expect(chainIds.filter((one, at) => chainIds.indexOf(one) !== at)).toEqual([]);
});

it('tells by its pattern an address that its network gives out on every chain', () => {
  const seed = Buffer.alloc(64, 7);
  for (const network of Object.values(networks)) {
    const names = 'chains' in network ? Object.keys(network.chains) : [''];
    for (const name of names) {
      const chainIds = 'chainId' in network ? { [network.id]: network.chainId } : {};
      const codec = createCodec(network.id, { ...nowhere, chainNames: { [network.id]: name }, chainIds });
      const address = codec.derive(codec.extendedKey(seed, 'deposit'), 3);
      for (const { currency, addressRegex } of assets.filter((asset) => asset.network === network.id))
        expect([currency, name, address, new RegExp(addressRegex).test(address)]).toEqual([
          currency,
          name,
          address,
          true,
        ]);
    }
  }
});

it('sets the nodes of coins by variables of their own', () => {
  const prefixes = utxoNetworks().map(({ settings }) => settings.prefix);
  expect(new Set(prefixes).size).toBe(prefixes.length);
  for (const { id, native, settings } of utxoNetworks()) {
    expect([id, settings.prefix]).toEqual([id, native]);
    const config = parseConfig({
      [`${settings.prefix}_NETWORK`]: 'regtest',
      [`${settings.prefix}_SECOND_RPC_URL`]: 'x',
    });
    expect([id, config.chain.chainNames[id], secondUrlOf(id, config)]).toEqual([id, 'regtest', 'x']);
    const others = utxoNetworks().filter((other) => other.id !== id);
    for (const other of others)
      expect([config.chain.chainNames[other.id], secondUrlOf(other.id, config)]).toEqual(['mainnet', '']);
  }
});

it('has parameters that a network can have', () => {
  for (const network of Object.values(networks)) {
    expect(compare(network.leastPriceCap, '0')).toBe(1);
    expect(network.uriScheme).toMatch(/^[a-z]+$/);
    if (network.kind === 'utxo') {
      expect(compare(network.leastPrice, '0')).toBe(1);
      expect(Object.keys(network.chains)).toContain('mainnet');
      for (const [name, { bech32, pubKeyHash, scriptHash, ...more }] of Object.entries(network.chains)) {
        expect(bech32).toMatch(/^[a-z]+$/);
        const versions = [pubKeyHash, scriptHash, ...(more.otherScriptHashes ?? [])];
        expect([name, new Set(versions).size]).toEqual([name, versions.length]);
        expect(Object.keys(more.unpayable ?? {})).not.toContain(bech32);
      }
    } else {
      const { native, token, tokenSettlement } = network.work;
      const hasTokens = assets.some((asset) => asset.network === network.id && asset.contract !== null);
      if (hasTokens) expect([native < token, token < tokenSettlement]).toEqual([true, true]);
      if (network.expiring) continue;
      const { limit, estimate } = network.batch;
      expect([estimate.base < limit.base, estimate.each < limit.each]).toEqual([true, true]);
    }
  }
  expect(assets.filter((asset) => !isCarried(asset))).toEqual([]);
});

it('has each asset on a network that exists, under a name of its own', () => {
  expect(assets.filter((asset) => !(asset.network in networks))).toEqual([]);
  expect(new Set(assets.map((asset) => asset.currency)).size).toBe(assets.length);
  for (const { currency, decimals, payDecimals, addressRegex } of assets) {
    expect([currency, payDecimals <= decimals]).toEqual([currency, true]);
    expect(() => new RegExp(addressRegex)).not.toThrow();
  }
});

it('leads to an explorer of the very chain, and to none where nobody else sees the chain', () => {
  const chainsOf = (network: Network): Array<Pick<ChainSettings, 'chainNames' | 'chainIds'>> =>
    'chains' in network
      ? Object.keys(network.chains).map((name) => ({ chainNames: { [network.id]: name }, chainIds: {} }))
      : [network.chainId, ...network.localChainIds, ...Object.keys(network.testChains ?? {}).map(Number)].map((id) => ({
          chainNames: {},
          chainIds: { [network.id]: id },
        }));
  for (const network of Object.values(networks)) {
    const urls = chainsOf(network).flatMap((chain) => {
      const url = explorersOf([network.id], chain)[network.id];
      expect([chain, url === undefined]).toEqual([chain, isLocalChain(network, chain)]);
      return url === undefined ? [] : [url];
    });
    expect(new Set(urls).size).toBe(urls.length);
    for (const url of urls) expect(url).toMatch(/^https:\/\/[^{]*\/\{txId\}$/);
  }
});

it('draws the addresses that several networks share from one sequence', () => {
  const seed = Buffer.alloc(64, 7);
  const addresses = Object.values(networks).flatMap((network) => {
    const chains: ChainSettings[] =
      'chains' in network
        ? Object.keys(network.chains).map((name) => ({ ...nowhere, chainNames: { [network.id]: name } }))
        : [{ ...nowhere, chainIds: { [network.id]: network.chainId } }];
    return chains.map((chain) => {
      const codec = createCodec(network.id, chain);
      return [codec.derive(codec.extendedKey(seed, 'deposit'), 3), sequenceOf(network)] as const;
    });
  });
  const sequences = new Map<string, Set<string>>();
  for (const [address, sequence] of addresses)
    sequences.set(address, (sequences.get(address) ?? new Set()).add(sequence));
  expect([...sequences].filter(([, of]) => of.size > 1)).toEqual([]);
  for (const { id, addressesOf } of Object.values(networks))
    expect([id, addressesOf === undefined || networks[addressesOf].addressesOf === undefined]).toEqual([id, true]);
});

it('unwinds more blocks than a deposit waits for', () => {
  for (const { confirmations, reorgWindow } of Object.values(networks)) {
    expect(confirmations).toBeGreaterThan(0);
    expect(reorgWindow).toBeGreaterThan(confirmations);
  }
});
