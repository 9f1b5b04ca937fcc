import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import { openIncidentAgain, resolveIncident } from '../incidents';
import { changedCount, changedRows } from '../query';
import { notifyOwners } from './notify';
import type { RowOf } from '../entity';
import type { depositEntity } from '../payments/entities';

export type Maturing = Pick<
  RowOf<typeof depositEntity>,
  'id' | 'tx_id' | 'out_index' | 'address' | 'stated_tag' | 'role' | 'currency' | 'amount' | 'allocation' | 'found_by'
> & { block_hash: string; height: number };
/** Deposits that have just become deep enough, but for those that could not be verified and wait. Those that were not
 *  asked for yet go first: however many cannot be verified, and however slow the node is, they keep nothing back. */
export const maturingDeposits = (tx: EntityManager, network: NetworkId, height: number): Promise<Maturing[]> =>
  tx.query<Maturing[]>(
    `SELECT id, tx_id, out_index, address, stated_tag, role, currency, amount::text, block_hash, height::int AS height,
            allocation, found_by
       FROM deposit
      WHERE network = $1 AND status = 'mined' AND height <= $2 AND coalesce(verify_after <= clock_timestamp(), true)
      ORDER BY verify_after NULLS FIRST, height, id LIMIT 500`,
    [network, height],
  );
/** So often a deposit is asked for before operators are told. */
const triesBeforeIncident = 5;

/** A deposit could not be verified: it is asked for again later, at most ten minutes, and lets others go first. */
export async function noteUnverified(tx: EntityManager, deposit: Maturing, reason: string): Promise<void> {
  const [row] = await changedRows<{ tries: number }>(
    tx,
    `UPDATE deposit SET verify_tries = verify_tries + 1,
            verify_after = clock_timestamp()
              + least(interval '10 minutes', interval '5 seconds' * power(2, verify_tries))
      WHERE id = $1 AND status = 'mined' AND block_hash = $2 RETURNING verify_tries AS tries`,
    [deposit.id, deposit.block_hash],
  );
  if (!row || row.tries < triesBeforeIncident) return;
  const { id, tx_id: txId, block_hash: blockHash, height } = deposit;
  await openIncidentAgain(tx, { ...unverified(id), details: { txId, blockHash, height, reason } });
}

const unverified = (id: string) => ({ kind: 'deposit-unverified', subject: { kind: 'deposit', id } }) as const;

/** A deposit that was verified in the block it was stored with. `amount`: what really arrived; '0' makes it void. */
export async function confirmDeposit(tx: EntityManager, deposit: Maturing, amount: string): Promise<boolean> {
  const count = await changedCount(
    tx,
    `UPDATE deposit SET status = CASE WHEN $3::numeric = 0 AND stated_amount > 0 THEN 'void' ELSE 'confirmed' END,
       amount = $3, confirmed_at = clock_timestamp()
      WHERE id = $1 AND status = 'mined' AND block_hash = $2`,
    [deposit.id, deposit.block_hash, amount],
  );
  if (count === 1) await notifyOwners(tx, [deposit.id]);
  if (count === 1) await resolveIncident(tx, unverified(deposit.id));
  return count === 1;
}
