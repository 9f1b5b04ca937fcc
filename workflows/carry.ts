import * as wf from '@temporalio/workflow';
import type { ChainActivities, PaymentActivities, SignerActivities } from '../activities';
import type { NextIntent, OpenIntent } from '../activities/sweeps';
import { newsSignal, taskQueues } from './messages';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);
const signer = wf.proxyActivities<SignerActivities>({ ...untilAnswered, taskQueue: taskQueues.signer });

/** How long to wait before asking a signer again that could not sign yet. */
const signAgainInMs = 60_000;

/** Carries what `next` names, until it names nothing more: each intent in turn is signed once, sent until it is mined, bumped when
 *  it is stuck, and booked at its depth. Every step is safe to repeat. Returns false where this history has grown long and another
 *  run must go on. Invariants: 5. */
export const carryIntents = async (next: () => Promise<NextIntent>): Promise<boolean> => {
  let news = false;
  wf.setHandler(newsSignal, () => {
    news = true;
  });

  while (!wf.workflowInfo().continueAsNewSuggested) {
    news = false;
    const intent = await next();
    if (!intent) {
      if (news) continue;
      return true;
    }
    if ('lookAgainInMs' in intent) {
      wf.setCurrentDetails(`Nothing is sent yet: ${intent.reason}.`);
      await wf.condition(() => news, intent.lookAgainInMs);
      continue;
    }
    await carry(intent);
  }
  return false;

  /** One intent, from its signature to the ledger; or until this history has grown long. */
  async function carry({ id, network, summary }: OpenIntent): Promise<void> {
    const chain = wf.proxyActivities<ChainActivities>({ ...untilAnswered, taskQueue: taskQueues.chain(network) });
    wf.setCurrentDetails(`${summary}.`);
    let isSigned = false;
    while (!wf.workflowInfo().continueAsNewSuggested) {
      news = false;
      if (!isSigned) {
        const signed = await signer.signOnce(id);
        if (signed.state === 'dropped') return;
        isSigned = signed.state === 'stored';
        if (!isSigned) wf.setCurrentDetails(`${summary}: not signed yet, ${signed.reason ?? 'waiting'}.`);
      }
      const sent = isSigned ? await chain.sendIntent(id) : null;
      if (sent?.state === 'final' || sent?.state === 'failed') {
        await act.finishIntent(id);
        return;
      }
      if (sent?.state === 'dropped') return;
      if (sent?.reason) wf.setCurrentDetails(`${summary}: ${sent.state}, ${sent.reason}.`);
      if (sent?.state === 'stuck') {
        const bumped = await signer.signBump(id, sent.attempts);
        if (bumped.state === 'stored') continue;
        wf.setCurrentDetails(`${summary}: stuck, ${bumped.reason ?? 'no bump possible'}.`);
      }
      await wf.condition(() => news, sent?.lookAgainInMs ?? signAgainInMs);
    }
  }
};
