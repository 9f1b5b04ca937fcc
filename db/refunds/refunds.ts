import type { EntityManager } from 'typeorm';
import { assetOf, networkOf, type Currency, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { holdJournal, releaseJournal } from '../../domain/ledger/ledger';
import { compare, fromUnits, isPositive, smaller, subtract } from '../../domain/money';
import { excess, type PaymentRow } from '../../domain/payments/payment';
import { exchangeRateOf } from '../../domain/payments/payment-view';
import { fiatValue } from '../../domain/pricing/quote';
import {
  afterAddress,
  amountOf,
  cancellable,
  feeOfCoins,
  splitHeld,
  splitRefund,
  viewRefund,
  type RefundAsk,
  type RefundEventType,
  type RefundFeeBearer,
  type RefundRow,
  type RefundStatus,
} from '../../domain/refunds/refund';
import { setHome } from '../payments/deposits';
import { admitEgress, readmit, releaseAdmission } from '../limits/egress';
import { dropIntents, spendableAt } from '../txmanager/intents';
import { ensure, ensureEnd, noteHoldGone, reverse, reverseEnd } from '../ledger/ledger';
import { announce, databaseNow, lockPayment, movePayment, paymentColumns } from '../payments/payments';
import { rateNow, type Price, type Queryable } from '../pricing/pricing';
import { announceRecord, byClock, contentHash, moveRecord, pageOfRecords, spend, type Patch } from '../records';
import { requestSignal } from '../temporal/temporal-requests';
import { isOurs } from '../wallets/wallets';

export const refundWorkflow = (refundId: string): string => `refund/${refundId}`;

/** What a refund holds in the ledger. */
export const holdOf = (row: RefundRow) => ({
  kind: 'refund' as const,
  id: row.id,
  merchantId: row.merchant_id,
  currency: row.currency,
  gross: row.gross_amount,
});

/** The refund, locked until the transaction ends; null where there is none. Lock order: payment, refund, intent, wallet. */
export async function lockRefund(tx: EntityManager, id: string): Promise<RefundRow | null> {
  const [row] = await tx.query<RefundRow[]>('SELECT * FROM refund WHERE id = $1 FOR UPDATE', [id]);
  return row ?? null;
}

type RefundPatch = Patch<
  RefundRow,
  'address' | 'claimed_at' | 'tx_id' | 'merchant_message' | 'asked_by' | 'approved_by' | 'approved_at' | 'completed_at'
>;

/** As `moveRecord`. */
export const moveRefund = (
  tx: EntityManager,
  row: RefundRow,
  to: RefundStatus,
  patch: RefundPatch = {},
): Promise<RefundRow> => moveRecord(tx, 'refund', row, to, patch);

/** As `announceRecord`. */
export const announceRefund = (
  tx: EntityManager,
  row: RefundRow,
  type: RefundEventType,
  before?: RefundStatus,
): Promise<string> => announceRecord(tx, row, type, viewRefund(row), before);

/** Has a workflow send a refund. */
export const requestRefund = (tx: EntityManager, row: RefundRow): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'refund',
    workflowId: refundWorkflow(row.id),
    args: [row.id],
    signal: 'news',
    attributes: {
      MerchantId: row.merchant_id,
      Currency: row.currency,
      Network: row.network,
      summary: `Refund of ${row.currency} for payment ${row.payment_id}`,
    },
  });

export type NewRefund = RefundAsk &
  Readonly<{
    /** Which of several that are held without being credited. */
    currency?: string;
    /** Without it the payer names one. */
    address?: string;
    destinationTag?: string;
    /** Without it the merchant, or, of what was never credited, the payer. */
    feeBearer?: RefundFeeBearer;
    reason?: string;
    reference?: string;
  }>;
/** A key may only ask; a user, who has brought a factor, decides; so does the policy that the merchant has set.
 *  `madeBy`: the user who made the key. */
export type RefundBy = Readonly<
  { keyId: string; madeBy: string | null } | { userId: string } | { policy: 'underpaid' }
>;
/** One person is one person, by a page or by a key. */
const personOf = (by: RefundBy): string | null => ('userId' in by ? by.userId : 'keyId' in by ? by.madeBy : null);
export type RefundDeps = Readonly<{
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'normalise'>>>;
  rateMaxAgeSeconds: number;
}>;

