import type { EntityManager } from 'typeorm';
import type { Destination } from '../../domain/chains/tags';
import { fit } from '../../domain/money';
import {
  legStatuses,
  viewLeg,
  type BatchRow,
  type BatchStatus,
  type LegCounts,
  type LegRow,
  type LegStatus,
  type ShownLeg,
} from '../../domain/payouts/payout';
import { emitEvents } from '../webhooks/events';
import { isHeldSql, type IntentRow } from '../txmanager/intents';
import { type Queryable } from '../pricing/pricing';
import { changedRows } from '../query';
import { requestSignal } from '../temporal/temporal-requests';
import { workflowIds } from '../../domain/workflow-ids';

export const keyOf = (currency: string, address: string, tag: string | null): string =>
  JSON.stringify([currency, address, tag]);

/** What a leg holds in the ledger; in the merchant's book it is of its batch. */
export const holdOfLeg = (leg: LegRow) => ({
  kind: 'leg' as const,
  id: leg.id,
  merchantId: leg.merchant_id,
  currency: leg.currency,
  gross: fit(leg.amount, 18, 'down'),
  sourceId: leg.batch_id,
});
/** Balances are locked currency by currency, always in the same order. */
export const byCurrency = (legs: readonly LegRow[]): LegRow[] =>
  legs.toSorted((a, b) => (a.currency === b.currency ? a.row_index - b.row_index : a.currency < b.currency ? -1 : 1));

export const requestPayout = (tx: EntityManager, row: BatchRow): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'payoutBatch',
    workflowId: workflowIds.payoutBatch(row.id),
    args: [row.id],
    signal: 'updated',
    attributes: { MerchantId: row.merchant_id, summary: `Mass payout of ${row.row_count} payments` },
  });

export const countsOf = (rows: ReadonlyArray<{ status: LegStatus; n: number }>): LegCounts => ({
  ...(Object.fromEntries(legStatuses.map((status) => [status, 0])) as LegCounts),
  ...Object.fromEntries(rows.map(({ status, n }) => [status, n])),
});
export async function countLegs(db: Queryable, batchId: string): Promise<LegCounts> {
  return countsOf(
    await db.query('SELECT status, count(*)::int AS n FROM payout_leg WHERE batch_id = $1 GROUP BY status', [batchId]),
  );
}

/** The batch, locked until the transaction ends; null where there is none. Whoever changes a leg holds this lock:
 *  signing and calling back exclude each other. Lock order: batch, intent, wallet. */
export const lockBatch = async (tx: EntityManager, id: string): Promise<BatchRow | null> =>
  (await lockBatches(tx, [id]))[0] ?? null;

/** Those of these batches that exist, as `lockBatch`. */
export const lockBatches = (tx: EntityManager, ids: readonly string[]): Promise<BatchRow[]> =>
  tx.query<BatchRow[]>('SELECT * FROM payout_batch WHERE id = ANY($1) ORDER BY id FOR UPDATE', [ids]);

export const legsOf = (
  tx: Queryable,
  batchId: string,
  statuses: readonly LegStatus[] = legStatuses,
): Promise<LegRow[]> =>
  tx.query<LegRow[]>('SELECT * FROM payout_leg WHERE batch_id = $1 AND status = ANY($2) ORDER BY row_index', [
    batchId,
    statuses,
  ]);

/** With what keeps it from being signed. */
const shownLeg = `l.*,
  (SELECT i.waits_for FROM intent i WHERE i.id = l.intent_id AND i.status = 'planned') AS waits_for`;

/** Every line of a batch as it is shown. */
export const shownLegsOf = (db: Queryable, batchId: string): Promise<ShownLeg[]> =>
  db.query<ShownLeg[]>(`SELECT ${shownLeg} FROM payout_leg l WHERE l.batch_id = $1 ORDER BY l.row_index`, [batchId]);

/** Lines of these batches that these intents pay, in the order of the rows. */
export const legsPaidBy = (
  tx: Queryable,
  batchIds: readonly string[],
  intentIds: readonly string[],
): Promise<LegRow[]> =>
  tx.query<LegRow[]>(
    'SELECT * FROM payout_leg WHERE batch_id = ANY($1) AND intent_id = ANY($2::bigint[]) ORDER BY batch_id, row_index',
    [batchIds, intentIds],
  );

