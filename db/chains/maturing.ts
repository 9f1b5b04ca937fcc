import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import { changedCount } from '../query';
import { tellOwners } from './notify';

export type Maturing = {
  id: string;
  tx_id: string;
  out_index: number;
  address: string;
  role: 'deposit' | 'treasury' | 'gas';
  currency: string | null;
  amount: string;
  block_hash: string;
  height: number;
  home: string | null;
  found_by: 'transfer' | 'balance';
};
/** Deposits that have just become deep enough. */

export const maturingDeposits = (tx: EntityManager, network: NetworkId, height: number): Promise<Maturing[]> =>
  tx.query<Maturing[]>(
    `SELECT id, tx_id, out_index, address, role, currency, amount::text, block_hash, height::int AS height, home, found_by
       FROM deposit
      WHERE network = $1 AND status = 'mined' AND height <= $2 ORDER BY height, id LIMIT 500`,
    [network, height],
  );
/** A deposit that was verified in the block it was stored with. `amount`: what really arrived; '0' makes it void. */

export async function confirmDeposit(tx: EntityManager, deposit: Maturing, amount: string): Promise<boolean> {
  const count = await changedCount(
    tx,
    `UPDATE deposit SET status = CASE WHEN $3::numeric = 0 AND stated_amount > 0 THEN 'void' ELSE 'confirmed' END, amount = $3, confirmed_at = clock_timestamp()
      WHERE id = $1 AND status = 'mined' AND block_hash = $2`,
    [deposit.id, deposit.block_hash, amount],
  );
  if (count === 1) await tellOwners(tx, [deposit.id]);
  return count === 1;
}