const hashOf = (paymentId: string, ask: NewRefund): string => {
  const { type, currency, amount, rateBasis, address, destinationTag, feeBearer, reason, reference } = ask;
  return contentHash([
    paymentId,
    type,
    currency,
    amount,
    rateBasis,
    address,
    destinationTag,
    feeBearer,
    reason,
    reference,
  ]);
};

async function lockOwnPayment(tx: EntityManager, merchantId: string, paymentId: string): Promise<PaymentRow> {
  const [row] = await tx.query<PaymentRow[]>(
    `SELECT ${paymentColumns} FROM payment p WHERE id = $1 AND merchant_id = $2 FOR UPDATE`,
    [paymentId, merchantId],
  );
  if (!row) throw new DomainError('PAYMENT_NOT_FOUND');
  return row;
}

type Terms = Pick<
  RefundRow,
  | 'currency'
  | 'network'
  | 'source'
  | 'deposit_ids'
  | 'fee_bearer'
  | 'amount'
  | 'network_fee'
  | 'gross_amount'
  | 'net_amount'
  | 'fiat_amount'
>;
type Split = NonNullable<ReturnType<typeof splitRefund>>;
const columnsOf = (split: Split) => ({
  amount: split.amount,
  network_fee: split.networkFee,
  gross_amount: split.gross,
  net_amount: split.net,
});
const priceOf = (tx: EntityManager, deps: RefundDeps, payment: PaymentRow, currency: string): Promise<Price> =>
  rateNow(tx, {
    merchantId: payment.merchant_id,
    currency,
    fiat: payment.fiat_currency,
    maxAgeSeconds: deps.rateMaxAgeSeconds,
  });

/** An address as its network spells it. Throws INVALID_ADDRESS (also for the service's own), VALIDATION_ERROR. */
export async function addressFor(
  tx: Queryable,
  deps: Pick<RefundDeps, 'codecs'>,
  { currency, network }: Readonly<{ currency: Currency; network: NetworkId }>,
  to: Readonly<{ address: string; destinationTag?: string }>,
): Promise<string> {
  const address = deps.codecs[network].normalise(to.address);
  if (address === null || (await isOurs(tx, network, address))) throw new DomainError('INVALID_ADDRESS');
  if (to.destinationTag !== undefined && !assetOf(currency).requiresDestinationTag)
    throw new DomainError('VALIDATION_ERROR', `${currency} has no destination tags`);
  return address;
}

/** What a refund would be, by the facts of now. The caller holds the payment's lock where it matters.
 *  Throws REFUND_NOT_ALLOWED, REFUND_EXCEEDS_PAID, BELOW_MINIMUM, INVALID_ADDRESS, VALIDATION_ERROR, RATE_UNAVAILABLE. */
async function drawUp(
  tx: EntityManager,
  deps: RefundDeps,
  payment: PaymentRow,
  ask: NewRefund,
): Promise<
  Omit<
    RefundRow,
    | 'id'
    | 'status'
    | 'key_id'
    | 'created_by'
    | 'asked_by'
    | 'needs_second_person'
    | 'approved_by'
    | 'approved_at'
    | 'idempotency_key'
  >
> {
  const wanted = ask.currency?.toUpperCase();
  const isCredited =
    payment.status === 'SETTLED' &&
    payment.custody === 'platform' &&
    ask.type !== 'underpaid' &&
    (wanted === undefined || wanted === payment.currency);
  const terms = isCredited
    ? await creditedTerms(tx, deps, payment, ask)
    : await heldTerms(tx, deps, payment, ask, wanted);
  const network = terms.network as NetworkId;
  const to = { currency: terms.currency, network };
  const address = ask.address === undefined ? null : await addressFor(tx, deps, to, { ...ask, address: ask.address });
  const now = await databaseNow(tx);
  return {
    ...terms,
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    body_hash: hashOf(payment.id, ask),
    state_version: 1,
    type: ask.type,
    fiat_currency: payment.fiat_currency,
    address,
    claimed_at: null,
    destination_tag: null,
    reason: ask.reason ?? null,
    reference: ask.reference ?? null,
    merchant_message: null,
    tx_id: null,
    completed_at: null,
    created_at: now,
    updated_at: now,
  };
}

