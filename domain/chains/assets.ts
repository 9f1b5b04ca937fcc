/** The one registry of networks and assets, with the parameters of each. What a new one takes: docs/adding-a-network.md. */

import type { Asset, Currency, EvmNetwork, GasFigures, Network, NetworkId, UtxoNetwork } from './network';
import { fit, toUnits } from '../money';

export type {
  Asset,
  Currency,
  DestinationTags,
  EvmNetwork,
  EvmPrefix,
  Network,
  NetworkId,
  UtxoChain,
  UtxoNetwork,
  UtxoPrefix,
} from './network';

const bitcoinTest = { coinType: 1, bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef } as const;
const litecoinTest = { coinType: 1, pubKeyHash: 0x6f, scriptHash: 0x3a, otherScriptHashes: [0xc4], wif: 0xef } as const;
/** The same words are a key of the dashboard's translations. */
const mweb = 'MWEB addresses cannot be paid: give a usual Litecoin address, which begins with ltc1, L or M';

/** What transfers take where gas is counted as Ethereum counts it. */
const evmGas: GasFigures = {
  native: 21_000n,
  token: 65_000n,
  ceiling: { native: 80_000n, token: 200_000n },
  tokenSettlement: 101_000n,
  batchLimit: { base: 250_000n, each: 90_000n },
  batchEstimate: { base: 60_000n, each: 35_000n },
  delegation: 40_000n,
};

