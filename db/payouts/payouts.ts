import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Destination } from '../../domain/chains/tags';
import { releaseJournal } from '../../domain/ledger/ledger';
import { fit } from '../../domain/money';
import {
  lineStatuses,
  payoutWindow,
  viewLine,
  type BatchRow,
  type BatchStatus,
  type LineCounts,
  type PayoutLineRow,
  type LineStatus,
  type ShownLine,
} from '../../domain/payouts/payout';
import { captureOrReleaseAll, returnGas } from '../ledger/ledger';
import { emitEvents } from '../webhooks/events';
import { isDelayedSql, type IntentRow } from '../txmanager/intents';
import { type Queryable, changedRows, prepared } from '../query';
import { requestSignal } from '../temporal/temporal-requests';
import { workflowIds } from '../../domain/workflow-ids';

export const keyOf = (currency: string, address: string, tag: string | null): string =>
  JSON.stringify([currency, address, tag]);

/** What a line holds in the ledger; in the account statement it is of its batch. */
export const holdOfLine = (line: PayoutLineRow) => ({
  kind: 'leg' as const,
  id: line.id,
  merchantId: line.merchant_id,
  currency: line.currency,
  gross: fit(line.amount, 18, 'down'),
  sourceId: line.batch_id,
});
/** Balances are locked currency by currency, always in the same order. */
export const byCurrency = (lines: readonly PayoutLineRow[]): PayoutLineRow[] =>
  lines.toSorted((a, b) => (a.currency === b.currency ? a.row_index - b.row_index : a.currency < b.currency ? -1 : 1));

/** J7 of lines that nothing will be sent for: what they held is back in the balance. */
export async function releaseLines(tx: EntityManager, lines: readonly PayoutLineRow[]): Promise<void> {
  const holds = byCurrency(lines).map(holdOfLine);
  await captureOrReleaseAll(tx, holds.map(releaseJournal));
  await returnGas(tx, holds);
}

/** Asks for the workflow that sends the lines of a batch on chains. What goes by Lightning has none: the signer looks
 *  for its rows. */
export async function requestPayout(tx: EntityManager, row: BatchRow): Promise<void> {
  const onChains = `SELECT FROM payout_leg WHERE batch_id = $1 AND currency <> 'BTC_LN' LIMIT 1`;
  if (!(await tx.query<unknown[]>(onChains, [row.id])).length) return;
  await requestSignal(tx, {
    workflow: 'payoutBatch',
    workflowId: workflowIds.payoutBatch(row.id),
    args: [row.id],
    signal: 'updated',
    attributes: { MerchantId: row.merchant_id, summary: `Mass payout of ${row.row_count} payments` },
  });
}

export const countsOf = (rows: ReadonlyArray<{ status: LineStatus; n: number }>): LineCounts => ({
  ...(Object.fromEntries(lineStatuses.map((status) => [status, 0])) as LineCounts),
  ...Object.fromEntries(rows.map(({ status, n }) => [status, n])),
});
export async function countLines(db: Queryable, batchId: string): Promise<LineCounts> {
  return countsOf(
    await db.query('SELECT status, count(*)::int AS n FROM payout_leg WHERE batch_id = $1 GROUP BY status', [batchId]),
  );
}

/** The batch, locked until the transaction ends; null where there is none. Whoever changes a line holds this lock:
 *  signing and cancelling exclude each other. Lock order: batch, intent, wallet. */
export const lockBatch = async (tx: EntityManager, id: string): Promise<BatchRow | null> =>
  (await lockBatches(tx, [id]))[0] ?? null;

