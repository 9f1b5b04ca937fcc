import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { updatedSignal, taskQueues } from './messages';
import { untilAnswered } from './retry';
import { activitiesOf, waitUntil } from './summaries';

const act = activitiesOf<PaymentActivities>({
  ...untilAnswered,
  taskQueue: taskQueues.webhooks,
  startToCloseTimeout: '40s',
});

/** Delivers one event to one endpoint after its first attempt has failed: with growing pauses, for about three days. A
 *  dead endpoint delays nobody else. A signal tries again at once; one that comes as it ends may be a new round.
 *  Workflow id: `webhook/<deliveryId>`. Contract: G4. */
export async function webhook(deliveryId: string): Promise<string> {
  let isUpdated = false;
  wf.setHandler(updatedSignal, () => {
    isUpdated = true;
  });
  for (;;) {
    isUpdated = false;
    const delivered = await act.deliverOnce(deliveryId, 0.9 + Math.random() * 0.2);
    const { type, endpoint, attempt, statusCode } = delivered;
    const answer = statusCode === null ? 'no answer' : `HTTP ${statusCode}`;
    if (delivered.status !== 'retrying') {
      if (isUpdated) continue;
      wf.setCurrentDetails(
        attempt
          ? `**${type}** to endpoint ${endpoint}: **${delivered.status}** at attempt ${attempt}, ${answer}.`
          : `Ended **${delivered.status}**: there was nothing to deliver.`,
      );
      return delivered.status;
    }
    wf.setCurrentDetails(`**${type}** to endpoint ${endpoint}: attempt ${attempt} failed, ${answer}.`);
    await waitUntil(() => isUpdated, delivered.nextInMs, `attempt ${attempt} failed, ${answer}`);
  }
}
