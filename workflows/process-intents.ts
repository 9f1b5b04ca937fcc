import * as wf from '@temporalio/workflow';
import type { ChainActivities, SignerActivities } from '../activities';
import type { NextIntent, OpenIntent } from '../txmanager/next-intent';
import { eventsPerHistory, updatedSignal, taskQueues } from './messages';
import { untilAnswered, untilSeen } from './retry';

const signer = wf.proxyActivities<SignerActivities>({ ...untilAnswered, taskQueue: taskQueues.signer });

/** How long to wait before asking a signer again that could not sign yet. */
const signAgainInMs = 60_000;

/** Processes the intents that `next` names, one after another, until it names none: each is signed once, sent until it
 *  is mined, bumped when it is stuck, and booked at its depth. Every step is safe to repeat. A transaction under way
 *  costs six events, however often it is looked at. Returns false where this history has grown long and another run
 *  must go on. Invariants: 5. */
export const processIntents = async (next: () => Promise<NextIntent>): Promise<boolean> => {
  let isUpdated = false;
  wf.setHandler(updatedSignal, () => {
    isUpdated = true;
  });

  const hasRoom = (): boolean => wf.workflowInfo().historyLength < eventsPerHistory;

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
        wf.setCurrentDetails(`${summary}, until it is booked: the activity below says what it waits for.`);
      }
      const sent = await chain.followIntent(id);
      // The rows say what is signed, and not this history: somebody else may have answered for the signer.
      if (sent.attempts === 0) isSigned = false;
      if (sent.state === 'final' || sent.state === 'failed' || sent.state === 'dropped') return;
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
