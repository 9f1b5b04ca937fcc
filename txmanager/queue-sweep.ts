import type { EntityManager } from 'typeorm';
import { networkOf } from '../domain/chains/assets';
import type { GasAnswer } from '../domain/chains/chain';
import { sharesAccount } from '../domain/chains/tags';
import { add } from '../domain/money';
import type { PaymentRow } from '../domain/payments/payment';
import { sweepCost } from '../domain/sweeps/sweep';
import { costsTooMuch, priceLookMs } from '../domain/sweeps/sweep-batch';
import { ownerWorkflow, type IntentOwner } from '../domain/workflow-ids';
import { freshUnitPrice } from '../db/chains/fees';
import { startSweep, notifyPayment } from '../db/chains/notify';
import { openIncident } from '../db/incidents';
import { unsettledDeposits } from '../db/payments/deposits';
import { emitPaymentEvents, databaseNow, lockPayment, movePayment } from '../db/payments/payments';
import { intentsOf, ownerOf } from '../db/txmanager/intents';
import { lookAgainInMs } from './plan-outgoing';
import { planAlone } from './plan-sweep-alone';
import { canBatch, lockGroup, planTogether } from './plan-sweep-batch';
import { settleOnAccount } from './settle';
import { settlementRefused } from './settlement-gas';
import { deadlinesOf, isPlanned, orphanedFor, readyDeposits, type Ready, type SweepTerms } from './sweep-terms';
import { reassignLostSweeps } from './reassign-lost';

/** Whether sweeps of a payment are under way, or why not yet. */
export type Queued = Readonly<{ queued: boolean; reason?: string; lookAgainInMs?: number }>;

/** CONFIRMED → SWEEP_QUEUED with its intents (row 15), with every other payment that is ready for the same address, or
 *  nothing while it waits: for others, for a better price, or for a fresh fee estimate. The same deposits always find
 *  the same intents. `settlement`: what the gas of the transfer to the merchant's own address is. */
export async function queueSweep(
  tx: EntityManager,
  terms: SweepTerms,
  paymentId: string,
  settlement: GasAnswer | null,
): Promise<Queued> {
  await lockGroup(tx, paymentId, terms);
  const payment = await lockPayment(tx, paymentId);
  if (payment.status !== 'CONFIRMED' || !payment.currency)
    return { queued: payment.status === 'SWEEP_QUEUED', reason: payment.status };
  if (sharesAccount(networkOf(payment.currency).id)) return settleWhereItIs(tx, payment);
  const lost = await reassignLostSweeps(tx, paymentId);
  if (lost !== null) return { queued: false, reason: lost, lookAgainInMs };
  const own = { payment, deposits: await unsettledDeposits(tx, paymentId) };
  const known = await intentsOf(tx, paymentId);
  const moved: Array<{ before: PaymentRow; after: PaymentRow }> = [];
  const queue = async (ready: Ready, owner: IntentOwner): Promise<void> => {
    const { payment: before, deposits } = ready;
    const after = await movePayment(tx, before, {
      to: 'SWEEP_QUEUED',
      cause: 'sweep-planned',
      events: ['payment.sweep_queued'],
      patch: { sweep_state: 'queued' },
      details: { depositIds: deposits.map((deposit) => deposit.id), sweep: ownerWorkflow(owner).workflowId },
    });
    moved.push({ before, after });
    if (before.id !== paymentId) await notifyPayment(tx, before.id);
  };

  if (isPlanned(known, own.deposits)) {
    const ids = own.deposits.map((deposit) => deposit.id);
    const live = known.filter((intent) => intent.status !== 'dead' && ids.includes(intent.deposit_ids[0] ?? ''));
    await queue(own, ownerOf(live[0]!));
    // Where the end of all its intents is booked, no workflow of the sweep is left that would signal the payment.
    if (live.every((intent) => intent.booked)) await notifyPayment(tx, paymentId);
    else await startSweep(tx, payment, ownerOf(live[0]!));
  } else {
    const planned =
      settlement?.state === 'reverts'
        ? { wait: settlementRefused, lookAgainInMs: refusedLookMs, isOverdue: true }
        : await planNow(tx, own, terms, settlement?.state === 'done' ? settlement.gas : undefined);
    if ('wait' in planned) {
      await noteSweepWaits(tx, payment, planned);
      return { queued: false, reason: planned.wait, lookAgainInMs: planned.lookAgainInMs };
    }
    for (const ready of planned.members) await queue(ready, planned.owner);
    await startSweep(tx, payment, planned.owner);
  }
  for (const { before, after } of moved) await emitPaymentEvents(tx, before, after, ['payment.sweep_queued']);
  return { queued: true };
}

