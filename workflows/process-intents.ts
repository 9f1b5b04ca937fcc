import * as wf from '@temporalio/workflow';
import type { ChainActivities, SignerActivities } from '../activities';
import type { NextIntent, OpenIntent } from '../txmanager/next-intent';
import { endFoundBy } from './found-by';
import { eventsPerHistory, updatedSignal, taskQueues } from './messages';
import { untilAnswered, untilSeen } from './retry';
import { activitiesOf, waitUntil } from './summaries';

/** How long to wait before asking a signer again that could not sign yet. */
const signAgainInMs = 60_000;

/** Processes the intents that `next` names, one after another, until it names none: each is signed once, sent until it
 *  is mined, bumped when it is stuck, and booked at its depth. Every step is safe to repeat. A transaction under way
 *  costs six events, however often it is looked at. Returns what became of each, with its hash; null where this history
 *  has grown long and another run must go on. Invariants: 5. */
export const processIntents = async (next: () => Promise<NextIntent>): Promise<string | null> => {
  const ended: string[] = [];
  const txIds: string[] = [];
  let isUpdated = false;
  wf.setHandler(updatedSignal, () => {
    isUpdated = true;
  });

  const hasEventsLeft = (): boolean => wf.workflowInfo().historyLength < eventsPerHistory;

  while (hasEventsLeft()) {
    isUpdated = false;
    const intent = await next();
    if (!intent) {
      if (isUpdated) continue;
      const lastWords = ended.join('\n\n') || 'Nothing was left to send.';
      wf.setCurrentDetails(lastWords);
      endFoundBy(txIds);
      return lastWords;
    }
    if ('lookAgainInMs' in intent) {
      wf.setCurrentDetails(`Nothing is sent yet: ${intent.reason}.`);
      await waitUntil(() => isUpdated, intent.lookAgainInMs, intent.reason);
      continue;
    }
    await processIntent(intent);
  }
  endFoundBy(txIds);
  return null;

  /** One intent, from its signature to the ledger; or until this history has grown long. */
  async function processIntent({ id, network, summary }: OpenIntent): Promise<void> {
    const chain = activitiesOf<ChainActivities>({ ...untilSeen, taskQueue: taskQueues.chain(network) }, summary);
    const signer = activitiesOf<SignerActivities>({ ...untilAnswered, taskQueue: taskQueues.signer }, summary);
    wf.setCurrentDetails(`${summary}.`);
    const end = (how: string): void => void ended.push(`${summary}: ${how}.`);
    let isSigned = false;
    while (hasEventsLeft()) {
      isUpdated = false;
      if (!isSigned) {
        const signed = await signer.signOnce(id);
        if (signed.state === 'dropped') return end(`not sent, ${signed.reason ?? 'it is not needed any more'}`);
        isSigned = signed.state === 'stored';
        if (!isSigned) {
          wf.setCurrentDetails(`${summary}: not signed yet, ${signed.reason ?? 'waiting'}.`);
          await waitUntil(() => isUpdated, signAgainInMs, `not signed yet, ${signed.reason ?? 'waiting'}`);
          continue;
        }
        wf.setCurrentDetails(`${summary}, until it is booked: the activity below says what it waits for.`);
      }
      const sent = await chain.followIntent(id);
      // The rows say what is signed, and not this history: somebody else may have answered for the signer.
      if (sent.attempts === 0) isSigned = false;
      if (sent.txId) txIds.push(sent.txId);
      const hash = sent.txId ? `, transaction ${sent.txId}` : '';
      if (sent.state === 'final') return end(`in the chain and booked${hash}`);
      if (sent.state === 'failed') return end(`failed in the chain, its fee is booked${hash}`);
      if (sent.state === 'dropped') return end(`not sent, ${sent.reason ?? 'it is not needed any more'}`);
      if (sent.reason) wf.setCurrentDetails(`${summary}: ${sent.state}, ${sent.reason}.`);
      if (sent.state === 'stuck') {
        const bumped = await signer.signBump(id, sent.attempts);
        if (bumped.state === 'stored') continue;
        wf.setCurrentDetails(`${summary}: stuck, ${bumped.reason ?? 'no bump possible'}.`);
      }
      await waitUntil(() => isUpdated, sent.lookAgainInMs, `${sent.state}, ${sent.reason ?? 'for the chain'}`);
    }
  }
};