/** The batches with these ids, as far as they exist, locked as `lockBatch` does. */
export const lockBatches = (tx: EntityManager, ids: readonly string[]): Promise<BatchRow[]> =>
  prepared(tx, 'lock-batches').query<BatchRow[]>(
    `SELECT id, merchant_id, status, state_version, label, idempotency_key, rows_hash, row_count, totals, fees,
            created_by, created_by_id, needs_second_person, approved_by, approved_by_id, approved_at, sent_at,
            cancelled_at, completed_at, created_at, updated_at
       FROM payout_batch WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
    [ids],
  );

export const linesOf = (
  tx: Queryable,
  batchId: string,
  statuses: readonly LineStatus[] = lineStatuses,
): Promise<PayoutLineRow[]> =>
  tx.query<PayoutLineRow[]>('SELECT * FROM payout_leg WHERE batch_id = $1 AND status = ANY($2) ORDER BY row_index', [
    batchId,
    statuses,
  ]);

/** With what keeps it from being signed. */
const shownLine = `l.*,
  (SELECT i.waits_for FROM intent i WHERE i.id = l.intent_id AND i.status = 'planned') AS waits_for`;

/** Every line of a batch as it is shown. */
export const shownLinesOf = (db: Queryable, batchId: string): Promise<ShownLine[]> =>
  db.query<ShownLine[]>(`SELECT ${shownLine} FROM payout_leg l WHERE l.batch_id = $1 ORDER BY l.row_index`, [batchId]);

/** Lines of these batches that these intents pay, in the order of the rows. */
export const linesPaidBy = (
  tx: EntityManager,
  batchIds: readonly string[],
  intentIds: readonly string[],
): Promise<PayoutLineRow[]> =>
  prepared(tx, 'lines-paid-by').query<PayoutLineRow[]>(
    `SELECT id, batch_id, merchant_id, row_index, currency, network, address, destination_tag, amount, network_fee,
            added_fee, net_amount, status, state_version, intent_id, tx_id, merchant_message, updated_at
       FROM payout_leg WHERE batch_id = ANY($1) AND intent_id = ANY($2::bigint[]) ORDER BY batch_id, row_index`,
    [batchIds, intentIds],
  );

/** Lines that an intent would pay. */
export const pendingLinesOf = (tx: Queryable, intentId: string): Promise<PayoutLineRow[]> =>
  tx.query<PayoutLineRow[]>(`SELECT * FROM payout_leg WHERE intent_id = $1 AND status = 'pending' ORDER BY row_index`, [
    intentId,
  ]);

export type SignedTransfer = Readonly<{
  intent_id: string;
  leg_id: string;
  tx_id: string;
  raw: string;
  nonce: number;
  unit_price: string;
  data_part: string;
  max_fee_units: string;
  moved_units: string;
  outputs: ReadonlyArray<Destination & { units: string }>;
}>;

/** Keeps signed transfers with nonces in a row: attempts, wallet, intents and lines, or nothing. */
export const storeSigned = (
  tx: EntityManager,
  of: Readonly<{ network: string; from_address: string }>,
  rows: readonly SignedTransfer[],
): Promise<unknown> =>
  prepared(tx, 'store-payout-signatures').query('SELECT store_payout_signatures($1, $2, $3)', [
    of.network,
    of.from_address,
    JSON.stringify(rows),
  ]);

/** SQL: of an intent `i`, that it is signed and in no block. Transactions of coins have no window. */
const isAhead = `i.kind = 'leg' AND i.status IN ('stored', 'sent') AND cardinality(i.deposit_ids) = 0`;

/** `ahead`: so many of its wallet are signed and in no block. */
export type Unsigned = Pick<IntentRow, 'id' | 'kind' | 'network' | 'currency' | 'from_address'> &
  Readonly<{ ahead: number }>;

/** What is planned of a batch and can be signed now: tokens wait until the gas that was planned for them is in the
 *  chain, transfers until there is room in the window of their wallet, and where transactions expire a wallet has one
 *  that is not done at a time. `network`: on it alone. `inTurn`: with what waits for that of another owner, which takes
 *  its place in the queue where the signer is asked. */
export const unsignedOf = (
  tx: Queryable,
  batchId: string,
  { network, inTurn = false }: Readonly<{ network?: string | undefined; inTurn?: boolean }> = {},
): Promise<Unsigned[]> =>
  tx.query(
    `WITH own AS MATERIALIZED (
       SELECT * FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND network = coalesce($3, network)),
     gas AS (
       SELECT g.network, g.currency, g.status, g.id, g.outputs->0->>'address' AS receiver,
              lead(g.id) OVER (PARTITION BY g.network, g.outputs->0->>'address' ORDER BY g.id) AS next
         FROM own g WHERE g.kind = 'gas' AND g.status <> 'dead'),
     wallet AS (SELECT i.network, i.from_address, count(*)::int AS ahead FROM own i WHERE ${isAhead} GROUP BY 1, 2)
     SELECT i.id, i.kind, i.network, i.currency, i.from_address, coalesce(w.ahead, 0) AS ahead
       FROM own i LEFT JOIN wallet w ON w.network = i.network AND w.from_address = i.from_address
      WHERE i.status = 'planned' AND (i.kind <> 'leg' OR coalesce(w.ahead, 0) < $4) AND NOT EXISTS (
       SELECT FROM gas g WHERE g.status IN ('planned', 'stored', 'sent') AND g.id < i.id
          AND (g.next IS NULL OR g.next > i.id)
          AND i.kind <> 'gas' AND i.network = g.network AND i.currency <> g.currency AND i.from_address = g.receiver)
        AND NOT EXISTS (
          SELECT FROM attempt a JOIN intent o ON o.id = a.intent_id
           WHERE a.network = i.network AND a.from_address = i.from_address
             AND a.valid_from_height IS NOT NULL AND a.status IN ('stored', 'sent', 'mined') AND NOT a.is_restored
             AND (a.status <> 'mined' OR a.differs_at IS NULL)
             AND (NOT $2::boolean OR (o.owner_kind = i.owner_kind AND o.owner_id = i.owner_id)))
      ORDER BY i.id`,
    [batchId, inTurn, network ?? null, payoutWindow],
  );

/** How many transfers of a batch from one wallet are signed and in no block. */
export async function countAhead(
  tx: EntityManager,
  batchId: string,
  { network, from_address }: Pick<IntentRow, 'network' | 'from_address'>,
): Promise<number> {
  const [row] = await tx.query<Array<{ n: number }>>(
    `SELECT count(*)::int AS n FROM intent i WHERE i.owner_kind = 'payout-batch' AND i.owner_id = $1
        AND i.network = $2 AND i.from_address = $3 AND ${isAhead}`,
    [batchId, network, from_address],
  );
  return row!.n;
}

/** The networks that lines of a batch go out on. Lightning is none. */
export const networksOf = async (db: Queryable, batchId: string): Promise<NetworkId[]> =>
  (
    await db.query<Array<{ network: NetworkId }>>(
      `SELECT DISTINCT network FROM payout_leg WHERE batch_id = $1 AND currency <> 'BTC_LN' ORDER BY network`,
      [batchId],
    )
  ).map(({ network }) => network);

/** The one way lines change: together, each one version further. Journals and events are the caller's, who holds the
 *  batch's lock. Throws where one of them is no longer as it was read. */
export async function moveLines(
  tx: EntityManager,
  lines: readonly PayoutLineRow[],
  to: LineStatus,
  patch: Partial<Pick<PayoutLineRow, 'tx_id' | 'merchant_message' | 'intent_id'>> = {},
): Promise<PayoutLineRow[]> {
  if (!lines.length) return [];
  const columns = Object.keys(patch) as Array<keyof typeof patch>;
  const rows = await changedRows<PayoutLineRow>(
    tx,
    `UPDATE payout_leg l SET status = $3, state_version = l.state_version + 1, updated_at = clock_timestamp()
            ${columns.map((column, index) => `, ${column} = $${index + 4}`).join('')}
       FROM unnest($1::text[], $2::text[]) AS was (id, status) WHERE l.id = was.id AND l.status = was.status
         RETURNING l.*`,
    [lines.map((line) => line.id), lines.map((line) => line.status), to, ...columns.map((column) => patch[column])],
  );
  if (rows.length !== lines.length) throw new Error(`Lines of payout ${lines[0]!.batch_id} have changed meanwhile`);
  return rows;
}

/** Enqueues an event per line. Call last in the transaction, before the batch's own. */
export const emitLineEvents = (
  tx: EntityManager,
  lines: readonly PayoutLineRow[],
  type: 'mass_payout.leg_completed' | 'mass_payout.leg_failed',
): Promise<void> =>
  emitEvents(
    tx,
    lines.map((line) => ({
      merchantId: line.merchant_id,
      type,
      entityId: line.id,
      stateVersion: line.state_version,
      data: JSON.stringify({ ...viewLine(line), massPayoutId: line.batch_id }),
      previous: {},
      follows: line.batch_id,
    })),
  );

/** `isDelayed`: only those of which something is delayed before it is signed. */
export type BatchFilter = Readonly<{ status?: BatchStatus; isDelayed?: boolean; dateFrom?: Date; dateTo?: Date }>;
type Page = Readonly<{ page: number; limit: number }>;

/** One page of a merchant's batches, newest first, and how many there are in all. */
export async function listBatches(
  db: Queryable,
  merchantId: string,
  filter: BatchFilter,
  page: Page,
): Promise<{ items: Array<{ row: BatchRow; counts: LineCounts }>; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR status = $2)
    AND ($3::timestamptz IS NULL OR created_at >= $3)
    AND ($4::timestamptz IS NULL OR created_at < $4)
    ${filter.isDelayed ? `AND b.status IN ('queued', 'processing') AND ${isDelayedSql('payout-batch', 'b.id')}` : ''}`;
  const values = [merchantId, filter.status, filter.dateFrom, filter.dateTo];
  const rows = await db.query<Array<BatchRow & { line_counts: Array<{ status: LineStatus; n: number }> }>>(
    `SELECT b.*, (SELECT jsonb_agg(c) FROM (SELECT status, count(*) AS n FROM payout_leg l WHERE l.batch_id = b.id
       GROUP BY status) c) AS line_counts
       FROM payout_batch b WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`,
    [...values, page.limit, (page.page - 1) * page.limit],
  );
  const [counted] = await db.query<Array<{ n: number }>>(
    `SELECT count(*)::int AS n FROM payout_batch b WHERE ${where}`,
    values,
  );
  return { items: rows.map((row) => ({ row, counts: countsOf(row.line_counts) })), total: counted!.n };
}

