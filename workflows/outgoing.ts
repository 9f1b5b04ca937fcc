import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import type { NextIntent } from '../txmanager/next-intent';
import { processIntents } from './process-intents';
import { untilAnswered } from './retry';
import { activitiesOf } from './summaries';

const act = activitiesOf<PaymentActivities>(untilAnswered);

/** A workflow that sends what one row, or one plan, needs: planned, signed once, sent, and booked at its depth. The
 *  rows have the state, so a closed run is simply followed by another. Returns what became of each transaction.
 *  Invariants: 5. */
const processing =
  (next: (id: string) => Promise<NextIntent>) =>
  async (id: string): Promise<string> => {
    const ended = await processIntents(() => next(id));
    return ended ?? wf.continueAsNew(id);
  };

/** Moves a confirmed payment's money to its settlement address. Workflow id: `sweep/<paymentId>`. */
export const sweep = processing((paymentId) => act.nextIntent(paymentId));
/** The same for a batch of payments in one transaction. Workflow id: `sweep-batch/<batchId>`. */
export const sweepBatch = processing((batchId) => act.nextBatchIntent(batchId));
/** Sends an approved refund to its address. Workflow id: `refund/<refundId>`. */
export const refund = processing((refundId) => act.nextRefundIntent(refundId));
/** Sends an approved withdrawal to its address. Workflow id: `withdrawal/<id>`. */
export const withdrawal = processing((id) => act.nextWithdrawalIntent(id));
/** Moves what one of our addresses holds to the hot wallet. Workflow id: `consolidate/<ref>`. */
export const consolidate = processing((ref) => act.nextConsolidation(ref));