/** Out of the balance: what a settled payment brought, less what has been refunded of it. */
async function creditedTerms(tx: EntityManager, deps: RefundDeps, payment: PaymentRow, ask: NewRefund): Promise<Terms> {
  const { currency } = payment;
  const paidRate = exchangeRateOf(payment);
  if (currency === null || paidRate === null) throw new DomainError('REFUND_NOT_ALLOWED');
  const [known] = await tx.query<Array<{ all: string; excess: string }>>(
    `SELECT coalesce(sum(amount), 0)::text AS all, coalesce(sum(amount) FILTER (WHERE type = 'overpaid'), 0)::text AS excess
       FROM refund WHERE payment_id = $1 AND source = 'balance' AND status NOT IN ('failed', 'cancelled')`,
    [payment.id],
  );
  const price = await priceOf(tx, deps, payment, currency);
  const left = subtract(payment.amount_paid, known!.all);
  const beyond = subtract(excess(payment.amount, payment.amount_paid), known!.excess);
  if (ask.type === 'full' && ask.amount !== undefined)
    throw new DomainError('VALIDATION_ERROR', 'full takes no amount: it is all that is left');
  if (ask.type === 'overpaid' && isPositive(left) && !isPositive(beyond)) throw new DomainError('REFUND_NOT_ALLOWED');
  const amount = amountOf(ask, {
    currency,
    left,
    excess: beyond,
    paidRate,
    currentRate: price.exchangeRate,
  });
  if (amount === null) throw new DomainError('VALIDATION_ERROR', 'amount is needed for a partial refund');
  const most = ask.type === 'overpaid' ? smaller(beyond, left) : left;
  if (compare(amount, most) > 0) throw new DomainError('REFUND_EXCEEDS_PAID');
  if (!isPositive(amount)) throw new DomainError(isPositive(left) ? 'BELOW_MINIMUM' : 'REFUND_EXCEEDS_PAID');
  const feeBearer = ask.feeBearer ?? 'merchant';
  const split = splitRefund({ amount, networkFee: price.networkFee, feeBearer, currency });
  if (!split) throw new DomainError('BELOW_MINIMUM');
  const rate = ask.rateBasis === 'current' ? price.exchangeRate : paidRate;
  return {
    ...columnsOf(split),
    currency,
    network: assetOf(currency).network,
    source: 'balance',
    deposit_ids: [],
    fee_bearer: feeBearer,
    fiat_amount: fiatValue(split.amount, rate, payment.fiat_currency),
  };
}

const ended = ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'];

/** Never credited: all that is held of one currency on one address, sent back from there. */
async function heldTerms(
  tx: EntityManager,
  deps: RefundDeps,
  payment: PaymentRow,
  ask: NewRefund,
  wanted: string | undefined,
): Promise<Terms> {
  const held = ended.includes(payment.status)
    ? await tx.query<Array<{ currency: string; address: string; amount: string; ids: string[] }>>(
        `SELECT currency, address, sum(amount)::text AS amount, array_agg(id ORDER BY id) AS ids FROM deposit
          WHERE (payment_id = $1 AND child_payment_id IS NULL OR child_payment_id = $1) AND home = 'unallocated' AND status = 'confirmed'
            AND currency IS NOT NULL GROUP BY currency, address ORDER BY sum(amount) DESC`,
        [payment.id],
      )
    : [];
  const currencies = new Set(held.map((one) => one.currency));
  if (currencies.size > 1 && wanted === undefined)
    throw new DomainError('VALIDATION_ERROR', `currency is needed: ${[...currencies].join(', ')}`);
  const found = held.find((one) => wanted === undefined || one.currency === wanted);
  if (!found || !['full', 'underpaid'].includes(ask.type)) throw new DomainError('REFUND_NOT_ALLOWED');
  if (ask.amount !== undefined || ask.rateBasis !== undefined || ask.feeBearer === 'merchant')
    throw new DomainError('VALIDATION_ERROR', 'What was never credited goes back whole, less its fee');
  const { currency, address, ids } = found;
  const { network, decimals } = assetOf(currency);
  const { native, kind } = networkOf(currency);
  const price = await priceOf(tx, deps, payment, currency);
  const { arrived, goneUnits } = await spendableAt(tx, { network, address, currency, native });
  const split = splitHeld({
    amount: found.amount,
    usable: kind === 'utxo' ? found.amount : subtract(arrived, fromUnits(BigInt(goneUnits), decimals)),
    networkFee: kind === 'utxo' ? feeOfCoins(price.networkFee, ids.length, currency) : price.networkFee,
    currency,
  });
  if (!split) throw new DomainError('BELOW_MINIMUM');
  return {
    ...columnsOf(split),
    currency,
    network,
    source: 'deposit',
    deposit_ids: ids,
    fee_bearer: 'payer',
    fiat_amount: fiatValue(split.amount, price.exchangeRate, payment.fiat_currency),
  };
}