/** A batch of the merchant; null where there is none. */
export async function readBatch(db: Queryable, merchantId: string, id: string): Promise<BatchRow | null> {
  const [row] = await db.query<BatchRow[]>('SELECT * FROM payout_batch WHERE id = $1 AND merchant_id = $2', [
    id,
    merchantId,
  ]);
  return row ?? null;
}

/** One page of a batch's lines in the order of its rows, and how many there are in all. */
export async function pageOfLines(
  db: Queryable,
  batchId: string,
  status: LineStatus | undefined,
  page: Page,
): Promise<{ items: ShownLine[]; total: number }> {
  const statuses: readonly LineStatus[] = status === undefined ? lineStatuses : [status];
  const items = await db.query<ShownLine[]>(
    `SELECT ${shownLine} FROM payout_leg l
      WHERE batch_id = $1 AND status = ANY($2) ORDER BY row_index LIMIT $3 OFFSET $4`,
    [batchId, statuses, page.limit, (page.page - 1) * page.limit],
  );
  const counts = await countLines(db, batchId);
  return { items, total: statuses.reduce((sum, one) => sum + counts[one], 0) };
}

/** A merchant's mass payouts with a line that is not signed, oldest first. */
export const unsignedBatches = async (tx: EntityManager, merchantId: string): Promise<string[]> =>
  (
    await tx.query<Array<{ id: string }>>(
      `SELECT b.id FROM payout_batch b WHERE b.merchant_id = $1
          AND EXISTS (SELECT FROM payout_leg l WHERE l.batch_id = b.id AND l.status = 'pending') ORDER BY b.id`,
      [merchantId],
    )
  ).map((row) => row.id);
