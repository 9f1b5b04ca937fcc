import type { EntityManager } from 'typeorm';
import { evaluate } from '../../domain/payments/evaluate';
import type { PaymentFacts, Step } from '../../domain/payments/facts';
import type { NextStep, PaymentRow, PaymentSnapshot } from '../../domain/payments/payment';
import { failPoint } from '../../db/fail-point';
import { factsOf, lockPayment } from '../../db/payments/payments';
import { takeOtherAsset } from '../../commands/payments/accept-cross-chain';
import { bookDeposits } from '../../commands/payments/bookings';
import { openChildren } from '../../commands/payments/children';
import { rateParts } from '../../commands/payments/rates';
import { noteLoss, reverseLoss } from './deep-reorg';
import { type PaymentDeps } from './deps';
import { applyMove, noteDeposits, refundByPolicy } from './moves';
import { holdOther, leaveToMerchant, offerOther, releaseHeld } from './other-assets';
import { snapshotOf } from './snapshot';

/** Takes step after step, each in a transaction of its own, until none is left but one that is an activity itself. */
export async function advancePayment(deps: PaymentDeps, id: string): Promise<PaymentSnapshot> {
  for (;;) {
    const snapshot = await deps.db.transaction((tx) => advanceOnce(deps, tx, id));
    await failPoint('move.afterCommit');
    if (snapshot.next !== 'advance') return snapshot;
  }
}

async function advanceOnce(deps: PaymentDeps, tx: EntityManager, id: string): Promise<PaymentSnapshot> {
  const payment = await lockPayment(tx, id);
  const facts = await factsOf(tx, payment);
  const step = evaluate(facts);
  if (isActivity(step)) return snapshotOf(payment, step.do, facts);
  const after = await apply(tx, deps, payment, facts, step);
  const isDone = after === null || (step.do === 'note' && after.status === payment.status);
  return snapshotOf(after ?? payment, isDone ? 'wait' : 'advance', facts);
}

type ActivityStep = Extract<Step, { do: NextStep }>;
const isActivity = (step: Step): step is ActivityStep => ['requote', 'queueSweep', 'settle'].includes(step.do);

/** Carries a step out; the row after it, or null where nothing changed. */
async function apply(
  tx: EntityManager,
  deps: PaymentDeps,
  payment: PaymentRow,
  facts: PaymentFacts,
  step: Exclude<Step, ActivityStep>,
): Promise<PaymentRow | null> {
  switch (step.do) {
    case 'nothing':
      return null;
    case 'rate':
      await rateParts(tx, deps, payment, facts, step.parts);
      return payment;
    case 'note':
      return noteDeposits(tx, payment, step);
    case 'move':
      return applyMove(tx, deps, payment, step);
    case 'hold':
      await bookDeposits(tx, payment, step.depositIds, 'unallocated');
      await refundByPolicy(tx, deps, payment);
      return payment;
    case 'release':
      return releaseHeld(tx, payment, facts, step.depositIds);
    case 'holdOther':
      return holdOther(tx, deps, payment, step.depositIds);
    case 'offer':
      return offerOther(tx, deps, payment, step.depositIds);
    case 'leaveToMerchant':
      return leaveToMerchant(tx, payment);
    case 'openChildren':
      return openChildren(tx, deps, payment, step);
    case 'acceptCross':
      return (
        (await takeOtherAsset(tx, deps, payment, step.depositIds, 'other-asset-accepted-by-itself')) ??
        leaveToMerchant(tx, payment)
      );
    case 'alarm':
      return noteLoss(tx, payment, step.depositIds);
    case 'recover':
      return reverseLoss(tx, payment, step.depositIds);
  }
}
