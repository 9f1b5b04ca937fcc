import type { XrplChain } from '../../chains/xrpl/chain';
import { networks, type ExpiringNetwork } from '../../domain/chains/assets';

/** Networks whose transactions expire, as the registry has them. */

export const xrplNetwork = networks.xrpl as ExpiringNetwork;
export const xrplChains = xrplNetwork.chains as Readonly<Record<'mainnet' | 'testnet' | 'simulator', XrplChain>>;
export const tronNetwork = networks.tron as ExpiringNetwork;
/** Which chain of each this is. */
export const simulated = { XRPL_NETWORK: 'simulator', TRON_NETWORK: 'simulator' } as const;

/** TRON, on a simulator with this first block. */
export function tronFrom(genesis: string): ExpiringNetwork {
  const { simulator } = tronNetwork.chains;
  return { ...tronNetwork, chains: { simulator: { ...simulator!, genesis } as NonNullable<typeof simulator> } };
}
