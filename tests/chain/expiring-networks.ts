import type { XrplChain } from '../../chains/xrpl/chain';
import {
  assetOf,
  assets,
  networks,
  type Asset,
  type EvmNetwork,
  type ExpiringNetwork,
} from '../../domain/chains/assets';
import type { NetworkId } from '../../domain/chains/network';
import { usdt } from './tron-vectors';

/** Networks whose transactions expire, with their coins: the XRP Ledger as the registry has it, and TRON as it would. */

export const xrplNetwork = networks.xrpl as ExpiringNetwork;
export const xrplChains = xrplNetwork.chains as Readonly<Record<'mainnet' | 'testnet' | 'simulator', XrplChain>>;
export const xrp: Asset = assetOf('XRP');
/** Which chain of each this is. */
export const simulated = { XRPL_NETWORK: 'simulator' } as const;

const { confirmLimitSeconds } = networks.ethereum as EvmNetwork;
const ether = assets.find(({ currency }) => currency === 'ETH')!;
const six = { ...ether, decimals: 6, payDecimals: 6, dust: '0.00001', newDestinationCap: '1000000' };

/** The chains of TRON, of which the simulator has this first block. */
const chainsFrom = (genesis: string): ExpiringNetwork['chains'] => ({
  simulator: { family: 'tron', genesis, feeLimitCeiling: 50_000_000n, isLocal: true },
});

/** Work is energy. What bandwidth burns counts as so much of it that it is paid for at the price of energy. */
export const tronNetwork: ExpiringNetwork = {
  ...{ kind: 'account', expiring: 'tron', chains: chainsFrom('0'.repeat(64)) },
  // Its node is set by the variables of the XRP Ledger's: those of its own prefix come with the registry.
  settings: xrplNetwork.settings,
  ...{ confirmLimitSeconds, reorgWindow: 200, headMaxAgeSeconds: 60, rateHoldBlocks: 300, hasMempool: false },
  balanceEveryBlocks: 20,
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

/** TRON, on a simulator with this first block. */
export const tronFrom = (genesis: string): ExpiringNetwork => ({ ...tronNetwork, chains: chainsFrom(genesis) });
