import type { EntityManager } from 'typeorm';
import { evaluate } from '../../domain/payments/evaluate';
import type { PaymentFacts, Step } from '../../domain/payments/facts';
import { isFinal, type NextStep, type PaymentRow, type PaymentSnapshot } from '../../domain/payments/payment';
import { snapshotOf } from '../../domain/payments/snapshot';
import { factsOf, lockPayment } from '../../db/payments/payments';
import { takeOtherAsset } from './accept-cross-chain';
import { bookDeposits } from './bookings';
import { openChildren } from './children';
import { rateParts } from './rates';
import { noteLoss, reverseLoss } from './deep-reorg';
import type { AdvanceDeps } from './deps';
import { applyMove, noteDeposits, refundByPolicy } from './moves';
import { bookOther, leaveToMerchant, offerOther, reverseUnallocated } from './other-assets';

/** Takes the step that a payment's facts ask for, if it is no activity of its own. `next` is `advance` where another
 *  may follow. */
export async function advancePayment(tx: EntityManager, deps: AdvanceDeps, id: string): Promise<PaymentSnapshot> {
  const payment = await lockPayment(tx, id);
  const facts = await factsOf(tx, payment);
  const step = evaluate(facts);
  if (isActivity(step)) return snapshotOf(payment, step.do, facts);
  const after = await apply(tx, deps, payment, facts, step);
  const isDone = after === null || (step.do === 'note' && after.status === payment.status) || isOver(after, facts);
  return snapshotOf(after ?? payment, isDone ? 'wait' : 'advance', facts);
}

/** What has ended without a deposit is moved by one alone, which wakes its workflow: most payments end so. */
const isOver = ({ status }: PaymentRow, { deposits }: PaymentFacts): boolean => isFinal(status) && !deposits.length;

type ActivityStep = Extract<Step, { do: NextStep }>;
const isActivity = (step: Step): step is ActivityStep => ['requote', 'queueSweep', 'settle'].includes(step.do);

/** Carries a step out; the row after it, or null where nothing changed. */
async function apply(
  tx: EntityManager,
  deps: AdvanceDeps,
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
    case 'leaveUnallocated':
      await bookDeposits(tx, payment, step.depositIds, 'unallocated');
      await refundByPolicy(tx, deps, payment);
      return payment;
    case 'reverseUnallocated':
      return reverseUnallocated(tx, payment, facts, step.depositIds);
    case 'bookOther':
      return bookOther(tx, deps, payment, step.depositIds);
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
