import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import { resolveUnverified } from '../incidents';
import { changedRows } from '../query';
import { type Cursor, moveCursor } from './cursor';
import { lookAgain } from './found-by-balance';
import { notifyOwners, notifySenders } from './notify';
import { rewindLooks } from './untraced';

/** Goes back to the last block that both we and the chain know; what was above it is orphaned. Returns the journals'
 *  deposits that must be reversed by the caller: own money that had been booked as capital. */
export async function rewind(tx: EntityManager, network: NetworkId, from: Cursor, ancestor: Cursor): Promise<string[]> {
  await moveCursor(tx, network, from, ancestor);
  await tx.query('UPDATE chain_cursor SET head_height = $2 WHERE network = $1', [network, ancestor.height]);
  await tx.query('DELETE FROM chain_block WHERE network = $1 AND height > $2', [network, ancestor.height]);
  await rewindLooks(tx, network, ancestor.height);
  const orphans = await changedRows<{ id: string; allocation: string | null }>(
    tx,
    `UPDATE deposit SET status = 'orphaned', block_hash = NULL, height = NULL, confirmed_at = NULL,
            verify_tries = 0, verify_after = NULL
      WHERE network = $1 AND height > $2 AND status IN ('mined', 'confirmed') RETURNING id, allocation`,
    [network, ancestor.height],
  );
  const orphanIds = orphans.map((row) => row.id);
  await lookAgain(tx, network, orphanIds);
  await resolveUnverified(tx, orphanIds);
  await tx.query(
    'UPDATE deposit SET spent_by_tx = NULL, spent_height = NULL WHERE network = $1 AND spent_height > $2',
    [network, ancestor.height],
  );
  const dropped = await changedRows<{ intent_id: string }>(
    tx,
    `UPDATE attempt SET status = 'sent', block_hash = NULL, height = NULL, success = NULL, fee_units = NULL,
       final_at = NULL, differs_at = NULL, moves = NULL, decision = NULL, decided_by = NULL
      WHERE network = $1 AND height > $2 AND status IN ('mined', 'final') RETURNING intent_id`,
    [network, ancestor.height],
  );
  const intentIds = dropped.map((row) => row.intent_id);
  await tx.query(`UPDATE intent SET status = 'sent', booked = false, updated_at = now() WHERE id = ANY($1::bigint[])`, [
    intentIds,
  ]);
  await notifyOwners(tx, orphanIds);
  const waiting = await tx.query<Array<{ id: string }>>(
    `SELECT id FROM intent WHERE network = $1 AND status NOT IN ('final', 'failed', 'dead')
       AND deposit_ids && $2::bigint[]`,
    [network, orphanIds],
  );
  await notifySenders(tx, [...intentIds, ...waiting.map((row) => row.id)]);
  return orphans.filter((row) => row.allocation === 'capital').map((row) => row.id);
}
