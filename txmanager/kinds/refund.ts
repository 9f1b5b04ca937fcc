import type { EntityManager } from 'typeorm';
import { releaseLimitUse } from '../../commands/limits/outbound-check';
import { releaseRefund } from '../../commands/refunds/hold';
import { returnLostFees } from '../../commands/refunds/lost-fees';
import { minedOf, ensureMined, ensure, captureOrRelease } from '../../db/ledger/ledger';
import { depositsById } from '../../db/payments/deposits';
import { lockPayment, movePayment, emitPaymentEvents } from '../../db/payments/payments';
import { byClock } from '../../db/records';
import { lockRefund, lockRefundsWithPayments, moveRefund, emitRefundEvent, holdOf } from '../../db/refunds/refunds';
import { wholeUnitPrice } from '../../db/chains/fees';
import {
  type AttemptRow,
  type NewIntent,
  planIntent,
  lockCoinsFor,
  spendableAt,
  dropIntents,
} from '../../db/txmanager/intents';
import { baseUnits, networkOf, assetOf } from '../../domain/chains/assets';
import { depositRefundJournal, captureJournal } from '../../domain/ledger/ledger';
import { add, larger, subtract, toUnits, fit } from '../../domain/money';
import type { RefundRow } from '../../domain/refunds/refund';
import { gasFor, sweepWork } from '../../domain/chains/costs';
import { destinationOf, type Destination } from '../../domain/chains/tags';
import { addedFeesOf } from '../../domain/txmanager/added-fee';
import { feeLimits, limitsFor } from '../../domain/txmanager/fee-limits';
import { planOutgoing } from '../plan-outgoing';
import type { ServedIntent, Obligation } from '../obligation';
import { reopenRefunds } from '../../commands/refunds/reopen';
import { chargeRevert } from '../charge-revert';
import { gasWalletFor } from '../gas-wallet';
import { expired, failureOf } from './failure';
import { openIntents, obligationsByRef, summaryAs, type OutgoingKind } from './kind';

export const refund: OutgoingKind = {
  kind: 'refund',
  summary: summaryAs('Refund'),
  owner: 'refund',
  obligation: refundObligations,
  refused: async (tx, intent, message) => {
    const row = await lockRefund(tx, intent.ref);
    if (row?.status !== 'pending') return;
    await dropIntents(tx, { kind: 'refund', id: row.id });
    await releaseLimitUse(tx, 'refund', row.id);
    await failRefund(tx, row, message);
  },
  // The payer bears the fee of a refund that leaves its deposit address.
  asked: async (tx, intent) => {
    const row = await lockRefund(tx, intent.ref);
    if (row?.status !== 'pending') return null;
    return { hold: holdOf(row), row: withoutLost(row), bearer: row.fee_bearer === 'payer' ? 'receiver' : 'merchant' };
  },
  reopen: reopenRefunds,
  openRows: [
    {
      workflow: 'refund',
      sql: `SELECT r.id, jsonb_build_object('MerchantId', r.merchant_id) AS attributes FROM refund r
             WHERE r.updated_at < now() - interval '60 seconds' AND r.currency <> 'BTC_LN'
               AND (r.status IN ('pending', 'processing', 'broadcast')
                 OR EXISTS (${openIntents('refund', 'r.id')}))`,
    },
  ],
  shortfallEnds: `EXISTS (SELECT FROM refund r
    WHERE i.subject_kind = 'refund' AND r.id = i.subject_id::bpchar AND r.status IN ('failed', 'cancelled'))`,
};

/** Who gets it, once its address is known. */
const receiverOf = ({ address, destination_tag }: RefundRow): Destination =>
  destinationOf({ address: address!, destination_tag });

/** With the network fee of this try: what earlier ones have burned of its deposits says nothing of its price. */
const withoutLost = (refund: RefundRow): RefundRow =>
  refund.lost_fee === null ? refund : { ...refund, network_fee: subtract(refund.network_fee, refund.lost_fee) };

/** Refunds as the signer sees them: what their rows say, once somebody has approved them. Locks the payments, then the
 *  refunds. */
