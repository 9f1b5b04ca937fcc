/** The one registry of networks and assets. What a new one takes: docs/adding-a-network.md. */

import { assets } from './asset-list';
import type { Asset, Currency, EvmNetwork, ExpiringNetwork, Network, NetworkId, UtxoNetwork } from './network';
import { isByLightning, lightningCurrency } from '../lightning/currency';
import { networks } from './networks';
import { fit, toUnits } from '../money';

export type {
  AccountNetwork,
  Asset,
  Currency,
  DestinationTags,
  EvmNetwork,
  EvmPrefix,
  ExpiringChain,
  ExpiringNetwork,
  ExpiringPrefix,
  Network,
  NetworkId,
  UtxoChain,
  UtxoNetwork,
  UtxoPrefix,
} from './network';
export { isByLightning } from '../lightning/currency';
export { assets } from './asset-list';
export { networks } from './networks';

/** Bitcoin by Lightning. No chain has it, so it is in no list of what networks have: `assetOf` knows it for rows, and
 *  who takes a ticker from outside takes it by `payableAsset` alone. Dust: less is not worth an invoice. */
const lightningAsset: Asset = {
  currency: lightningCurrency,
  asset: 'BTC',
  network: 'bitcoin',
  name: 'Bitcoin (Lightning)',
  decimals: 8,
  payDecimals: 8,
  dust: '0.000001',
  contract: null,
  requiresDestinationTag: false,
  addressRegex: '^ln(bc|tb|tbs|bcrt|sb)[0-9]+[munp]?1[a-z0-9]+$',
  stable: false,
  newDestinationCap: '0.1',
  unexplainedBound: '0',
};
/** What rows may be in beside `assets`. */
const offChain: readonly Asset[] = [lightningAsset];
/** Whose rates a currency has. */
export const ratedAs = (currency: Currency): Currency => (isByLightning(currency) ? lightningAsset.asset : currency);

/** The assets of these networks, in the registry's order. */
export const assetsOn = (on: readonly NetworkId[]): Asset[] => assets.filter(({ network }) => on.includes(network));
/** The UTXO networks of the registry. */
export const utxoNetworks = (): UtxoNetwork[] => Object.values(networks).filter((network) => network.kind === 'utxo');

/** The network by which the sequence of a network's key indexes is named. */
export const sequenceOf = ({ id, addressesOf }: Pick<Network, 'id' | 'addressesOf'>): NetworkId => addressesOf ?? id;
/** Every network of the registry on which an address of this one is the same account, itself included. */
export const networksWithAddressesOf = (id: NetworkId): NetworkId[] =>
  Object.values(networks).flatMap((other) => (sequenceOf(other) === sequenceOf(networks[id]) ? [other.id] : []));

/** The EVM networks of the registry. */
export const evmNetworks = (): EvmNetwork[] =>
  Object.values(networks).filter((network) => network.kind === 'account' && network.expiring === undefined);

/** What payments may be made in where these networks are on: their assets, and bitcoin by Lightning where it is
 *  offered. */
export const payableOn = (on: readonly NetworkId[], byLightning: boolean): Asset[] =>
  byLightning && on.includes(lightningAsset.network) ? [...assetsOn(on), lightningAsset] : assetsOn(on);
/** What a currency is paid over, in words. */
export const carrierOf = ({ currency, network }: Pick<Asset, 'currency' | 'network'>): string =>
  isByLightning(currency) ? 'Lightning' : networks[network].name;

/** The networks of the registry whose transactions expire. */
export const expiringNetworks = (): ExpiringNetwork[] =>
  Object.values(networks).filter((network) => network.expiring !== undefined);

/** The asset of a ticker, or undefined where the registry has none. */
export const findAsset = (currency: Currency): Asset | undefined => assets.find((asset) => asset.currency === currency);

/** The asset that a payment may be made in, by its ticker. `byLightning`: this service has a Lightning node. */
export const payableAsset = (currency: Currency, byLightning: boolean): Asset | undefined =>
  byLightning && isByLightning(currency) ? lightningAsset : findAsset(currency);

/** The asset of a ticker that is known to exist. Throws where the registry has none: a programming error. */
export function assetOf(currency: Currency): Asset {
  const asset = findAsset(currency) ?? offChain.find((one) => one.currency === currency);
  if (!asset) throw new Error(`No asset '${currency}' in the registry (domain/chains/asset-list.ts)`);
  return asset;
}

export const networkOf = (currency: Currency): Network => networks[assetOf(currency).network];
export const isToken = (currency: Currency): boolean => assetOf(currency).contract !== null;

/** The networks of the registry whose chains have names. */
export const namedNetworks = (): Array<UtxoNetwork | ExpiringNetwork> => [...utxoNetworks(), ...expiringNetworks()];

/** Which chain of each network this deployment runs on; comes from configuration. */
export type ChainSettings = Readonly<{
  /** UTXO networks, and those whose transactions expire: the name of one of its `chains`. */
  chainNames: Readonly<Partial<Record<NetworkId, string>>>;
  /** EVM networks: the id that the node must report. */
  chainIds: Readonly<Partial<Record<NetworkId, number>>>;
  /** Ticker → contract, for chains other than the main network. */
  tokenContracts: Readonly<Record<Currency, string>>;
  /** EVM networks: our contract that moves the tokens of many addresses at once (contracts/sweeper.sol); absent:
   *  tokens are swept one by one. */
  sweepers: Readonly<Partial<Record<NetworkId, string>>>;
}>;

/** The contract a token lives at on this deployment's chain; null for a native asset. */
export const contractOf = (
  { currency, contract }: Pick<Asset, 'currency' | 'contract'>,
  chain: ChainSettings,
): string | null => chain.tokenContracts[currency] ?? contract;

/** Whole units as base units; what is finer than the chain knows is cut. */
export function baseUnits(currency: string, amount: string): bigint {
  const { decimals } = assetOf(currency);
  return toUnits(fit(amount, decimals, 'down'), decimals);
}
