/** The one registry of assets, with networks.ts. What a new one takes: docs/adding-a-network.md. */

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
export { networks } from './networks';

const evmAddress = '^0x[0-9a-fA-F]{40}$';
const tronAddress = '^T[1-9A-HJ-NP-Za-km-z]{33}$';
export const assets: readonly Asset[] = [
  {
    currency: 'BTC',
    asset: 'BTC',
    network: 'bitcoin',
    name: 'Bitcoin',
    decimals: 8,
    payDecimals: 8,
    dust: '0.00001',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: '^(bc1|tb1|bcrt1|[13mn2])[a-zA-HJ-NP-Z0-9]{25,87}$',
    stable: false,
    newDestinationCap: '1',
    unexplainedBound: '0',
  },
  {
    currency: 'ETH',
    asset: 'ETH',
    network: 'ethereum',
    name: 'Ether',
    decimals: 18,
    payDecimals: 8,
    dust: '0.00001',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: false,
    newDestinationCap: '30',
    unexplainedBound: '0.01',
  },
  {
    currency: 'USDT_ERC20',
    asset: 'USDT',
    network: 'ethereum',
    name: 'Tether USD (ERC-20)',
    decimals: 6,
    payDecimals: 6,
    dust: '0.01',
    contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: true,
    newDestinationCap: '100000',
    unexplainedBound: '20',
  },
  {
    currency: 'USDC_ERC20',
    asset: 'USDC',
    network: 'ethereum',
    name: 'USD Coin (ERC-20)',
    decimals: 6,
    payDecimals: 6,
    dust: '0.01',
    contract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: true,
    newDestinationCap: '100000',
    unexplainedBound: '20',
  },
  {
    currency: 'LTC',
    asset: 'LTC',
    network: 'litecoin',
    name: 'Litecoin',
    decimals: 8,
    payDecimals: 8,
    dust: '0.0001',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: '^((ltc|tltc|rltc)1[a-z0-9]{25,87}|[LM3mnQ2][1-9A-HJ-NP-Za-km-z]{25,34})$',
    stable: false,
    newDestinationCap: '1000',
    unexplainedBound: '0',
  },
  {
    currency: 'POL',
    asset: 'POL',
    network: 'polygon',
    name: 'POL (Polygon)',
    decimals: 18,
    payDecimals: 6,
    dust: '0.01',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: false,
    newDestinationCap: '200000',
    unexplainedBound: '50',
  },
  {
    // Issued by Circle; what bridges made (USDC.e) is another token. https://developers.circle.com
    currency: 'USDC_POLYGON',
    asset: 'USDC',
    network: 'polygon',
    name: 'USD Coin (Polygon)',
    decimals: 6,
    payDecimals: 6,
    dust: '0.01',
    contract: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: true,
    newDestinationCap: '100000',
    unexplainedBound: '20',
  },
  {
    currency: 'ETH_BASE',
    asset: 'ETH',
    network: 'base',
    name: 'Ether (Base)',
    decimals: 18,
    payDecimals: 8,
    dust: '0.00001',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: false,
    newDestinationCap: '30',
    unexplainedBound: '0.01',
  },
  {
    currency: 'USDC_BASE',
    asset: 'USDC',
    network: 'base',
    name: 'USD Coin (Base)',
    decimals: 6,
    payDecimals: 6,
    dust: '0.01',
    contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: true,
    newDestinationCap: '100000',
    unexplainedBound: '20',
  },
  {
    currency: 'ETH_OPTIMISM',
    asset: 'ETH',
    network: 'optimism',
    name: 'Ether (OP Mainnet)',
    decimals: 18,
    payDecimals: 8,
    dust: '0.00001',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: false,
    newDestinationCap: '30',
    unexplainedBound: '0.01',
  },
  {
    currency: 'USDC_OPTIMISM',
    asset: 'USDC',
    network: 'optimism',
    name: 'USD Coin (OP Mainnet)',
    decimals: 6,
    payDecimals: 6,
    dust: '0.01',
    contract: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: true,
    newDestinationCap: '100000',
    unexplainedBound: '20',
  },
  {
    currency: 'ETH_ARBITRUM',
    asset: 'ETH',
    network: 'arbitrum',
    name: 'Ether (Arbitrum One)',
    decimals: 18,
    payDecimals: 8,
    dust: '0.00001',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: false,
    newDestinationCap: '30',
    unexplainedBound: '0.01',
  },
  {
    currency: 'USDC_ARBITRUM',
    asset: 'USDC',
    network: 'arbitrum',
    name: 'USD Coin (Arbitrum One)',
    decimals: 6,
    payDecimals: 6,
    dust: '0.01',
    contract: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: true,
    newDestinationCap: '100000',
    unexplainedBound: '20',
  },
  {
    currency: 'BNB',
    asset: 'BNB',
    network: 'bnb',
    name: 'BNB',
    decimals: 18,
    payDecimals: 6,
    dust: '0.00005',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: evmAddress,
    stable: false,
    newDestinationCap: '100',
    unexplainedBound: '0.05',
  },
  {
    // Receivers that need no tag take any, 0 too; one that does and gets none loses the money.
    currency: 'XRP',
    asset: 'XRP',
    network: 'xrpl',
    name: 'XRP',
    decimals: 6,
    payDecimals: 6,
    dust: '0.001',
    contract: null,
    requiresDestinationTag: true,
    addressRegex: '^(r[1-9A-HJ-NP-Za-km-z]{24,34}|[XT][1-9A-HJ-NP-Za-km-z]{46})$',
    stable: false,
    newDestinationCap: '30000',
    unexplainedBound: '0',
  },
  {
    currency: 'TRX',
    asset: 'TRX',
    network: 'tron',
    name: 'TRON',
    decimals: 6,
    payDecimals: 6,
    dust: '0.1',
    contract: null,
    requiresDestinationTag: false,
    addressRegex: tronAddress,
    stable: false,
    newDestinationCap: '300000',
    unexplainedBound: '100',
  },
  {
    currency: 'USDT_TRC20',
    asset: 'USDT',
    network: 'tron',
    name: 'Tether USD (TRC-20)',
    decimals: 6,
    payDecimals: 6,
    dust: '0.01',
    contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    requiresDestinationTag: false,
    addressRegex: tronAddress,
    stable: true,
    newDestinationCap: '100000',
    unexplainedBound: '20',
  },
];

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
  if (!asset) throw new Error(`No asset '${currency}' in the registry (domain/chains/assets.ts)`);
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
