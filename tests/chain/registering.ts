import {
  assets,
  networks,
  type Asset,
  type EvmNetwork,
  type Network,
  type NetworkId,
} from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { needsOwnModules } from '../own-modules';

/** Puts a network or assets into the registry, over what is there, until the returned function takes them out again. */
export function register(own: readonly Asset[], network?: Network): () => void {
  needsOwnModules();
  const all = assets as Asset[];
  const known = networks as Record<string, Network>;
  const before = network && known[network.id];
  if (network) known[network.id] = network;
  all.push(...own);
  return () => {
    if (network && before) known[network.id] = before;
    else if (network) delete known[network.id];
    for (const asset of own) all.splice(all.indexOf(asset), 1);
  };
}

const utxo = networks.bitcoin as Extract<Network, { kind: 'utxo' }>;
const evm = networks.ethereum as EvmNetwork;
const find = (currency: string): Asset => assets.find((asset) => asset.currency === currency)!;

/** A coin that nobody has, with figures of its own. Its node would be set by the variables of Bitcoin's: those of a
 *  prefix of its own come with the registry. */
export const otherCoin = {
  network: {
    ...utxo,
    id: 'othercoin' as NetworkId,
    name: 'Other coin',
    native: 'OCN',
    confirmations: 12,
    blockSeconds: 60,
    uriScheme: 'othercoin',
    chains: {
      mainnet: {
        ...{ coinType: 7777, bech32: 'ocn', pubKeyHash: 0x1e, scriptHash: 0x16, otherScriptHashes: [0x05], wif: 0x9e },
        unpayable: { ocnhidden: 'Hidden addresses cannot be paid' },
      },
      regtest: { coinType: 1, bech32: 'rocn', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef, isLocal: true },
    },
    leastPrice: '2',
    joining: { maxPrice: 20n, smallCoin: 10_000_000n },
  } satisfies Network,
  assets: [{ ...find('BTC'), currency: 'OCN', asset: 'OCN', network: 'othercoin' as NetworkId, name: 'Other coin' }],
} as const;

/** An EVM chain beside Ethereum, with a native coin, a token and gas figures of its own. */
export const evmChain = {
  network: {
    ...evm,
    id: 'otherchain' as NetworkId,
    name: 'Other chain',
    native: 'OTH',
    addressesOf: 'ethereum',
    confirmations: 20,
    blockSeconds: 2,
    leastTip: '30000000000',
    work: {
      ...evm.work,
      native: 23_000n,
      token: 120_000n,
      ceiling: { native: 90_000n, token: 300_000n },
      tokenSettlement: 150_000n,
    },
    batch: {
      limit: { base: 300_000n, each: 110_000n },
      estimate: { base: 80_000n, each: 50_000n, rest: 20_000n },
      delegation: 45_000n,
    },
  } satisfies Network,
  assets: [
    { ...find('ETH'), currency: 'OTH', asset: 'OTH', network: 'otherchain' as NetworkId, name: 'Other coin' },
    {
      ...find('USDT_ERC20'),
      currency: 'USDT_OTHER',
      network: 'otherchain' as NetworkId,
      contract: null as string | null,
    },
  ],
} as const;

/** A chain whose accounts many share, told apart by tags; its codec is Ethereum's with the tag behind the bytes. */
export const tagChain = {
  network: {
    ...evm,
    id: 'tagchain' as NetworkId,
    name: 'Tag chain',
    native: 'TAG',
    uriScheme: 'tagchain',
    destinationTags: { largest: '4294967295' },
  } satisfies Network,
  assets: [
    {
      ...find('ETH'),
      currency: 'TAG',
      asset: 'TAG',
      network: 'tagchain' as NetworkId,
      name: 'Tagged coin',
      requiresDestinationTag: true,
    },
  ],
  chainId: 31_338,
} as const;

/** The codec of a family whose transactions carry tags. */
export const withTags = (codec: ChainCodec): ChainCodec => ({
  ...codec,
  sign(seed, plan) {
    if (plan.kind !== 'account') return codec.sign(seed, plan);
    const { tag, ...untagged } = plan;
    const { txId, raw } = codec.sign(seed, untagged);
    return tag === undefined ? { txId, raw } : { txId: `${txId}:${tag}`, raw: `${raw}:${tag}` };
  },
  paymentUri: (address, _currency, amount, _names, tag) => `tagchain:${address}?amount=${amount}&dt=${tag}`,
});
