import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import type { NextIntent } from '../txmanager/next-intent';
import { processIntents } from './process-intents';
import { untilSeen } from './retry';
import { activitiesOf } from './summaries';

const act = activitiesOf<PaymentActivities>({ ...untilSeen, startToCloseTimeout: '1 minute' });

/** An external conversion: its order is made, our deposit sent, and then watched until money has come or will not. Its
 *  rows have the state; a closed run is simply followed by another. Workflow id: `conversion/<conversionId>`.
 *  Contract: 3.2. */
export async function conversion(conversionId: string): Promise<string> {
  const next = (): Promise<NextIntent> => {
    wf.setCurrentDetails('The swap provider is at work: the activity below says what it waits for.');
    return act.followSwap(conversionId);
  };
  const ended = await processIntents(next);
  return ended ?? wf.continueAsNew<typeof conversion>(conversionId);
}
