import type { EntityManager } from 'typeorm';
import { postAll } from '../../db/ledger/ledger';
import { byCurrency, countLines, countsOf, holdOfLine, requestPayout } from '../../db/payouts/payouts';
import { changedRows, type Queryable } from '../../db/query';
import { asBalanceError, contentHash } from '../../db/records';
import { assetOf } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { holdJournal } from '../../domain/ledger/ledger';
import { countOutgoing } from '../limits/outbound-check';
import { emitBatchEvent } from './refresh';
import { type Deps, validateRows } from './validate';
import {
  type PayoutRow,
  type BatchRow,
  type PayoutLineRow,
  type LineCounts,
  viewRow,
} from '../../domain/payouts/payout';

export type NewBatch = Readonly<{ rows: readonly PayoutRow[]; label?: string; idempotencyKey?: string }>;
const hashOf = (rows: readonly PayoutRow[]): string =>
  contentHash(rows.map((row) => [row.currency, row.address, row.amount, row.destinationTag ?? null]));

/** The batch that came with this key before; null where there is none. Throws IDEMPOTENCY_KEY_REUSED where its rows
 *  were others. */
export async function findQueued(db: Queryable, merchantId: string, ask: NewBatch): Promise<BatchRow | null> {
  if (ask.idempotencyKey === undefined) return null;
  const [row] = await db.query<BatchRow[]>(
    'SELECT * FROM payout_batch WHERE merchant_id = $1 AND idempotency_key = $2',
    [merchantId, ask.idempotencyKey],
  );
  if (row && row.rows_hash !== hashOf(ask.rows)) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
  return row ?? null;
}

/** Queues a batch: every row or none, with a hold for each, in the caller's transaction. The same key finds the first
 *  one. Throws BATCH_INVALID, INSUFFICIENT_BALANCE, IDEMPOTENCY_KEY_REUSED. */
export async function queueBatch(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  user: Readonly<{ id: string; email: string }>,
  ask: NewBatch,
): Promise<{ row: BatchRow; counts: LineCounts; replayed: boolean }> {
  const first = await findQueued(tx, merchantId, ask);
  if (first) return { row: first, counts: await countLines(tx, first.id), replayed: true };
  const validated = await validateRows(tx, deps, merchantId, ask.rows, true);
  if (!validated.lines.length || validated.lines.length < ask.rows.length)
    throw new DomainError('BATCH_INVALID', undefined, { rows: validated.rows.map(viewRow) });
  if (validated.overBalanceCurrencies.length) throw new DomainError('INSUFFICIENT_BALANCE');
  const id = newId();
  const [row] = await tx.query<BatchRow[]>(
    `INSERT INTO payout_batch (id, merchant_id, status, label, idempotency_key, rows_hash, row_count, totals, fees,
       created_by, created_by_id, needs_second_person)
     VALUES ($1, $2, 'awaiting_approval', $3, $4, $5, $6, $7, $8, $9, $10, true)
     ON CONFLICT (merchant_id, idempotency_key) DO NOTHING RETURNING *`,
    [
      id,
      merchantId,
      ask.label || null,
      ask.idempotencyKey ?? null,
      hashOf(ask.rows),
      ask.rows.length,
      validated.totalsByCurrency,
      validated.feeByCurrency,
      user.email,
      user.id,
    ],
  );
  // Two with one key at once: the other was first.
  if (!row) return queueBatch(tx, deps, merchantId, user, ask);
  const { needsApproval } = await countOutgoing(tx, {
    kind: 'mass_payout',
    ref: id,
    merchantId,
    amounts: Object.entries(validated.totalsByCurrency).map(([currency, amount]) => ({ currency, amount })),
    rateMaxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  const lines = await tx.query<PayoutLineRow[]>(
    `INSERT INTO payout_leg (id, batch_id, merchant_id, row_index, currency, network, address, destination_tag, amount,
       network_fee, net_amount)
     SELECT l.id, $1, $2, l.row_index, l.currency, l.network, l.address, l.destination_tag, l.amount, l.network_fee,
       l.net_amount
       FROM jsonb_to_recordset($3::jsonb) AS l (id char(24), row_index integer, currency text, network text,
         address text, destination_tag text,
         amount numeric, network_fee numeric, net_amount numeric)
     RETURNING *`,
    [
      row.id,
      merchantId,
      JSON.stringify(
        validated.lines.map((line) => ({
          id: newId(),
          row_index: line.rowIndex,
          currency: line.currency,
          network: assetOf(line.currency).network,
          address: line.address,
          destination_tag: line.destinationTag,
          amount: line.amount,
          network_fee: line.networkFee,
          net_amount: line.net,
        })),
      ),
    ],
  );
  await holdLines(tx, lines);
  const counts = countsOf([{ status: 'pending', n: lines.length }]);
  // It is made waiting; what needs nobody else goes on at once.
  const made = needsApproval ? row : await startBatch(tx, row, null);
  await emitBatchEvent(tx, made, counts, 'mass_payout.created');
  return { row: made, counts, replayed: false };
}

/** J5 of each line. Throws INSUFFICIENT_BALANCE. */
async function holdLines(tx: EntityManager, lines: readonly PayoutLineRow[]): Promise<void> {
  const holds = byCurrency(lines).map((line) => holdJournal(holdOfLine(line)));
  await asBalanceError(postAll(tx, holds));
}

/** Starts a batch that waits: from here on its lines may be signed. `by`: who approved it, where it takes a second
 *  person. */
export async function startBatch(
  tx: EntityManager,
  batch: BatchRow,
  by: Readonly<{ id: string; email: string }> | null,
): Promise<BatchRow> {
  const [row] = await changedRows<BatchRow>(
    tx,
    `UPDATE payout_batch SET status = 'queued', approved_by = $3, approved_by_id = $4::text,
            needs_second_person = $4::text IS NOT NULL, approved_at = clock_timestamp(), updated_at = clock_timestamp(),
            state_version = state_version + CASE WHEN $3::text IS NULL THEN 0 ELSE 1 END
      WHERE id = $1 AND status = 'awaiting_approval' AND state_version = $2 RETURNING *`,
    [batch.id, batch.state_version, by?.email ?? null, by?.id ?? null],
  );
  if (!row) throw new Error(`Payout ${batch.id} does not wait for an approval`);
  await requestPayout(tx, row);
  return row;
}
