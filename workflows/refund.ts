import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { carryIntents } from './carry';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);

/** Sends a refund that has been let go to its address: planned, signed once, sent, and booked at its depth. The row has the state;
 *  a closed run is simply followed by another. Workflow id: `refund/<refundId>`. Invariants: 5. */
export async function refund(refundId: string): Promise<void> {
  if (!(await carryIntents(() => act.nextRefundIntent(refundId)))) await wf.continueAsNew<typeof refund>(refundId);
}