async function refundObligations(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Obligation>> {
  const rows = await lockRefundsWithPayments(
    tx,
    intents.map((intent) => intent.ref),
  );
  return obligationsByRef(intents, rows, (row) => (row.address === null ? null : obligationOf(tx, row)));
}

const obligationOf = (tx: EntityManager, refund: RefundRow): Obligation => ({
  currency: refund.currency,
  merchantId: refund.merchant_id,
  outputs: [{ ...receiverOf(refund), units: baseUnits(refund.currency, refund.net_amount).toString() }],
  fromDeposits: refund.source === 'deposit' ? { depositIds: refund.deposit_ids, merchantId: refund.merchant_id } : null,
  row: {
    name: `Refund ${refund.id}`,
    state: refund.status === 'pending' ? 'due' : 'other',
    says: `Refund ${refund.id} is ${refund.status}`,
    approval: {
      isGiven: refund.approved_at !== null,
      needsSecond: refund.needs_second_person,
      askedBy: refund.asked_by,
      by: refund.approved_by,
    },
    // Its payer has named the address.
    payees: [],
    addedFees: addedFeesOf([withoutLost(refund)]),
    limitUse: { kind: 'refund', ref: refund.id },
  },
  isUnderWay: refund.status === 'processing' || refund.status === 'broadcast',
  async givenUp() {
    await failRefund(tx, refund, expired);
    await releaseLimitUse(tx, 'refund', refund.id);
  },
  stored: () => moveRefund(tx, refund, 'processing'),
  async sent(txId) {
    if (refund.status !== 'processing') return;
    const moved = await moveRefund(tx, refund, 'broadcast', { tx_id: txId });
    await emitRefundEvent(tx, moved, 'refund.broadcast', refund.status);
  },
  ended: (attempt) => bookRefund(tx, refund, attempt),
});
/** Books the end of a refund's transaction, with the refund's own: J6 and `completed`, or J7 and `failed`. The caller
 *  has locked the payment and the refund, in that order. */
async function bookRefund(tx: EntityManager, refund: RefundRow, mined: AttemptRow): Promise<void> {
  const isDone = refund.status === 'completed' || refund.status === 'failed';
  if (!mined.success) {
    if (isDone) return;
    await failRefund(tx, refund, failureOf(mined), mined.tx_id);
    await chargeRevert(tx, holdOf(refund), mined, refund.network_fee);
    if (mined.is_replacement) await releaseLimitUse(tx, 'refund', refund.id);
    return;
  }
  // Released, and spent since: what has arrived besides is for operators.
  if (refund.status === 'failed') return;
  const isFromDeposits = refund.source === 'deposit';
  const paid = minedOf(refund.currency, isFromDeposits ? 'A:deposit' : 'A:treasury', mined);
  const captured = { ...holdOf(refund), net: refund.net_amount, native: paid.native };
  await ensureMined(
    tx,
    paid,
    (chainFee) =>
      isFromDeposits
        ? depositRefundJournal({ ...captured, chainFee })
        : captureJournal({ ...captured, chainFee, gasFrom: 'A:treasury', txId: mined.tx_id }),
    isFromDeposits ? ensure : captureOrRelease,
  );
  await returnLostFees(tx, refund);
  if (!isDone) await completeRefund(tx, refund, mined.tx_id);
}
/** Ends it with what has arrived, and tells its payment. */
export async function completeRefund(tx: EntityManager, refund: RefundRow, txId: string): Promise<void> {
  // Where the sender died before it could say so, and by Lightning, where sent is arrived.
  const sent = refund.status === 'processing' ? await moveRefund(tx, refund, 'broadcast', { tx_id: txId }) : refund;
  const done = await moveRefund(tx, sent, 'completed', { tx_id: txId, completed_at: byClock });
  const payment = await lockPayment(tx, refund.payment_id);
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'refunded',
    events: [],
    details: { refundId: refund.id, amount: refund.amount, txId },
  });
  if (sent !== refund) await emitRefundEvent(tx, sent, 'refund.broadcast', refund.status);
  await emitRefundEvent(tx, done, 'refund.completed', sent.status);
  await emitPaymentEvents(tx, payment, moved, []);
}
/** Ends it with nothing sent, or with a transaction that moved nothing (`txId`), which goes on counting against the
 *  limits. */
