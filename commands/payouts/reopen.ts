import type { EntityManager } from 'typeorm';
import { refreshBatch } from './refresh';
import { reopenHold } from '../../db/ledger/ledger';
import { lockBatch, linesOf, byCurrency, holdOfLine, moveLines } from '../../db/payouts/payouts';
import type { PayoutLineRow } from '../../domain/payouts/payout';

/** A reorganisation takes the blocks above `height`: lines whose transactions had ended there, completed or reverted,
 *  are on their way again, and their ends in the ledger are reversed. A line whose money came back and is spent stays
 *  failed. Call before the transactions themselves are put back. Invariants: 5, step 6. */
export async function reopenLines(tx: EntityManager, network: string, height: number): Promise<void> {
  const gone = await tx.query<Array<{ batch_id: string; intent_ids: string[] }>>(
    `SELECT l.batch_id, array_agg(DISTINCT l.intent_id::text) AS intent_ids
       FROM attempt a JOIN intent i ON i.id = a.intent_id AND i.kind = 'leg' JOIN payout_leg l ON l.intent_id = i.id
      WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' AND l.status IN ('completed', 'failed') GROUP BY 1
        ORDER BY 1`,
    [network, height],
  );
  for (const { batch_id, intent_ids } of gone) {
    const batch = (await lockBatch(tx, batch_id))!;
    const ended = (await linesOf(tx, batch_id, ['completed', 'failed'])).filter((line) =>
      intent_ids.includes(line.intent_id ?? ''),
    );
    const reopened: PayoutLineRow[] = [];
    for (const line of byCurrency(ended)) if (await reopenHold(tx, holdOfLine(line))) reopened.push(line);
    if (!reopened.length) continue;
    await moveLines(tx, reopened, 'broadcast', { merchant_message: null });
    await refreshBatch(tx, batch);
  }
}
