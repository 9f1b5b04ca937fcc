import { trim } from '../../domain/money';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { isByLightning } from '../../domain/lightning/currency';
import {
  viewWithdrawal,
  type ShownWithdrawal,
  type WithdrawalEventType,
  type WithdrawalRow,
  type WithdrawalStatus,
} from '../../domain/withdrawals/withdrawal';
import { chargedGasSql } from '../ledger/ledger';
import { databaseNow } from '../payments/payments';
import type { Queryable } from '../query';
import { emitRecordEvent, moveRecord, pageOfRecords, type Patch } from '../records';
import { requestSignal } from '../temporal/temporal-requests';
import { isDelayedSql } from '../txmanager/intents';
import { isWhitelisted } from '../wallets/whitelist';
import { workflowIds } from '../../domain/workflow-ids';

/** What a withdrawal holds in the ledger. */
export const holdOf = (row: WithdrawalRow) => ({
  kind: 'withdrawal' as const,
  id: row.id,
  merchantId: row.merchant_id,
  currency: row.currency,
  gross: row.gross_amount,
});

/** With the depth of its transaction, which counts from the block it is in, what keeps it from being signed, and what
 *  was charged beside it. */
export const shown = `w.*, ${chargedGasSql('withdrawal', 'w.id')} AS charged_gas,
  coalesce((SELECT greatest(0, c.height - a.height + 1)::int FROM attempt a
  JOIN chain_cursor c ON c.network = a.network
  WHERE a.network = w.network AND a.tx_id = w.tx_id AND a.height IS NOT NULL), 0) AS confirmations,
  (SELECT i.waits_for FROM intent i
    WHERE i.kind = 'withdrawal' AND i.ref = w.id AND i.status = 'planned') AS waits_for`;

/** The withdrawals with these ids, as far as they exist, locked until the transaction ends. */
export const lockWithdrawals = (tx: EntityManager, ids: readonly string[]): Promise<WithdrawalRow[]> =>
  tx.query<WithdrawalRow[]>('SELECT * FROM withdrawal WHERE id = ANY($1) ORDER BY id FOR UPDATE', [ids]);

/** One of them; null where there is none. */
export const lockWithdrawal = async (tx: EntityManager, id: string): Promise<WithdrawalRow | null> =>
  (await lockWithdrawals(tx, [id]))[0] ?? null;

type WithdrawalPatch = Patch<
  WithdrawalRow,
  'tx_id' | 'merchant_message' | 'approved_by' | 'approved_by_name' | 'approved_at' | 'broadcast_at' | 'completed_at'
>;

/** As `moveRecord`. */
export const moveWithdrawal = (
  tx: EntityManager,
  row: WithdrawalRow,
  to: WithdrawalStatus,
  patch: WithdrawalPatch = {},
): Promise<WithdrawalRow> => moveRecord(tx, 'withdrawal', row, to, patch);

/** Enqueues an event of a withdrawal as it is now. Call last in the transaction. */
export async function emitWithdrawalEvent(
  tx: EntityManager,
  row: WithdrawalRow,
  type: WithdrawalEventType,
  before?: WithdrawalStatus,
): Promise<void> {
  const [now] = await tx.query<ShownWithdrawal[]>(`SELECT ${shown} FROM withdrawal w WHERE id = $1`, [row.id]);
  await emitRecordEvent(tx, row, type, (livemode) => viewWithdrawal({ ...now!, ...row }, livemode), before);
}

/** Asks for the workflow that sends it. What goes by Lightning has none: the signer looks for its row. */
export async function requestWithdrawal(tx: EntityManager, row: WithdrawalRow): Promise<void> {
  if (isByLightning(row.currency)) return;
  await requestSignal(tx, {
    workflow: 'withdrawal',
    workflowId: workflowIds.withdrawal(row.id),
    args: [row.id],
    signal: 'updated',
    attributes: {
      MerchantId: row.merchant_id,
      Currency: row.currency,
      Network: row.network,
      summary: `Withdrawal of ${trim(row.net_amount)} ${row.currency}`,
    },
  });
}

/** Whether its address may still be paid; the entry stays listed until the transaction ends. */
export const isStillListed = async (tx: EntityManager, row: WithdrawalRow): Promise<boolean> =>
  isWhitelisted(
    tx,
    { merchantId: row.merchant_id, currency: row.currency, address: row.address, destinationTag: row.destination_tag },
    await databaseNow(tx),
  );

/** The merchant's withdrawal, locked. Throws WITHDRAWAL_NOT_FOUND: unknown and foreign are the same. */
export async function lockOwn(tx: EntityManager, merchantId: string, id: string): Promise<WithdrawalRow> {
  const row = await lockWithdrawal(tx, id);
  if (!row || row.merchant_id !== merchantId) throw new DomainError('WITHDRAWAL_NOT_FOUND');
  return row;
}

/** `replayed`: it was done before, and nothing was done now. */
export type Changed = Readonly<{ row: ShownWithdrawal; replayed: boolean }>;

export type WithdrawalFilter = Readonly<{
  status?: WithdrawalStatus;
  /** Only those that are delayed before they are signed. */
  isDelayed?: boolean;
  currency?: string;
  dateFrom?: Date;
  dateTo?: Date;
}>;

/** One page of a merchant's withdrawals, newest first, and how many there are in all. */
export async function listWithdrawals(
  db: Queryable,
  merchantId: string,
  filter: WithdrawalFilter,
  page: Readonly<{ page: number; limit: number }>,
): Promise<{ items: ShownWithdrawal[]; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR currency = $3)
    AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
    ${filter.isDelayed ? `AND status = 'pending' AND ${isDelayedSql('withdrawal', 'w.id')}` : ''}`;
  const values = [merchantId, filter.status, filter.currency?.toUpperCase(), filter.dateFrom, filter.dateTo];
  return pageOfRecords(db, { select: shown, from: 'withdrawal w', where }, values, page);
}

export async function readWithdrawal(db: Queryable, merchantId: string, id: string): Promise<ShownWithdrawal | null> {
  const [row] = await db.query<ShownWithdrawal[]>(
    `SELECT ${shown} FROM withdrawal w WHERE id = $1 AND merchant_id = $2`,
    [id, merchantId],
  );
  return row ?? null;
}

/** A merchant's withdrawals in one of these statuses, oldest first. */
export const unsignedWithdrawals = async (
  tx: EntityManager,
  merchantId: string,
  statuses: readonly WithdrawalStatus[],
): Promise<string[]> =>
  (
    await tx.query<Array<{ id: string }>>(
      'SELECT id FROM withdrawal WHERE merchant_id = $1 AND status = ANY($2) ORDER BY id',
      [merchantId, statuses],
    )
  ).map((row) => row.id);
