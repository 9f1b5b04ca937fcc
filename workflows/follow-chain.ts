import * as wf from '@temporalio/workflow';
import type { ChainActivities } from '../activities';
import { taskQueues } from './messages';
import { activitiesOf, pause } from './summaries';

/** The follower of one network: one activity that beats twice a second and never returns while its worker lives.
 *  Temporal starts it on another worker when the beats stop, so there is exactly one. Workflow id:
 *  `chain/<network>`. */
export async function followChain(network: string): Promise<void> {
  wf.setCurrentDetails(`Follows ${network}. The activity below runs for ever; its attempts count restarts.`);
  const chain = activitiesOf<ChainActivities>(
    {
      taskQueue: taskQueues.chain(network),
      startToCloseTimeout: '1 day',
      heartbeatTimeout: '3s',
      retry: { initialInterval: '500ms', backoffCoefficient: 1.2, maximumInterval: '5s' },
    },
    network,
  );
  try {
    await chain.followChain();
  } catch (error) {
    // A day is over, or the activity was refused for good: either way the next run starts it again.
    if (wf.isCancellation(error)) throw error;
    await pause('1s', 'A day is over, or the follower was refused: it starts again');
  }
  await wf.continueAsNew<typeof followChain>(network);
}