export async function failRefund(tx: EntityManager, refund: RefundRow, message: string, txId?: string): Promise<void> {
  await releaseRefund(tx, refund);
  const failed = await moveRefund(tx, refund, 'failed', {
    merchant_message: message,
    completed_at: byClock,
    ...(txId === undefined ? {} : { tx_id: txId }),
  });
  await emitRefundEvent(tx, failed, 'refund.failed', refund.status);
}
/** Out of the treasury. Why it cannot be paid now, or null. */
export async function planFromBalance(tx: EntityManager, refund: RefundRow): Promise<string | null> {
  const { planned, reason } = await planOutgoing(tx, {
    kind: 'refund',
    ref: refund.id,
    currency: refund.currency,
    outputs: [{ ref: refund.id, ...receiverOf(refund), units: baseUnits(refund.currency, refund.net_amount) }],
    merchantId: refund.merchant_id,
    owner: { kind: 'refund', id: refund.id },
  });
  return planned.length ? null : reason;
}
/** From the deposit address that it came to, whole: what its address does not get is the fee. */
export async function planFromDeposits(tx: EntityManager, refund: RefundRow): Promise<string | null> {
  const network = networkOf(refund.currency);
  const asset = assetOf(refund.currency);
  const price = await wholeUnitPrice(tx, network.id);
  const deposits = await depositsById(tx, refund.deposit_ids);
  const [from] = [...new Set(deposits.map((deposit) => deposit.address))];
  const units = baseUnits(refund.currency, refund.net_amount);
  const isCoins = network.kind === 'utxo';
  const limits = feeLimits(
    network.id,
    price,
    isCoins ? sweepWork(network.native, refund.deposit_ids.length) : network.work.native,
  );
  const intent: NewIntent = {
    kind: 'refund',
    ref: refund.id,
    network: network.id,
    currency: refund.currency,
    from_address: from!,
    outputs: [{ ...receiverOf(refund), units: units.toString() }],
    deposit_ids: refund.deposit_ids,
    max_unit_price: limits.maxUnitPrice,
    fee_budget: limits.feeBudget,
    payment_id: null,
    merchant_id: refund.merchant_id,
    owner_kind: 'refund',
    owner_id: refund.id,
  };
  if (isCoins) {
    // Coins leave nothing behind: what was kept back for the fee is the fee.
    const kept = baseUnits(refund.currency, add('0', ...deposits.map((deposit) => deposit.amount))) - units;
    const id = await planIntent(tx, { ...intent, fee_budget: larger(limits.feeBudget, kept.toString()) });
    if (id) await lockCoinsFor(tx, { id, deposit_ids: refund.deposit_ids });
    return null;
  }
  const isToken = asset.contract !== null;
  const { arrived, goneUnits } = await spendableAt(tx, {
    network: network.id,
    address: from!,
    currency: refund.currency,
    native: network.native,
  });
  const beside = toUnits(fit(arrived, asset.decimals, 'down'), asset.decimals) - BigInt(goneUnits) - units;
  // No more can be paid than was kept back for it; what earlier tries have cost was kept back too, and is gone.
  const kept = isToken ? 0n : baseUnits(refund.currency, refund.network_fee);
  const maxFee = beside < kept ? beside : kept;
  if (maxFee < kept && maxFee < BigInt(price) * network.work.native)
    return `its address does not hold ${refund.net_amount} ${refund.currency} now`;
  if (!isToken) {
    const own = limitsFor((maxFee / network.work.native).toString(), network.work.native);
    await planIntent(tx, { ...intent, max_unit_price: own.maxUnitPrice, fee_budget: own.feeBudget });
    return null;
  }
  const gas = gasFor(network, price, 1);
  await planIntent(tx, {
    ...intent,
    from_address: await gasWalletFor(tx, network.id, from!, BigInt(gas.units)),
    kind: 'gas',
    ref: `refund/${refund.id}`,
    currency: network.native,
    outputs: [{ address: from!, units: gas.units }],
    deposit_ids: [],
  });
  const own = limitsFor(gas.maxUnitPrice, network.work.token);
  await planIntent(tx, { ...intent, max_unit_price: own.maxUnitPrice, fee_budget: own.feeBudget });
  return null;
}
