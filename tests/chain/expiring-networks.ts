import { xrplChains } from '../../chains/xrpl/chain';
import { assets, networks, type Asset, type EvmNetwork, type ExpiringNetwork } from '../../domain/chains/assets';
import type { NetworkId } from '../../domain/chains/network';
import { usdt } from './tron-vectors';

/** Networks whose transactions expire, with their coins, as the registry would have them: it has none yet. */

const { settings, confirmLimitSeconds } = networks.ethereum as EvmNetwork;
const ether = assets.find(({ currency }) => currency === 'ETH')!;
const six = { ...ether, decimals: 6, payDecimals: 6, dust: '0.00001', newDestinationCap: '1000000' };

/** Its node is set by the variables of Ethereum's: those of its own prefix come with the registry. */
const common = {
  kind: 'account',
  settings: settings as never,
  confirmLimitSeconds,
  reorgWindow: 200,
  headMaxAgeSeconds: 60,
  rateHoldBlocks: 300,
  hasMempool: false,
  balanceEveryBlocks: 20,
  isLocal: true,
} as const;

export const xrplNetwork: ExpiringNetwork = {
  ...common,
  id: 'xrpl' as NetworkId,
  name: 'XRP Ledger',
  native: 'XRP',
  confirmations: 1,
  blockSeconds: 4,
  headMaxGap: 10,
  // A fee is burnt exactly as it is signed: 10 drops on a quiet day, 5,000 when everybody is in haste.
  leastPriceCap: '5000',
  mostPrice: '100000',
  uriScheme: 'xrpl',
  destinationTags: { largest: '4294967295' },
  expiring: { family: 'xrpl', ...xrplChains.local },
  hasReserve: true,
  addressForm: 'begins with r',
  work: {
    ...{ native: 1n, token: 1n, ceiling: { native: 1n, token: 1n }, tokenSettlement: 1n },
    ...{ marginPercent: 0n, topUpReserve: '2' },
  },
};
export const xrp: Asset = {
  ...six,
  ...{ currency: 'XRP', asset: 'XRP', network: xrplNetwork.id, name: 'XRP', contract: null },
  ...{ requiresDestinationTag: false, addressRegex: '^r[1-9A-HJ-NP-Za-km-z]{24,34}$' },
};

/** Work is energy. What bandwidth burns counts as so much of it that it is paid for at the price of energy. */
export const tronNetwork: ExpiringNetwork = {
  ...common,
  id: 'tron' as NetworkId,
  name: 'TRON',
  native: 'TRX',
  confirmations: 20,
  blockSeconds: 3,
  headMaxGap: 20,
  // What an energy cost before it was made cheaper by vote.
  leastPriceCap: '420',
  mostPrice: '1000',
  uriScheme: 'tron',
  expiring: { family: 'tron', genesis: '0'.repeat(64), feeLimitCeiling: 50_000_000n },
  addressForm: 'begins with T',
  work: {
    ...{ native: 3500n, token: 81_000n, ceiling: { native: 16_000n, token: 300_000n }, tokenSettlement: 96_000n },
    // What is brought beside it and not burned stays on the address.
    ...{ marginPercent: 0n, topUpReserve: '1.02' },
  },
};
export const trx: Asset = {
  ...six,
  ...{ currency: 'TRX', asset: 'TRX', network: tronNetwork.id, name: 'TRON', contract: null },
  ...{ addressRegex: '^T[1-9A-HJ-NP-Za-km-z]{33}$' },
};
export const tether: Asset = {
  ...trx,
  ...{ currency: 'USDT_TRC20', asset: 'USDT', name: 'Tether USD (TRC-20)', contract: usdt, stable: true },
};