/** CONFIRMED → SWEEP_QUEUED → SETTLED: there is nothing to be swept where payments share the treasury's account. */
async function settleWhereItIs(tx: EntityManager, payment: PaymentRow): Promise<Queued> {
  const deposits = await readyDeposits(tx, payment.id);
  if (!deposits.length) return { queued: false, reason: 'a deposit of it is not confirmed now', lookAgainInMs };
  const queued = await movePayment(tx, payment, {
    to: 'SWEEP_QUEUED',
    cause: 'on-account',
    events: ['payment.sweep_queued'],
    patch: { sweep_state: 'queued' },
    details: { depositIds: deposits.map((deposit) => deposit.id) },
  });
  await emitPaymentEvents(tx, payment, queued, ['payment.sweep_queued']);
  await settleOnAccount(tx, queued, deposits);
  await notifyPayment(tx, payment.id);
  return { queued: true };
}

/** How often a settlement address that refuses is tried again. */
const refusedLookMs = 900_000;

/** Why a payment waits, once per reason on its timeline; and an alert where the promised time has passed. */
async function noteSweepWaits(
  tx: EntityManager,
  payment: PaymentRow,
  planned: Extract<Planned, { wait: string }>,
): Promise<void> {
  const [known] = await tx.query<unknown[]>(
    `SELECT 1 FROM payment_event WHERE payment_id = $1 AND cause = 'sweep-waits' AND details->>'reason' = $2
        AND at >= coalesce($3, at) LIMIT 1`,
    [payment.id, planned.wait, payment.confirmed_at],
  );
  if (!known) {
    const noted = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'sweep-waits',
      events: [],
      details: { reason: planned.wait },
    });
    await emitPaymentEvents(tx, payment, noted, []);
  }
  if (planned.isOverdue)
    await openIncident(tx, {
      kind: 'sweep-overdue',
      subject: { kind: 'payment', id: payment.id },
      details: { paymentId: payment.id, reason: planned.wait },
    });
}

/** Whom a sweep moves, and whose the sweep is; or why it waits, and until when at the most. */
type Planned =
  | Readonly<{ owner: IntentOwner; members: readonly Ready[] }>
  | Readonly<{ wait: string; lookAgainInMs: number; isOverdue: boolean }>;

/** Plans the sweep of a payment: with others where there are some, alone where that costs little or the time is up, or
 *  later. */
async function planNow(tx: EntityManager, own: Ready, terms: SweepTerms, settlementGas?: bigint): Promise<Planned> {
  const { payment } = own;
  const now = await databaseNow(tx);
  const { confirmed, batch, price } = deadlinesOf(payment, terms);
  const lookMs = priceLookMs(now.getTime() - confirmed.getTime());
  // It goes on alone where something is signed already.
  const hasOrphaned = (await orphanedFor(tx, own)).length > 0;
  if (!hasOrphaned && canBatch(payment, terms) && now < batch)
    return wait(`it is swept with others at ${batch.toISOString()}`, batch.getTime() - now.getTime() + 50);
  const planned = hasOrphaned ? null : await planTogether(tx, own, terms, now);
  if (planned) return { owner: { kind: 'sweep-batch', id: planned.id }, members: planned.members };
  const isDue = now >= price;
  if (!isDue && (await isAboveMaxCost(tx, own, terms))) {
    const reason =
      `its sweep alone would cost more than ${terms.maxCostPct} % of it; ` +
      `it waits for other payments or a better price until ${price.toISOString()}`;
    return wait(reason, Math.min(lookMs, price.getTime() - now.getTime() + 50));
  }
  if (await planAlone(tx, own, settlementGas)) return { owner: { kind: 'sweep', id: payment.id }, members: [own] };
  return { ...wait('moving it would cost more than it is worth now', lookMs), isOverdue: isDue };
}

const wait = (reason: string, lookAgainInMs: number): Extract<Planned, { wait: string }> => ({
  wait: reason,
  lookAgainInMs,
  isOverdue: false,
});

async function isAboveMaxCost(tx: EntityManager, { payment, deposits }: Ready, terms: SweepTerms): Promise<boolean> {
  const currency = payment.currency!;
  const network = networkOf(currency);
  const count = network.kind === 'utxo' ? deposits.length : new Set(deposits.map((one) => one.address)).size;
  const cost = sweepCost(currency, count, await freshUnitPrice(tx, network.id), payment.native_rate!);
  return costsTooMuch(cost, add('0', ...deposits.map((deposit) => deposit.amount)), terms.maxCostPct);
}