/** What a refund would be; nothing is held, nothing is written. */
export async function previewRefund(
  tx: EntityManager,
  deps: RefundDeps,
  merchantId: string,
  paymentId: string,
  ask: NewRefund,
  by: RefundBy,
): Promise<RefundRow> {
  const payment = await lockOwnPayment(tx, merchantId, paymentId);
  const plan = await drawUp(tx, deps, payment, ask);
  const approved_at = 'keyId' in by ? null : plan.created_at;
  return {
    ...plan,
    id: '',
    status: plan.address === null ? 'awaiting_address' : afterAddress({ approved_at }),
    key_id: null,
    created_by: null,
    asked_by: null,
    needs_second_person: false,
    approved_by: null,
    approved_at,
    idempotency_key: null,
  };
}

/** Opens a refund and holds its money, in the caller's transaction, under the lock of its payment: the sum of refunds never
 *  exceeds what was received. The same idempotency key finds the first one. Throws PAYMENT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED,
 *  INSUFFICIENT_BALANCE, EGRESS_FROZEN, EGRESS_LIMIT and what `drawUp` throws. */
export async function openRefund(
  tx: EntityManager,
  deps: RefundDeps,
  merchantId: string,
  paymentId: string,
  ask: NewRefund,
  by: RefundBy,
  idempotencyKey: string | null,
): Promise<{ row: RefundRow; replayed: boolean }> {
  const payment = await lockOwnPayment(tx, merchantId, paymentId);
  const replay = async (): Promise<{ row: RefundRow; replayed: true } | null> => {
    const [row] = await tx.query<RefundRow[]>('SELECT * FROM refund WHERE merchant_id = $1 AND idempotency_key = $2', [
      merchantId,
      idempotencyKey,
    ]);
    if (!row) return null;
    if (row.body_hash !== hashOf(paymentId, ask)) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
    return { row, replayed: true };
  };
  const first = idempotencyKey === null ? null : await replay();
  if (first) return first;
  const plan = await drawUp(tx, deps, payment, ask);
  const id = newId();
  const { needsApproval } = await admitEgress(tx, {
    kind: 'refund',
    ref: id,
    merchantId,
    amounts: [{ currency: plan.currency, amount: plan.gross_amount }],
    rateMaxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  if (!('policy' in by)) await keepBelowCap(tx, merchantId, id);
  const approved_at = 'keyId' in by || needsApproval ? null : plan.created_at;
  const userId = 'userId' in by ? by.userId : null;
  const columns = {
    ...plan,
    id,
    status: plan.address === null ? 'awaiting_address' : afterAddress({ approved_at }),
    idempotency_key: idempotencyKey,
    key_id: 'keyId' in by ? by.keyId : null,
    created_by: userId,
    asked_by: personOf(by),
    needs_second_person: needsApproval,
    approved_by: approved_at && userId,
    approved_at,
  };
  const names = Object.keys(columns);
  const [row] = await tx.query<RefundRow[]>(
    `INSERT INTO refund (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (merchant_id, idempotency_key) DO NOTHING RETURNING *`,
    Object.values(columns),
  );
  // Two with one key at once, for two payments: the other was first.
  if (!row) {
    await releaseAdmission(tx, 'refund', id);
    return (await replay())!;
  }
  await hold(tx, row);
  if (row.status === 'pending') await requestRefund(tx, row);
  await announceRefund(tx, row, 'refund.created');
  return { row, replayed: false };
}

/** The refunds of the last 24 hours, this one included, stay below the merchant's cap. Policy refunds do not count: their money was
 *  never the merchant's. After `admitEgress`, which has written what it is worth. Throws REFUND_CAP_REACHED. */
async function keepBelowCap(tx: EntityManager, merchantId: string, id: string): Promise<void> {
  // One at a time: two that fit one by one may not fit together.
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('refund-cap/' || $1, 0))`, [merchantId]);
  const [row] = await tx.query<Array<{ cap: string | null; used: string }>>(
    `SELECT m.refund_daily_cap_usd::text AS cap, coalesce((
        SELECT sum(a.usd) FROM egress_admission a LEFT JOIN refund r ON r.id = a.ref
         WHERE a.kind = 'refund' AND a.merchant_id = m.id AND a.admitted_at > now() - interval '24 hours' AND a.released_at IS NULL
           AND (a.ref = $2 OR r.key_id IS NOT NULL OR r.created_by IS NOT NULL)), 0)::text AS used
       FROM merchant m WHERE m.id = $1`,
    [merchantId, id],
  );
  if (row?.cap && compare(row.used, row.cap) > 0) throw new DomainError('REFUND_CAP_REACHED');
}

const notNow = ['REFUND_NOT_ALLOWED', 'BELOW_MINIMUM', 'EGRESS_FROZEN', 'EGRESS_LIMIT'];
/** What a payment that failed for too little money still holds goes back, by the merchant's policy: a refund for each address that
 *  it came to, for the payer to claim. What is not worth its fee, or may not leave now, stays held. Row 10. */
export async function refundUnderpaid(tx: EntityManager, deps: RefundDeps, payment: PaymentRow): Promise<void> {
  const ask: NewRefund = { type: 'underpaid', currency: payment.currency!, feeBearer: 'payer' };
  try {
    for (;;) await openRefund(tx, deps, payment.merchant_id, payment.id, ask, { policy: 'underpaid' }, null);
  } catch (error) {
    if (!(error instanceof DomainError) || !notNow.includes(error.code)) throw error;
  }
}

/** J5; or the deposits themselves, which are no longer there for anybody else. Throws INSUFFICIENT_BALANCE. */
async function hold(tx: EntityManager, row: RefundRow): Promise<void> {
  if (row.source === 'deposit') return setHome(tx, row.deposit_ids, 'refunded').then(() => undefined);
  await spend(ensure(tx, holdJournal(holdOf(row))));
}

/** J7; or the deposits are held as they were before. Their payment looks whether the chain still has them. */
export async function giveBack(tx: EntityManager, row: RefundRow): Promise<void> {
  if (row.source === 'balance') return ensureEnd(tx, releaseJournal(holdOf(row)));
  await setHome(tx, row.deposit_ids, 'unallocated');
  await requestSignal(tx, {
    workflow: 'payment',
    workflowId: `payment/${row.payment_id}`,
    args: [row.payment_id],
    signal: 'news',
    attributes: {},
  });
}

/** A refund, locked after its payment; null where there is none. */
export async function lockRefundWithPayment(tx: EntityManager, id: string): Promise<RefundRow | null> {
  await tx.query('SELECT FROM payment WHERE id = (SELECT payment_id FROM refund WHERE id = $1) FOR UPDATE', [id]);
  return lockRefund(tx, id);
}

/** Takes back the end of a refund. False where what was given back is spent, or in other hands. */
async function takeBackEnd(tx: EntityManager, row: RefundRow): Promise<boolean> {
  if (row.source === 'balance') return reverseEnd(tx, holdOf(row));
  if (row.status === 'completed') {
    await reverse(tx, refundWorkflow(row.id));
    return true;
  }
  const held = await tx.query<unknown[]>(
    `SELECT FROM deposit WHERE id = ANY($1::bigint[]) AND home = 'unallocated' FOR UPDATE`,
    [row.deposit_ids],
  );
  const isHeld = held.length === row.deposit_ids.length;
  await (isHeld ? setHome(tx, row.deposit_ids, 'refunded') : noteHoldGone(tx, { kind: 'refund', id: row.id }));
  return isHeld;
}

/** Refunds whose transactions are in blocks above `height`, which the chain no longer has: on their way again, what they had booked
 *  mirrored. One whose money came back and is spent stays failed. Call before the transactions themselves are put back. Invariants: 5, step 6. */
export async function reopenRefunds(tx: EntityManager, network: string, height: number): Promise<void> {
  const gone = await tx.query<Array<{ id: string; payment_id: string; tx_id: string; success: boolean }>>(
    `SELECT r.id, r.payment_id, a.tx_id, a.success FROM attempt a JOIN intent i ON i.id = a.intent_id AND i.kind = 'refund'
       JOIN refund r ON r.id = i.ref
      WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' AND r.status IN ('completed', 'failed') ORDER BY r.id`,
    [network, height],
  );
  for (const { id, payment_id, tx_id, success } of gone) {
    const payment = await lockPayment(tx, payment_id);
    const row = await lockRefund(tx, id);
    if (row?.status !== (success ? 'completed' : 'failed') || !(await takeBackEnd(tx, row))) continue;
    if (!success) await readmit(tx, 'refund', id);
    const reopened = await moveRefund(tx, row, 'broadcast', { completed_at: null, merchant_message: null });
    const moved = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'refund-reorganised',
      events: [],
      details: { refundId: id, txId: tx_id },
    });
    await announceRefund(tx, reopened, 'refund.broadcast', row.status);
    await announce(tx, payment, moved, []);
  }
}

