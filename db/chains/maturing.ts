import type { EntityManager } from 'typeorm';
import { type NetworkId, assetOf } from '../../domain/chains/assets';
import { subtract, fromUnits, compare } from '../../domain/money';
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
};
/** Deposits that have just become deep enough. */

export const maturingDeposits = (tx: EntityManager, network: NetworkId, height: number): Promise<Maturing[]> =>
  tx.query<Maturing[]>(
    `SELECT id, tx_id, out_index, address, role, currency, amount::text, block_hash, height::int AS height, home FROM deposit
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
/** What the ledger expects on an address: deposits that stand, less what final transactions of ours took. Decimal string. */

export async function expectedHolding(
  tx: EntityManager,
  network: NetworkId,
  address: string,
  currency: string,
  exceptDepositId: string,
): Promise<string> {
  const [row] = await tx.query<Array<{ arrived: string; units: string }>>(
    `SELECT coalesce((SELECT sum(amount) FROM deposit WHERE network = $1 AND address = $2 AND currency = $3 AND status IN ('mined', 'confirmed') AND id <> $4), 0)::text AS arrived,
            (coalesce((SELECT sum(a.moved_units) FROM attempt a JOIN intent i ON i.id = a.intent_id
                       WHERE a.network = $1 AND a.from_address = $2 AND i.currency = $3 AND a.status IN ('mined', 'final') AND a.success IS DISTINCT FROM false), 0)
            + coalesce((SELECT sum(c.units) FROM attempt_account c JOIN attempt a ON a.id = c.attempt_id JOIN intent i ON i.id = a.intent_id
                       WHERE c.network = $1 AND c.address = $2 AND i.currency = $3 AND a.status IN ('mined', 'final') AND a.success IS DISTINCT FROM false), 0))::text AS units`,
    [network, address, currency, exceptDepositId],
  );
  const left = subtract(row!.arrived, fromUnits(BigInt(row!.units), assetOf(currency).decimals));
  return compare(left, '0') > 0 ? left : '0';
}
