import type { EntityManager } from 'typeorm';
import { isByLightning, networks, networkOf, type Asset, type NetworkId } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import {
  confirmDeadline,
  crossDeadline,
  isFinal,
  type PaymentEventType,
  type PaymentException,
  type PaymentRow,
  type PaymentStatus,
} from '../../domain/payments/payment';
import { type DepositFact, type InheritedPart, type PaymentFacts } from '../../domain/payments/facts';
import { paymentJson } from '../../domain/payments/payment-view';
import type { PaymentNow } from '../../domain/payments/payment-view';
import { inheritedParts, rateMomentSql } from './deposit-rates';
import { nowColumns, splitNow, type NowColumns } from './payment-now';
import { emitEvent } from '../webhooks/events';
import { changedRows, prepared } from '../query';

/** Columns of a payment, with its metadata as the text that came. */
export const paymentColumns = 'p.*, p.metadata::text AS metadata';

/** The payment, locked until the transaction ends. Throws PAYMENT_NOT_FOUND. */
export async function lockPayment(tx: EntityManager, id: string): Promise<PaymentRow> {
  const [row] = await tx.query<PaymentRow[]>(`SELECT ${paymentColumns} FROM payment p WHERE id = $1 FOR UPDATE`, [id]);
  if (!row) throw new DomainError('PAYMENT_NOT_FOUND');
  return row;
}

/** The database's clock, the only one that deadlines know. Invariants: 1.5. */
export async function databaseNow(tx: EntityManager): Promise<Date> {
  const [row] = await tx.query<Array<{ now: Date }>>('SELECT clock_timestamp() AS now');
  return row!.now;
}

/** What `evaluate` looks at, read under the lock of the payment. */
export async function factsOf(tx: EntityManager, payment: PaymentRow): Promise<PaymentFacts> {
  const inherited = await inheritedParts(tx, payment.id);
  const found = await prepared(tx, 'deposit-facts').query<Array<Omit<DepositFact, 'inherited'>>>(
    `SELECT d.id, coalesce((SELECT min(t.tx_id) FROM identified_transfer t WHERE t.deposit_id = d.id),
       d.tx_id) AS "txId",
            d.currency, d.amount::text, d.is_dust AS "isDust", d.status, d.first_seen_at AS "firstSeenAt",
            d.allocation,
            ${rateMomentSql} AS "rateMoment", d.rated_at AS "ratedAt",
            d.exchange_rate::text AS "exchangeRate", d.quote_amount::text AS "quoteAmount",
            a.currency AS "addressCurrency", coalesce(d.child_payment_id, d.payment_id) AS owner,
            journal_stands(concat('loss/', d.network, '/', d.tx_id, '/', d.out_index)) AS "isLost"
       FROM deposit d JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
      WHERE d.payment_id = $1 OR d.child_payment_id = $1 ORDER BY d.id`,
    [payment.id],
  );
  const deposits = found.map((deposit) => withParts(deposit, inherited.get(deposit.id) ?? []));
  const [clock] = await prepared(tx, 'payment-clock').query<Array<{ now: Date; scanned: boolean; taking: boolean }>>(
    `SELECT clock_timestamp() AS now,
            EXISTS (SELECT FROM lightning_invoice
                     WHERE payment_id = $1 AND is_for_payment AND state = 'taking')
              OR is_lightning_in_doubt($1) AS taking,
            clock_timestamp() > $2::timestamptz AND NOT EXISTS (
              SELECT FROM address a LEFT JOIN chain_cursor c ON c.network = a.network
               WHERE a.payment_id = $1 AND NOT a.is_elsewhere
                 AND (c.network IS NULL OR c.scanned_through <= $2::timestamptz
                 OR a.role = 'deposit' AND a.tag = '' AND coalesce(a.balance_through <= $2::timestamptz, true) AND (
                   c.traces_off_since IS NOT NULL OR EXISTS (
                     SELECT FROM untraced_block u WHERE u.network = c.network AND u.scanned_at IS NULL))))
              AND NOT awaits_lightning($1) AS scanned`,
    [payment.id, payment.expires_at],
  );
  const limit = payment.currency ? networkOf(payment.currency).confirmLimitSeconds : 0;
  return {
    id: payment.id,
    status: payment.status,
    currency: payment.currency,
    quoteAmount: payment.quote_amount ?? payment.amount,
    tolerancePct: payment.tolerance_pct,
    acceptedShare: payment.accepted_share,
    underpaidPolicy: payment.underpaid_policy,
    autoAcceptAt: payment.cross_chain_auto_accept_at,
    offerCurrency: payment.cross_offer?.currency ?? null,
    expiresAt: payment.expires_at,
    quoteExpiresAt: payment.quote_expires_at,
    isChild: payment.parent_payment_id !== null,
    now: clock!.now,
    scannedPastExpiry: clock!.scanned,
    confirmBy: confirmDeadline(payment.expires_at, limit),
    crossDeadline: crossDeadline(payment.expires_at),
    isBeingTaken: clock!.taking,
    deposits,
    exceptions: payment.exceptions,
  };
}

const withParts = (deposit: Omit<DepositFact, 'inherited'>, inherited: readonly InheritedPart[]): DepositFact => ({
  ...deposit,
  inherited,
  firstSeenAt: inherited.reduce(
    (first, { firstSeenAt }) => (firstSeenAt < first ? firstSeenAt : first),
    deposit.firstSeenAt,
  ),
});