/** The merchant's refund, locked with its payment. Throws REFUND_NOT_FOUND: unknown and foreign are the same. */
async function lockOwnRefund(tx: EntityManager, merchantId: string, id: string): Promise<RefundRow> {
  const row = await lockRefundWithPayment(tx, id);
  if (!row || row.merchant_id !== merchantId) throw new DomainError('REFUND_NOT_FOUND');
  return row;
}

/** `replayed`: it was done before, and nothing was done now. */
type Changed = Readonly<{ row: RefundRow; replayed: boolean }>;

/** Calls a refund back while nothing is signed: J7. Signing takes the same lock, so that one of the two wins. Of one that is
 *  cancelled already the same again, `replayed`. Throws REFUND_NOT_FOUND, REFUND_STATE. */
export async function cancelRefund(
  tx: EntityManager,
  merchantId: string,
  id: string,
  from: readonly RefundStatus[] = cancellable,
): Promise<Changed> {
  const row = await lockOwnRefund(tx, merchantId, id);
  if (row.status === 'cancelled') return { row, replayed: true };
  if (!from.includes(row.status)) throw new DomainError('REFUND_STATE');
  const cancelled = await moveRefund(tx, row, 'cancelled');
  await dropIntents(tx, refundWorkflow(id));
  await giveBack(tx, row);
  await releaseAdmission(tx, 'refund', id);
  await announceRefund(tx, cancelled, 'refund.cancelled', row.status);
  return { row: cancelled, replayed: false };
}

