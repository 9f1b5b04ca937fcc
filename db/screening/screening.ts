import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { PaymentRow } from '../../domain/payments/payment';
import { isSevere, notConfigured, type Screen, type ScreenCause, type Verdict } from '../../domain/screening/screening';
import { emitPaymentEvents, lockPayment, movePayment } from '../payments/payments';
import type { Queryable } from '../query';
import { requestSignal } from '../temporal/temporal-requests';
import { workflowIds } from '../../domain/workflow-ids';
import type { RowOf } from '../entity';
import type { amlScreenEntity } from './entities';

type ScreenRow = Pick<RowOf<typeof amlScreenEntity>, (typeof read)[number]>;
const read = [
  'status',
  'risk_score',
  'risk_band',
  'severity',
  'categories',
  'reason',
  'skip_cause',
  'checked_at',
  'tx_ids',
] as const;
const columns = read.join(', ');

const screenOf = (row: ScreenRow): Screen => ({
  status: row.status,
  ...(row.risk_score === null ? {} : { riskScore: row.risk_score }),
  ...(row.risk_band === null ? {} : { riskBand: row.risk_band }),
  ...(row.severity === null ? {} : { severity: row.severity }),
  ...(row.categories === null ? {} : { categories: row.categories }),
  checkedAt: row.checked_at.toISOString(),
  ...(row.reason === null ? {} : { reason: row.reason }),
  ...(row.skip_cause === null ? {} : { skipCause: row.skip_cause }),
});

/** Where a payment's money came in. */
export type TracedDeposit = Readonly<{ network: NetworkId; txId: string; index: number }>;

/** Deposits of a payment that somebody sent: no dust, which anybody can send from anywhere, and nothing of our own. */
export const depositsToTrace = (db: Queryable, paymentId: string): Promise<TracedDeposit[]> =>
  db.query<TracedDeposit[]>(
    `SELECT network, tx_id AS "txId", out_index AS index FROM deposit
      WHERE (payment_id = $1 AND child_payment_id IS NULL OR child_payment_id = $1) AND currency IS NOT NULL
        AND NOT is_dust
        AND status IN ('pool', 'mined', 'confirmed') AND allocation IS DISTINCT FROM 'own' ORDER BY id`,
    [paymentId],
  );

/** The newest screen of a payment, or null. */
export async function lastScreen(db: Queryable, paymentId: string): Promise<Screen | null> {
  const row = await lastRow(db, paymentId);
  return row ? screenOf(row) : null;
}
async function lastRow(db: Queryable, paymentId: string): Promise<ScreenRow | undefined> {
  const sql = `SELECT ${columns} FROM aml_screen WHERE payment_id = $1 ORDER BY id DESC LIMIT 1`;
  return (await db.query<ScreenRow[]>(sql, [paymentId]))[0];
}

/** The screen that a look made, or null where it has not. */
export async function screenOfLook(db: Queryable, look: string): Promise<Screen | null> {
  const [row] = await db.query<ScreenRow[]>(`SELECT ${columns} FROM aml_screen WHERE look = $1`, [look]);
  return row ? screenOf(row) : null;
}

type NewScreen = Readonly<{
  cause: ScreenCause;
  look: string | null;
  verdict: Verdict;
  providers: readonly string[];
  txIds: readonly string[];
  /** Which address was known to whom, and for what: for the operator, never shown. */
  matches: readonly object[];
}>;

async function insertScreen(tx: EntityManager, paymentId: string, screen: NewScreen): Promise<Screen> {
  const { verdict } = screen;
  const [row] = await tx.query<ScreenRow[]>(
    `INSERT INTO aml_screen (payment_id, cause, look, status, risk_score, risk_band, severity, categories, reason,
       skip_cause,
        providers, tx_ids, matches) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
          RETURNING ${columns}`,
    [
      paymentId,
      screen.cause,
      screen.look,
      verdict.status,
      verdict.riskScore ?? null,
      verdict.riskBand ?? null,
      verdict.severity ?? null,
      verdict.categories ?? null,
      verdict.reason ?? null,
      verdict.skipCause ?? null,
      screen.providers,
      screen.txIds,
      JSON.stringify(screen.matches),
    ],
  );
  return screenOf(row!);
}

/** Asks for the screen of a payment that is being credited, or notes that none is made. In the transaction of the
 *  credit, before its event. Invariants: 3, row 11. */
export async function requestScreen(tx: EntityManager, payment: PaymentRow, isConfigured: boolean): Promise<void> {
  if (!isConfigured) {
    const nothing = { look: null, providers: [], txIds: payment.tx_ids, matches: [] };
    await insertScreen(tx, payment.id, { ...nothing, cause: 'credit', verdict: notConfigured });
    return;
  }
  await tx.query('INSERT INTO aml_due (payment_id) VALUES ($1) ON CONFLICT (payment_id) DO NOTHING', [payment.id]);
  await requestSignal(tx, {
    workflow: 'screening',
    workflowId: workflowIds.screening(payment.id),
    args: [payment.id],
    signal: 'updated',
    attributes: {
      MerchantId: payment.merchant_id,
      PaymentId: payment.id,
      summary: `Screening of payment ${payment.id}`,
    },
  });
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  [...left].sort().join() === [...right].sort().join();

function saysNothingNew({ verdict, cause, txIds }: NewScreen, last: ScreenRow): boolean {
  if (verdict.status === 'skipped') return true;
  if (last.status === 'skipped' || !isSame(last.tx_ids, txIds)) return false;
  return verdict.status === 'unavailable' || (cause === 'credit' && last.status !== 'unavailable');
}

/** Stores a screen with its event, one version further, and marks the payment where it is severe; whatever its status,
 *  which stays. The earlier screen of the same deposits is kept, and answered, where this one says nothing new: a
 *  credit that is asked for twice, `unavailable`, or `skipped`. Locks the payment. */
export async function storeScreen(tx: EntityManager, paymentId: string, screen: NewScreen): Promise<Screen> {
  const payment = await lockPayment(tx, paymentId);
  const repeated = screen.look === null ? null : await screenOfLook(tx, screen.look);
  if (repeated) return repeated;
  const last = await lastRow(tx, paymentId);
  await tx.query('DELETE FROM aml_due WHERE payment_id = $1', [paymentId]);
  if (last && saysNothingNew(screen, last)) return screenOf(last);
  const stored = await insertScreen(tx, paymentId, screen);
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'aml-screened',
    events: ['payment.aml_screened'],
    addExceptions: isSevere(stored) ? ['amlFlagged'] : [],
    details: { status: stored.status, by: screen.cause },
  });
  await emitPaymentEvents(tx, payment, moved, ['payment.aml_screened']);
  return stored;
}
