import * as wf from '@temporalio/workflow';
import type { LightningActivities } from '../activities';
import { taskQueues } from './messages';
import { activitiesOf, pause } from './summaries';

/** The follower of our Lightning node, as that of a network is (follow-chain.ts). Workflow id: `lightning`. */
export async function followLightning(): Promise<void> {
  wf.setCurrentDetails('Follows our Lightning node. The activity below runs for ever; its attempts count restarts.');
  const lightning = activitiesOf<LightningActivities>({
    taskQueue: taskQueues.lightning,
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '3s',
    retry: { initialInterval: '500ms', backoffCoefficient: 1.2, maximumInterval: '5s' },
  });
  try {
    await lightning.followLightning();
  } catch (error) {
    if (wf.isCancellation(error)) throw error;
    await pause('1s', 'A day is over, or the follower was refused: it starts again');
  }
  await wf.continueAsNew<typeof followLightning>();
}
