import * as wf from '@temporalio/workflow';
import type { ChainActivities, PaymentActivities, SignerActivities } from '../activities';
import type { NextIntent, OpenIntent } from '../txmanager/next-intent';
import { eventsPerHistory, updatedSignal, taskQueues } from './messages';
import { untilAnswered, untilSeen } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);
const signer = wf.proxyActivities<SignerActivities>({ ...untilAnswered, taskQueue: taskQueues.signer });

/** Runs from before it have a step in their history for each look at a transaction. */
const followPatch = 'follow-intents';

/** How long to wait before asking a signer again that could not sign yet. */
const signAgainInMs = 60_000;

/** Carries what `next` names, until it names nothing more: each intent in turn is signed once, sent until it is mined, bumped when
 *  it is stuck, and booked at its depth. Every step is safe to repeat. A transaction under way costs six events, however
 *  often it is looked at. Returns false where this history has grown long and another run must go on. Invariants: 5. */
export const processIntents = async (next: () => Promise<NextIntent>): Promise<boolean> => {
  let isUpdated = false;
  wf.setHandler(updatedSignal, () => {
    isUpdated = true;
  });

  const isFollowed = wf.patched(followPatch);
  const hasRoom = (): boolean => {
    const { continueAsNewSuggested, historyLength } = wf.workflowInfo();
    return isFollowed ? historyLength < eventsPerHistory : !continueAsNewSuggested;
  };

  while (hasRoom()) {
    isUpdated = false;
    const intent = await next();
    if (!intent) {
      if (isUpdated) continue;
      return true;
    }
    if ('lookAgainInMs' in intent) {
      wf.setCurrentDetails(`Nothing is sent yet: ${intent.reason}.`);
      await wf.condition(() => isUpdated, intent.lookAgainInMs);
      continue;
    }
    await processIntent(intent);
  }
  return false;

  /** One intent, from its signature to the ledger; or until this history has grown long. */
  async function processIntent({ id, network, summary }: OpenIntent): Promise<void> {
    const chain = wf.proxyActivities<ChainActivities>({ ...untilSeen, taskQueue: taskQueues.chain(network) });
    wf.setCurrentDetails(`${summary}.`);
    let isSigned = false;
    while (hasRoom()) {
      isUpdated = false;
      if (!isSigned) {
        const signed = await signer.signOnce(id);
        if (signed.state === 'dropped') return;
        isSigned = signed.state === 'stored';
        if (!isSigned) {
          wf.setCurrentDetails(`${summary}: not signed yet, ${signed.reason ?? 'waiting'}.`);
          await wf.condition(() => isUpdated, signAgainInMs);
          continue;
        }
        if (isFollowed)
          wf.setCurrentDetails(`${summary}, until it is booked: the activity below says what it waits for.`);
      }
      const sent = await (isFollowed ? chain.followIntent(id) : chain.sendIntent(id));
      if (sent.state === 'final' || sent.state === 'failed') {
        if (!isFollowed) await act.finishIntent(id);
        return;
      }
      if (sent.state === 'dropped') return;
      if (sent.reason) wf.setCurrentDetails(`${summary}: ${sent.state}, ${sent.reason}.`);
      if (sent.state === 'stuck') {
        const bumped = await signer.signBump(id, sent.attempts);
        if (bumped.state === 'stored') continue;
        wf.setCurrentDetails(`${summary}: stuck, ${bumped.reason ?? 'no bump possible'}.`);
      }
      await wf.condition(() => isUpdated, sent.lookAgainInMs);
    }
  }
};
