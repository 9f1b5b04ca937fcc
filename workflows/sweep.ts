import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { carryIntents } from './carry';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);

/** Moves a confirmed payment's money to its settlement address. A payment keeps its sweep for ever, so a closed run is simply
 *  followed by another. Workflow id: `sweep/<paymentId>`. Invariants: 5. */
export async function sweep(paymentId: string): Promise<void> {
  if (!(await carryIntents(() => act.nextIntent(paymentId)))) await wf.continueAsNew<typeof sweep>(paymentId);
}

/** The same for a batch of payments in one transaction. Workflow id: `sweep-batch/<batchId>`. */
export async function sweepBatch(batchId: string): Promise<void> {
  if (!(await carryIntents(() => act.nextBatchIntent(batchId)))) await wf.continueAsNew<typeof sweepBatch>(batchId);
}