/** Lets go what a key, or somebody else above a limit, has asked for. Above a limit it takes two people: where nobody is
 *  known to have asked, the first who approves counts as that one, and it waits for another. Of one that is let go already
 *  the same again, `replayed`.
 *  Throws REFUND_NOT_FOUND, REFUND_STATE, SECOND_PERSON. */
export async function approveRefund(
  tx: EntityManager,
  merchantId: string,
  id: string,
  userId: string,
): Promise<Changed> {
  const row = await lockOwnRefund(tx, merchantId, id);
  if (row.status !== 'awaiting_approval') {
    if (row.approved_at && row.status !== 'cancelled') return { row, replayed: true };
    throw new DomainError('REFUND_STATE');
  }
  if (row.needs_second_person) {
    if (row.asked_by === userId) throw new DomainError('SECOND_PERSON');
    if (row.asked_by === null)
      return { row: await moveRefund(tx, row, row.status, { asked_by: userId }), replayed: false };
  }
  const approved = await moveRefund(tx, row, 'pending', { approved_by: userId, approved_at: byClock });
  await requestRefund(tx, approved);
  return { row: approved, replayed: false };
}

export type RefundFilter = Readonly<{
  paymentId?: string;
  status?: RefundStatus;
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
): Promise<{ items: RefundRow[]; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR payment_id = $2) AND ($3::text IS NULL OR status = $3)
    AND ($4::text IS NULL OR currency = $4) AND ($5::timestamptz IS NULL OR created_at >= $5) AND ($6::timestamptz IS NULL OR created_at < $6)`;
  const values = [
    merchantId,
    filter.paymentId,
    filter.status,
    filter.currency?.toUpperCase(),
    filter.dateFrom,
    filter.dateTo,
  ];
  return pageOfRecords(db, { from: 'refund', where }, values, page);
}

export async function readRefund(db: Queryable, merchantId: string, id: string): Promise<RefundRow | null> {
  const [row] = await db.query<RefundRow[]>('SELECT * FROM refund WHERE id = $1 AND merchant_id = $2', [
    id,
    merchantId,
  ]);
  return row ?? null;
}
