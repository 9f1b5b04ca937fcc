import {
  assets,
  contractOf,
  networks,
  type Asset,
  type ChainSettings,
  type EvmNetwork,
  type ExpiringChain,
  type ExpiringNetwork,
  type Network,
  type NetworkId,
  type UtxoChain,
  type UtxoNetwork,
} from '../domain/chains/assets';
import type { ChainCodec } from '../domain/chains/chain';
import { evmCodec, type EvmChain } from './evm/codec';
import { tronChainCodec } from './tron/chain-codec';
import type { TronChain } from './tron/plan';
import { utxoCodec } from './utxo/codec';
import { xrplChainCodec } from './xrpl/chain-codec';

/** A network with its assets, as the registry has it. */
export type Registered = Readonly<{ network: Network; assets: readonly Asset[] }>;

/** The registry's entry of a network. Throws where it has none: a programming error. */
export function registered(id: NetworkId): Registered {
  const network = networks[id] as Network | undefined;
  if (!network) throw new Error(`No network '${id}' in the registry (domain/chains/networks.ts)`);
  return { network, assets: assets.filter((asset) => asset.network === id) };
}

type WithChains<Chain> = Readonly<{ id: NetworkId; name: string; chains: Readonly<Record<string, Chain>> }>;

function namedChainOf<Chain>({ id, name: words, chains }: WithChains<Chain>, settings: ChainSettings): Chain {
  const name = settings.chainNames[id] ?? '';
  const chain = chains[name];
  if (!chain) throw new Error(`${words} has no chain '${name}': ${Object.keys(chains).join(', ')}`);
  return chain;
}

/** The chain of a UTXO network that this deployment runs on. */
export const utxoChainOf: (network: UtxoNetwork, settings: ChainSettings) => UtxoChain = namedChainOf;

/** The chain of a network whose transactions expire that this deployment runs on. */
export const expiringChainOf: (network: ExpiringNetwork, settings: ChainSettings) => ExpiringChain = namedChainOf;

/** The chain of an EVM network that this deployment runs on. */
export function evmChainOf(network: EvmNetwork, own: readonly Asset[], settings: ChainSettings): EvmChain {
  const chainId = settings.chainIds[network.id];
  if (chainId === undefined) throw new Error(`No chain id is configured for ${network.name}`);
  const sweeper = settings.sweepers[network.id];
  return { chainId, ...(sweeper ? { sweeper } : {}), assets: contractsOf(own, settings) };
}

/** Where each asset of an account chain lives; null: it is the chain's own. */
const contractsOf = (own: readonly Asset[], settings: ChainSettings): EvmChain['assets'] =>
  new Map(own.map((asset) => [asset.currency, { decimals: asset.decimals, contract: contractOf(asset, settings) }]));

/** The chain of TRON that this deployment runs on. */
export const tronChainOf = (
  chain: Extract<ExpiringChain, { family: 'tron' }>,
  own: readonly Asset[],
  settings: ChainSettings,
): TronChain => ({ ...chain, assets: contractsOf(own, settings) });

/** The codec of a network of either family: pure, no node. */
export const codecOf = ({ network, assets: own }: Registered, settings: ChainSettings): ChainCodec => {
  if (network.kind === 'utxo') return utxoCodec(network, utxoChainOf(network, settings));
  if (network.expiring) {
    const chain = expiringChainOf(network, settings);
    if (chain.family === 'xrpl') return xrplChainCodec(network, chain);
    return tronChainCodec(network, tronChainOf(chain, own, settings));
  }
  return evmCodec(network, evmChainOf(network, own, settings));
};

/** The codec of a network of the registry. */
export const createCodec = (network: NetworkId, settings: ChainSettings): ChainCodec =>
  codecOf(registered(network), settings);

/** The codecs of all networks of the registry. */
export const createCodecs = (settings: ChainSettings): Readonly<Record<NetworkId, ChainCodec>> =>
  Object.fromEntries((Object.keys(networks) as NetworkId[]).map((id) => [id, createCodec(id, settings)])) as Record<
    NetworkId,
    ChainCodec
  >;