async function paymentNow(tx: EntityManager, payment: PaymentRow): Promise<PaymentNow> {
  const text = `SELECT ${nowColumns} FROM payment p WHERE p.id = $1`;
  const [found] = await prepared(tx, 'payment-now').query<NowColumns[]>(text, [payment.id]);
  return splitNow(found!).now;
}

/** Columns a move may set beside the status. */
export type PaymentPatch = Partial<
  Pick<
    PaymentRow,
    | 'currency'
    | 'network'
    | 'amount'
    | 'exchange_rate'
    | 'commission_amount'
    | 'network_fee_amount'
    | 'fee_amount'
    | 'net_amount'
    | 'rate_id'
    | 'native_rate'
    | 'quote_amount'
    | 'quoted_at'
    | 'quote_expires_at'
    | 'required_confirmations'
    | 'deposit_address'
    | 'destination_tag'
    | 'settlement_address'
    | 'custody'
    | 'expires_at'
    | 'amount_paid'
    | 'value_paid'
    | 'tx_ids'
    | 'settled_fee_amount'
    | 'settled_net_amount'
    | 'settled_stamp_incomplete'
    | 'sweep_state'
    | 'sweep_tx_id'
    | 'confirmed_at'
    | 'settled_at'
    | 'accepted_share'
    | 'cross_offer'
    | 'cross_chain_auto_accept_at'
    | 'original_currency'
    | 'original_amount'
  >
>;

export type Move = Readonly<{
  to: PaymentStatus;
  cause: string;
  events: readonly PaymentEventType[];
  addExceptions?: readonly PaymentException[];
  patch?: PaymentPatch;
  details?: Readonly<Record<string, unknown>>;
}>;

/** Stamps columns on a payment that the caller has locked, one version further; null where another move was first. */
async function stamp(
  tx: EntityManager,
  payment: PaymentRow,
  to: PaymentStatus,
  patch: PaymentPatch,
  exceptions: readonly PaymentException[],
) {
  const columns = Object.keys(patch);
  const sets = columns.map((column, index) => `${column} = $${index + 6}`);
  const rows = await changedRows<PaymentRow>(
    tx,
    `UPDATE payment p SET status = $2, state_version = state_version + 1, updated_at = clock_timestamp(),
            exceptions = (SELECT coalesce(array_agg(DISTINCT e ORDER BY e), '{}')
              FROM unnest(exceptions || $3::text[]) e)
            ${sets.map((set) => `, ${set}`).join('')}
      WHERE id = $1 AND status = $4 AND state_version = $5 RETURNING ${paymentColumns}`,
    [
      payment.id,
      to,
      exceptions,
      payment.status,
      payment.state_version,
      ...columns.map((column) => patch[column as keyof PaymentPatch]),
    ],
  );
  return rows[0] ?? null;
}

/** The one way a payment changes: status and version, the timeline entry, and `emitPaymentEvents`, all in the
 *  caller's transaction. Ledger postings go between `movePayment` and `emitPaymentEvents`, so that the merchant's
 *  counter is locked last. Throws where the row is no longer as it was read. Invariants: 1.3. */
export async function movePayment(tx: EntityManager, payment: PaymentRow, move: Move): Promise<PaymentRow> {
  const moved = await stamp(tx, payment, move.to, move.patch ?? {}, move.addExceptions ?? []);
  if (!moved)
    throw new Error(`Payment ${payment.id} is no longer ${payment.status} at version ${payment.state_version}`);
  await prepared(tx, 'payment-event').query(
    `INSERT INTO payment_event (payment_id, state_version, from_status, to_status, cause, details)
      VALUES ($1, $2, $3, $4, $5, $6)`,
    [payment.id, moved.state_version, payment.status, moved.status, move.cause, move.details ?? {}],
  );
  return moved;
}

/** Enqueues the events of a move: exactly what GET returns at this version. Call last in the transaction. */
export async function emitPaymentEvents(
  tx: EntityManager,
  before: PaymentRow,
  after: PaymentRow,
  events: readonly PaymentEventType[],
  openDelta = isFinal(after.status) && !isFinal(before.status) ? -1 : 0,
): Promise<void> {
  const data = paymentJson(after, await paymentNow(tx, after));
  for (const [index, type] of events.entries()) {
    await emitEvent(tx, {
      merchantId: after.merchant_id,
      type,
      entityId: after.id,
      stateVersion: after.state_version,
      data,
      previous: before.status === after.status ? {} : { status: before.status },
      ipnUrl: after.ipn_callback_url,
      openDelta: index === 0 ? openDelta : 0,
      follows: type === 'payment.created' ? after.parent_payment_id : after.id,
    });
  }
  if (!events.length && openDelta) {
    await tx.query('UPDATE merchant_counter SET open_payments = open_payments + $2 WHERE merchant_id = $1', [
      after.merchant_id,
      openDelta,
    ]);
  }
  await tx.query("SELECT pg_notify('payment_changed', $1)", [after.id]);
}

/** Depth that counts on a network here: the registry's, unless the sandbox says otherwise. */
export const requiredDepth = (network: string, overrides: Readonly<Record<string, number>>): number =>
  overrides[network] ?? networks[network as NetworkId].confirmations;
/** The same of a currency: what comes by Lightning is in no block. */
export const depthOf = (
  { currency, network }: Pick<Asset, 'currency' | 'network'>,
  overrides: Readonly<Record<string, number>>,
): number => (isByLightning(currency) ? 0 : requiredDepth(network, overrides));