export const networks: Readonly<Record<NetworkId, Network>> = {
  bitcoin: {
    id: 'bitcoin',
    kind: 'utxo',
    name: 'Bitcoin',
    native: 'BTC',
    confirmations: 2,
    reorgWindow: 200,
    blockSeconds: 600,
    headMaxAgeSeconds: 7200,
    headMaxGap: 3,
    confirmLimitSeconds: 14 * 86_400,
    rateHoldBlocks: 12,
    hasMempool: true,
    leastPriceCap: '50',
    uriScheme: 'bitcoin',
    settings: { prefix: 'BTC', node: 'Bitcoin Core or btcd', url: 'http://127.0.0.1:18334' },
    chains: {
      mainnet: {
        ...{ coinType: 0, bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
        explorerTxUrl: 'https://mempool.space/tx/{txId}',
      },
      testnet: {
        ...bitcoinTest,
        faucet: 'https://coinfaucet.eu/en/btc-testnet/',
        explorerTxUrl: 'https://mempool.space/testnet/tx/{txId}',
      },
      testnet4: {
        ...bitcoinTest,
        faucet: 'https://mempool.space/testnet4/faucet',
        explorerTxUrl: 'https://mempool.space/testnet4/tx/{txId}',
      },
      signet: {
        ...bitcoinTest,
        faucet: 'https://signetfaucet.com/',
        explorerTxUrl: 'https://mempool.space/signet/tx/{txId}',
      },
      regtest: { coinType: 1, bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef, isLocal: true },
      simnet: { coinType: 1, bech32: 'sb', pubKeyHash: 0x3f, scriptHash: 0x7b, wif: 0x64, isLocal: true },
    },
    leastPrice: '1',
    sizes: { base: 11, input: 68, output: 31 },
    joining: { maxPrice: 5n, smallCoin: 1_000_000n },
  },
  ethereum: {
    id: 'ethereum',
    kind: 'account',
    name: 'Ethereum',
    native: 'ETH',
    confirmations: 12,
    reorgWindow: 300,
    blockSeconds: 12,
    headMaxAgeSeconds: 180,
    headMaxGap: 15,
    confirmLimitSeconds: 86_400,
    rateHoldBlocks: 100,
    hasMempool: false,
    leastPriceCap: '50000000000',
    uriScheme: 'ethereum',
    settings: { prefix: 'ETH', node: 'an Ethereum node', url: 'http://127.0.0.1:8545' },
    coinType: 60,
    chainId: 1,
    localChainIds: [31337, 1337],
    testChains: {
      11155111: { name: 'Sepolia', faucet: 'https://sepolia-faucet.pk910.de/' },
      560048: { name: 'Hoodi', faucet: 'https://hoodi-faucet.pk910.de/' },
    },
    explorerTxUrls: {
      1: 'https://etherscan.io/tx/{txId}',
      11155111: 'https://sepolia.etherscan.io/tx/{txId}',
      560048: 'https://hoodi.etherscan.io/tx/{txId}',
    },
    balanceEveryBlocks: 5,
    leastTip: '1000000',
    gas: evmGas,
  },
  // Chains: https://github.com/litecoin-project/litecoin, src/chainparams.cpp; coin type: SLIP-44.
  litecoin: {
    id: 'litecoin',
    kind: 'utxo',
    name: 'Litecoin',
    native: 'LTC',
    // A coin that left the extension block can be spent six blocks later, not before.
    confirmations: 6,
    reorgWindow: 600,
    blockSeconds: 150,
    headMaxAgeSeconds: 2700,
    headMaxGap: 6,
    confirmLimitSeconds: 14 * 86_400,
    rateHoldBlocks: 48,
    hasMempool: true,
    leastPriceCap: '200',
    uriScheme: 'litecoin',
    settings: { prefix: 'LTC', node: 'Litecoin Core', url: 'http://127.0.0.1:19443' },
    chains: {
      mainnet: {
        ...{ coinType: 2, bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, otherScriptHashes: [0x05], wif: 0xb0 },
        unpayable: { ltcmweb: mweb },
        explorerTxUrl: 'https://litecoinspace.org/tx/{txId}',
      },
      testnet: {
        ...{ ...litecoinTest, bech32: 'tltc', unpayable: { tmweb: mweb } },
        faucet: 'https://testnet-faucet.com/ltc-testnet/',
        explorerTxUrl: 'https://litecoinspace.org/testnet/tx/{txId}',
      },
      regtest: { ...litecoinTest, bech32: 'rltc', unpayable: { tmweb: mweb }, isLocal: true },
    },
    leastPrice: '1',
    sizes: { base: 11, input: 68, output: 31 },
    joining: { maxPrice: 20n, smallCoin: 10_000_000n },
  },
  // Least tip: https://docs.polygon.technology/tools/gas/polygon-gas-station; chain ids: https://chainid.network
  polygon: {
    id: 'polygon',
    kind: 'account',
    name: 'Polygon PoS',
    native: 'POL',
    addressesOf: 'ethereum',
    confirmations: 128,
    reorgWindow: 1800,
    blockSeconds: 2,
    headMaxAgeSeconds: 90,
    headMaxGap: 45,
    confirmLimitSeconds: 86_400,
    rateHoldBlocks: 600,
    hasMempool: false,
    leastPriceCap: '500000000000',
    uriScheme: 'ethereum',
    settings: { prefix: 'POLYGON', node: 'a Polygon PoS node', url: 'http://127.0.0.1:8547' },
    coinType: 60,
    chainId: 137,
    localChainIds: [31137],
    testChains: { 80002: { name: 'Amoy', faucet: 'https://faucet.polygon.technology/' } },
    explorerTxUrls: {
      137: 'https://polygonscan.com/tx/{txId}',
      80002: 'https://amoy.polygonscan.com/tx/{txId}',
    },
    balanceEveryBlocks: 30,
    leastTip: '25000000000',
    gas: evmGas,
  },
};

const evmAddress = '^0x[0-9a-fA-F]{40}$';
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
  },
];

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
export const evmNetworks = (): EvmNetwork[] => Object.values(networks).filter((network) => network.kind === 'account');

/** The asset of a ticker, or undefined where the registry has none. */
export const findAsset = (currency: Currency): Asset | undefined => assets.find((asset) => asset.currency === currency);

/** The asset of a ticker that is known to exist. Throws where the registry has none: a programming error. */
export function assetOf(currency: Currency): Asset {
  const asset = findAsset(currency);
  if (!asset) throw new Error(`No asset '${currency}' in the registry (domain/chains/assets.ts)`);
  return asset;
}

export const networkOf = (currency: Currency): Network => networks[assetOf(currency).network];
export const isToken = (currency: Currency): boolean => assetOf(currency).contract !== null;

/** Which chain of each network this deployment runs on; comes from configuration. */
export type ChainSettings = Readonly<{
  /** UTXO networks: the name of one of its `chains`. */
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
