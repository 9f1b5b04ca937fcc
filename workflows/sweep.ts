import * as wf from '@temporalio/workflow';
import type { ChainActivities, PaymentActivities, SignerActivities } from '../activities';
import { newsSignal, taskQueues } from './messages';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);
const signer = wf.proxyActivities<SignerActivities>({ ...untilAnswered, taskQueue: taskQueues.signer });

/** How long to wait before asking a signer again that could not sign yet. */
const signAgainInMs = 60_000;

/** Moves a confirmed payment's money to its settlement address: each intent in turn is signed once, sent until it is mined, bumped
 *  when it is stuck, and booked at its depth. Every step is safe to repeat; a payment keeps its sweep for ever, so a closed run is
 *  simply followed by another. Workflow id: `sweep/<paymentId>`. Invariants: 5. */
export async function sweep(paymentId: string): Promise<void> {
  let news = false;
  wf.setHandler(newsSignal, () => {
    news = true;
  });

  while (!wf.workflowInfo().continueAsNewSuggested) {
    news = false;
    const intent = await act.nextIntent(paymentId);
    if (!intent) {
      if (news) continue;
      return;
    }
    const chain = wf.proxyActivities<ChainActivities>({
      ...untilAnswered,
      taskQueue: taskQueues.chain(intent.network),
    });
    wf.setCurrentDetails(`${intent.summary}.`);
    const signed = await signer.signOnce(intent.id);
    if (signed.state === 'waiting') {
      wf.setCurrentDetails(`${intent.summary}: not signed yet, ${signed.reason ?? 'waiting'}.`);
      await wf.condition(() => news, signAgainInMs);
      continue;
    }
    const sent = await chain.sendIntent(intent.id);
    if (sent.state === 'final' || sent.state === 'failed') {
      await act.finishIntent(intent.id);
      continue;
    }
    if (sent.reason) wf.setCurrentDetails(`${intent.summary}: ${sent.state}, ${sent.reason}.`);
    if (sent.state === 'stuck') {
      const bumped = await signer.signBump(intent.id, sent.attempts);
      if (bumped.state === 'stored') continue;
      wf.setCurrentDetails(`${intent.summary}: stuck, ${bumped.reason ?? 'no bump possible'}.`);
    }
    await wf.condition(() => news, sent.lookAgainInMs);
  }
  await wf.continueAsNew<typeof sweep>(paymentId);
}