/** Lines that an intent would pay. */
export const pendingLegsOf = (tx: Queryable, intentId: string): Promise<LegRow[]> =>
  tx.query<LegRow[]>(`SELECT * FROM payout_leg WHERE intent_id = $1 AND status = 'pending' ORDER BY row_index`, [
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

/** Keeps signed transfers with nonces in a row: attempts, wallet, intents and payments, or nothing. */
export const storeSigned = (
  tx: EntityManager,
  of: Readonly<{ network: string; from_address: string }>,
  rows: readonly SignedTransfer[],
): Promise<unknown> =>
  tx.query('SELECT store_payout_signatures($1, $2, $3)', [of.network, of.from_address, JSON.stringify(rows)]);

/** What is planned of a batch and can be signed now: tokens wait until their gas is in the chain. */
export const unsignedOf = (
  tx: Queryable,
  batchId: string,
): Promise<Array<Pick<IntentRow, 'id' | 'kind' | 'network' | 'currency' | 'from_address'>>> =>
  tx.query(
    `SELECT i.id, i.kind, i.network, i.currency, i.from_address FROM intent i WHERE i.owner_kind = 'payout-batch'
       AND i.owner_id = $1
        AND i.status = 'planned' AND NOT EXISTS (
       SELECT FROM intent g WHERE g.owner_kind = 'payout-batch' AND g.owner_id = $1 AND g.kind = 'gas'
         AND g.status IN ('planned', 'stored', 'sent') AND g.id < i.id
          AND i.kind <> 'gas' AND i.network = g.network AND i.currency <> g.currency
            AND i.from_address = g.outputs->0->>'address') ORDER BY i.id`,
    [batchId],
  );

/** The one way legs change: together, each one version further. Journals and events are the caller's, who holds the
 *  batch's lock. Throws where one of them is no longer as it was read. */
export async function moveLegs(
  tx: EntityManager,
  legs: readonly LegRow[],
  to: LegStatus,
  patch: Partial<Pick<LegRow, 'tx_id' | 'merchant_message' | 'intent_id'>> = {},
): Promise<LegRow[]> {
  if (!legs.length) return [];
  const columns = Object.keys(patch) as Array<keyof typeof patch>;
  const rows = await changedRows<LegRow>(
    tx,
    `UPDATE payout_leg l SET status = $3, state_version = l.state_version + 1, updated_at = clock_timestamp()
            ${columns.map((column, index) => `, ${column} = $${index + 4}`).join('')}
       FROM unnest($1::text[], $2::text[]) AS was (id, status) WHERE l.id = was.id AND l.status = was.status
         RETURNING l.*`,
    [legs.map((leg) => leg.id), legs.map((leg) => leg.status), to, ...columns.map((column) => patch[column])],
  );
  if (rows.length !== legs.length) throw new Error(`Legs of payout ${legs[0]!.batch_id} have changed meanwhile`);
  return rows;
}

/** Enqueues an event per leg. Call last in the transaction, before the batch's own. */
export const announceLegs = (
  tx: EntityManager,
  legs: readonly LegRow[],
  type: 'mass_payout.leg_completed' | 'mass_payout.leg_failed',
): Promise<void> =>
  emitEvents(
    tx,
    legs.map((leg) => ({
      merchantId: leg.merchant_id,
      type,
      entityId: leg.id,
      stateVersion: leg.state_version,
      data: JSON.stringify({ ...viewLeg(leg), massPayoutId: leg.batch_id }),
      previous: {},
      follows: leg.batch_id,
    })),
  );

/** `isHeld`: only those of which something is held before it is signed. */
export type BatchFilter = Readonly<{ status?: BatchStatus; isHeld?: boolean; dateFrom?: Date; dateTo?: Date }>;
type Page = Readonly<{ page: number; limit: number }>;

/** One page of a merchant's batches, newest first, and how many there are in all. */
export async function listBatches(
  db: Queryable,
  merchantId: string,
  filter: BatchFilter,
  page: Page,
): Promise<{ items: Array<{ row: BatchRow; counts: LegCounts }>; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR status = $2)
    AND ($3::timestamptz IS NULL OR created_at >= $3)
    AND ($4::timestamptz IS NULL OR created_at < $4)
    ${filter.isHeld ? `AND b.status IN ('queued', 'processing') AND ${isHeldSql('payout-batch', 'b.id')}` : ''}`;
  const values = [merchantId, filter.status, filter.dateFrom, filter.dateTo];
  const rows = await db.query<Array<BatchRow & { leg_counts: Array<{ status: LegStatus; n: number }> }>>(
    `SELECT b.*, (SELECT jsonb_agg(c) FROM (SELECT status, count(*) AS n FROM payout_leg l WHERE l.batch_id = b.id
       GROUP BY status) c) AS leg_counts
       FROM payout_batch b WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`,
    [...values, page.limit, (page.page - 1) * page.limit],
  );
  const [counted] = await db.query<Array<{ n: number }>>(
    `SELECT count(*)::int AS n FROM payout_batch b WHERE ${where}`,
    values,
  );
  return { items: rows.map((row) => ({ row, counts: countsOf(row.leg_counts) })), total: counted!.n };
}

/** A batch of the merchant; null where there is none. */
export async function readBatch(db: Queryable, merchantId: string, id: string): Promise<BatchRow | null> {
  const [row] = await db.query<BatchRow[]>('SELECT * FROM payout_batch WHERE id = $1 AND merchant_id = $2', [
    id,
    merchantId,
  ]);
  return row ?? null;
}

/** One page of a batch's legs in the order of its rows, and how many there are in all. */
export async function pageOfLegs(
  db: Queryable,
  batchId: string,
  status: LegStatus | undefined,
  page: Page,
): Promise<{ items: ShownLeg[]; total: number }> {
  const statuses: readonly LegStatus[] = status === undefined ? legStatuses : [status];
  const items = await db.query<ShownLeg[]>(
    `SELECT ${shownLeg} FROM payout_leg l
      WHERE batch_id = $1 AND status = ANY($2) ORDER BY row_index LIMIT $3 OFFSET $4`,
    [batchId, statuses, page.limit, (page.page - 1) * page.limit],
  );
  const counts = await countLegs(db, batchId);
  return { items, total: statuses.reduce((sum, one) => sum + counts[one], 0) };
}

/** A merchant's mass payouts with a payment that is not signed, oldest first. */
export const unsignedBatches = async (tx: EntityManager, merchantId: string): Promise<string[]> =>
  (
    await tx.query<Array<{ id: string }>>(
      `SELECT b.id FROM payout_batch b WHERE b.merchant_id = $1
          AND EXISTS (SELECT FROM payout_leg l WHERE l.batch_id = b.id AND l.status = 'pending') ORDER BY b.id`,
      [merchantId],
    )
  ).map((row) => row.id);
