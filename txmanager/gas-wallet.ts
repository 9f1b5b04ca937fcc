import type { EntityManager } from 'typeorm';
import { gasWallets } from '../db/treasury/gas';
import type { NetworkId } from '../domain/chains/assets';
import { gasWalletOf } from '../domain/treasury/lanes';

/** The gas wallet that is to send `units` to an address of ours: that of its lane, unless it is held up or has too
 *  little. Throws UPSTREAM_UNAVAILABLE before the signer has registered its keys. */
export const gasWalletFor = async (
  tx: EntityManager,
  network: NetworkId,
  toppedUp: string | null,
  units: bigint,
): Promise<string> => gasWalletOf(await gasWallets(tx, network, toppedUp), units)!.address;
