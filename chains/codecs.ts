import {
  assets,
  contractOf,
  networks,
  type Asset,
  type ChainSettings,
  type EvmNetwork,
  type ExpiringChain,
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
  if (!network) throw new Error(`No network '${id}' in the registry (domain/chains/assets.ts)`);
  return { network, assets: assets.filter((asset) => asset.network === id) };
}

/** The chain of a UTXO network that this deployment runs on. */
export function utxoChainOf(network: UtxoNetwork, settings: ChainSettings): UtxoChain {
  const name = settings.chainNames[network.id] ?? '';
  const chain = network.chains[name];
  if (!chain) throw new Error(`${network.name} has no chain '${name}': ${Object.keys(network.chains).join(', ')}`);
  return chain;
}

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
    if (network.expiring.family === 'xrpl') return xrplChainCodec(network, network.expiring);
    return tronChainCodec(network, tronChainOf(network.expiring, own, settings));
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
