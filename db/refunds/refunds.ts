import { trim } from '../../domain/money';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { isByLightning } from '../../domain/lightning/currency';
import {
  viewRefund,
  type RefundEventType,
  type RefundRow,
  type RefundStatus,
  type ShownRefund,
} from '../../domain/refunds/refund';
import { chargedGasSql } from '../ledger/ledger';
import type { Queryable } from '../query';
import { emitRecordEvent, moveRecord, pageOfRecords, type Patch } from '../records';
import { requestSignal } from '../temporal/temporal-requests';
import { isDelayedSql } from '../txmanager/intents';
import { type RefundBy } from '../../domain/refunds/refund';
import { workflowIds } from '../../domain/workflow-ids';

/** What a refund holds in the ledger. */
export const holdOf = (row: RefundRow) => ({
  kind: 'refund' as const,
  id: row.id,
  merchantId: row.merchant_id,
  currency: row.currency,
  gross: row.gross_amount,
});

/** The refunds with these ids, as far as they exist, locked until the transaction ends. Lock order: payment, refund,
 *  intent, wallet. */
const lockRefunds = (tx: EntityManager, ids: readonly string[]): Promise<RefundRow[]> =>
  tx.query<RefundRow[]>('SELECT * FROM refund WHERE id = ANY($1) ORDER BY id FOR UPDATE', [ids]);

/** One of them; null where there is none. */
export const lockRefund = async (tx: EntityManager, id: string): Promise<RefundRow | null> =>
  (await lockRefunds(tx, [id]))[0] ?? null;

type RefundPatch = Patch<
  RefundRow,
  | 'address'
  | 'destination_tag'
  | 'claimed_at'
  | 'tx_id'
  | 'merchant_message'
  | 'asked_by'
  | 'approved_by'
  | 'approved_at'
  | 'completed_at'
>;

/** As `moveRecord`. */
export const moveRefund = (
  tx: EntityManager,
  row: RefundRow,
  to: RefundStatus,
  patch: RefundPatch = {},
): Promise<RefundRow> => moveRecord(tx, 'refund', row, to, patch);

const chargedGas = `${chargedGasSql('refund', 'refund.id')} AS charged_gas`;

/** As `emitRecordEvent`. */
export async function emitRefundEvent(
  tx: EntityManager,
  row: RefundRow,
  type: RefundEventType,
  before?: RefundStatus,
): Promise<string> {
  const [now] = await tx.query<Array<Pick<ShownRefund, 'charged_gas'>>>(
    `SELECT ${chargedGas} FROM refund WHERE id = $1`,
    [row.id],
  );
  return emitRecordEvent(tx, row, type, (livemode) => viewRefund({ ...row, ...now }, livemode), before);
}

/** Asks for the workflow that sends it. What goes by Lightning has none: the signer looks for its row. */
export async function requestRefund(tx: EntityManager, row: RefundRow): Promise<void> {
  if (isByLightning(row.currency)) return;
  await requestSignal(tx, {
    workflow: 'refund',
    workflowId: workflowIds.refund(row.id),
    args: [row.id],
    signal: 'updated',
    attributes: {
      MerchantId: row.merchant_id,
      Currency: row.currency,
      Network: row.network,
      PaymentId: row.payment_id,
      summary: `Refund of ${trim(row.net_amount)} ${row.currency} for payment ${row.payment_id}`,
    },
  });
}

/** One person is one person, by a page or by a key. */
export const personOf = (by: RefundBy): string | null =>
  'userId' in by ? by.userId : 'keyId' in by ? by.madeBy : null;
/** Refunds, locked after their payments. */
export async function lockRefundsWithPayments(tx: EntityManager, ids: readonly string[]): Promise<RefundRow[]> {
  await tx.query(
    `SELECT FROM payment WHERE id = ANY(ARRAY(SELECT payment_id FROM refund WHERE id = ANY($1)))
      ORDER BY id FOR UPDATE`,
    [ids],
  );
  return lockRefunds(tx, ids);
}
/** One of them; null where there is none. */
export const lockRefundWithPayment = async (tx: EntityManager, id: string): Promise<RefundRow | null> =>
  (await lockRefundsWithPayments(tx, [id]))[0] ?? null;

/** The merchant's refund, locked with its payment. Throws REFUND_NOT_FOUND: unknown and foreign are the same. */
export async function lockOwnRefund(tx: EntityManager, merchantId: string, id: string): Promise<RefundRow> {
  const row = await lockRefundWithPayment(tx, id);
  if (!row || row.merchant_id !== merchantId) throw new DomainError('REFUND_NOT_FOUND');
  return row;
}

/** `replayed`: it was done before, and nothing was done now. */
export type Changed = Readonly<{ row: RefundRow; replayed: boolean }>;

/** With what was charged beside it, and what keeps it from being signed: its own payment, or the gas for it. */
export const shown = `refund.*, ${chargedGas}, (SELECT i.waits_for FROM intent i
  WHERE i.owner_kind = 'refund' AND i.owner_id = refund.id AND i.status = 'planned' AND i.waits_for IS NOT NULL
  ORDER BY i.id DESC LIMIT 1) AS waits_for`;

export type RefundFilter = Readonly<{
  paymentId?: string;
  status?: RefundStatus;
  /** Only those that are delayed before they are signed. */
  isDelayed?: boolean;
  currency?: string;
  dateFrom?: Date;
  dateTo?: Date;
}>;

/** One page of a merchant's refunds, newest first, and how many there are in all. */
export async function listRefunds(
  db: Queryable,
  merchantId: string,
  filter: RefundFilter,
  page: Readonly<{ page: number; limit: number }>,
): Promise<{ items: ShownRefund[]; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR payment_id = $2) AND ($3::text IS NULL OR status = $3)
    AND ($4::text IS NULL OR currency = $4) AND ($5::timestamptz IS NULL OR created_at >= $5)
      AND ($6::timestamptz IS NULL OR created_at < $6)
    ${filter.isDelayed ? `AND status = 'pending' AND ${isDelayedSql('refund', 'refund.id')}` : ''}`;
  const values = [
    merchantId,
    filter.paymentId,
    filter.status,
    filter.currency?.toUpperCase(),
    filter.dateFrom,
    filter.dateTo,
  ];
  return pageOfRecords(db, { select: shown, from: 'refund', where }, values, page);
}

export async function readRefund(db: Queryable, merchantId: string, id: string): Promise<ShownRefund | null> {
  const [row] = await db.query<ShownRefund[]>(`SELECT ${shown} FROM refund WHERE id = $1 AND merchant_id = $2`, [
    id,
    merchantId,
  ]);
  return row ?? null;
}

/** A merchant's refunds in one of these statuses, oldest first. */
export const unsignedRefunds = async (
  tx: EntityManager,
  merchantId: string,
  statuses: readonly RefundStatus[],
): Promise<string[]> =>
  (
    await tx.query<Array<{ id: string }>>(
      'SELECT id FROM refund WHERE merchant_id = $1 AND status = ANY($2) ORDER BY id',
      [merchantId, statuses],
    )
  ).map((row) => row.id);
