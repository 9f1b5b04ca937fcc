import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { carryIntents } from './carry';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);

/** Moves what one of our addresses holds to the hot wallet. Workflow id: `consolidate/<ref>`. Invariants: 5. */
export async function consolidate(ref: string): Promise<void> {
  if (!(await carryIntents(() => act.nextConsolidation(ref)))) await wf.continueAsNew<typeof consolidate>(ref);
}
