import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { carryIntents } from './carry';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);

/** Sends a withdrawal that has been let go: planned, signed once, sent, and booked at its depth. The row has the state; a closed run
 *  is simply followed by another. Workflow id: `withdrawal/<id>`. Invariants: 5. */
export async function withdrawal(id: string): Promise<void> {
  if (!(await carryIntents(() => act.nextWithdrawalIntent(id)))) await wf.continueAsNew<typeof withdrawal>(id);
}
