import * as wf from '@temporalio/workflow';
import type { ChainActivities, PaymentActivities, SignerActivities } from '../activities';
import { eventsPerHistory, newsSignal, taskQueues } from './messages';
import { untilAnswered } from './retry';

const patient = { ...untilAnswered, startToCloseTimeout: '2 minutes' };
const act = wf.proxyActivities<PaymentActivities>({ ...untilAnswered, ...patient });
const signer = wf.proxyActivities<SignerActivities>({ ...untilAnswered, ...patient, taskQueue: taskQueues.signer });

/** Carries a mass payout to the end of its last payment. A step plans as many payments as may be under way at once; all of them are
 *  signed, sent and booked together, so that a batch of 500 takes few events. Every step is safe to repeat; the rows have the state.
 *  Workflow id: `payout-batch/<batchId>`. Invariants: 5. */
export async function payoutBatch(batchId: string): Promise<void> {
  let news = false;
  wf.setHandler(newsSignal, () => {
    news = true;
  });

  while (wf.workflowInfo().historyLength < eventsPerHistory) {
    news = false;
    const step = await act.payoutStep(batchId);
    if (!step) {
      if (news) continue;
      return;
    }
    wf.setCurrentDetails(`${step.summary}.`);
    if (step.sign) await signer.signPayouts(batchId);
    for (const network of step.networks) {
      const chain = wf.proxyActivities<ChainActivities>({
        ...untilAnswered,
        ...patient,
        taskQueue: taskQueues.chain(network),
      });
      const { stuck } = await chain.sendPayouts(batchId);
      if (stuck.length) await signer.bumpPayouts(stuck);
    }
    await wf.condition(() => news, step.lookAgainInMs);
  }
  await wf.continueAsNew<typeof payoutBatch>(batchId);
}
