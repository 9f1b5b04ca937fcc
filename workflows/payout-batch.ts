import * as wf from '@temporalio/workflow';
import type { NetworkId } from '../domain/chains/assets';
import type { ChainActivities, PaymentActivities, SignerActivities } from '../activities';
import { endFoundBy } from './found-by';
import { eventsPerHistory, updatedSignal, taskQueues } from './messages';
import { untilAnswered } from './retry';
import { activitiesOf, waitUntil } from './summaries';

const patient = { ...untilAnswered, startToCloseTimeout: '2 minutes' };
const act = activitiesOf<PaymentActivities>({ ...untilAnswered, ...patient });
const signer = activitiesOf<SignerActivities>({ ...untilAnswered, ...patient, taskQueue: taskQueues.signer });

/** Processes a mass payout until its last line has ended. A step plans as many lines as may be under way at once; all
 *  of them are signed, sent and booked together, so that a batch of 500 takes few events, and signed transfers are sent
 *  while the signer works on the others. Every step is safe to repeat; the rows have the state. Workflow id:
 *  `payout-batch/<batchId>`. Invariants: 5. */
export async function payoutBatch(batchId: string): Promise<string> {
  let isUpdated = false;
  const txIds = new Set<string>();
  wf.setHandler(updatedSignal, () => {
    isUpdated = true;
  });
  const sendAll = (networks: readonly NetworkId[], isSigning = false) =>
    Promise.all(
      networks.map((network) =>
        activitiesOf<ChainActivities>(
          { ...untilAnswered, ...patient, taskQueue: taskQueues.chain(network) },
          network,
        ).sendPayouts(batchId, isSigning),
      ),
    );

  while (wf.workflowInfo().historyLength < eventsPerHistory) {
    isUpdated = false;
    const step = await act.payoutStep(batchId);
    if (!step) {
      if (isUpdated) continue;
      const ended = 'All payments of the batch on chains have ended: sent and booked, or given back to the balance.';
      wf.setCurrentDetails(ended);
      endFoundBy([...txIds]);
      return ended;
    }
    wf.setCurrentDetails(`${step.summary}.`);
    const { networks } = step;
    const [sent] = await Promise.all([sendAll(networks, step.sign), step.sign && signer.signPayouts(batchId)]);
    const late = networks.filter((_, n) => sent[n]!.isLeft);
    const looks = [...sent, ...(await sendAll(late))];
    for (const txId of looks.flatMap((one) => one.txIds ?? [])) txIds.add(txId);
    const stuck = looks.flatMap((one) => one.stuck);
    if (stuck.length) await signer.bumpPayouts(stuck);
    await waitUntil(() => isUpdated, step.lookAgainInMs, step.summary);
  }
  endFoundBy([...txIds]);
  return wf.continueAsNew<typeof payoutBatch>(batchId);
}
