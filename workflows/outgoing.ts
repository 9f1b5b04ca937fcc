import * as wf from '@temporalio/workflow';
import type { ChainActivities, SignerActivities, PaymentActivities } from '../activities';
import type { NextIntent, OpenIntent } from '../txmanager/next-intent';
import { endFoundBy } from './found-by';
import { eventsPerHistory, updatedSignal, taskQueues } from './messages';
import { untilAnswered, untilSeen } from './retry';
import { activitiesOf, waitUntil } from './summaries';

/** How long to wait before asking a signer again that could not sign yet, unless it says when. */
const signAgainInMs = 60_000;

/** Processes the intents that `next` names, one after another, until it names none: each is signed once, sent until it
 *  is mined, bumped when it is stuck, and booked at its depth. Every step is safe to repeat. A transaction under way
 *  costs six events, however often it is looked at. Returns what became of each, with its hash; null where this history
 *  has grown long and another run must go on. Invariants: 5. */
const processIntents = async (next: () => Promise<NextIntent>): Promise<string | null> => {
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
          const pauseMs = signed.lookAgainInMs ?? signAgainInMs;
          await waitUntil(() => isUpdated, pauseMs, `not signed yet, ${signed.reason ?? 'waiting'}`);
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
      let { lookAgainInMs } = sent;
      if (sent.state === 'stuck') {
        const bumped = await signer.signBump(id, sent.attempts);
        if (bumped.state === 'stored') continue;
        wf.setCurrentDetails(`${summary}: stuck, ${bumped.reason ?? 'no bump possible'}.`);
        lookAgainInMs = bumped.lookAgainInMs ?? lookAgainInMs;
      }
      await waitUntil(() => isUpdated, lookAgainInMs, `${sent.state}, ${sent.reason ?? 'for the chain'}`);
    }
  }
};

const act = activitiesOf<PaymentActivities>(untilAnswered);

/** A workflow that sends what one row, or one plan, needs: planned, signed once, sent, and booked at its depth. The
 *  rows have the state, so a closed run is simply followed by another. Returns what became of each transaction.
 *  Invariants: 5. */
const processing =
  (next: (id: string) => Promise<NextIntent>) =>
  async (id: string): Promise<string> => {
    const ended = await processIntents(() => next(id));
    return ended ?? wf.continueAsNew(id);
  };

/** Moves a confirmed payment's money to its settlement address. Workflow id: `sweep/<paymentId>`. */
export const sweep = processing((paymentId) => act.nextIntent(paymentId));
/** The same for a batch of payments in one transaction. Workflow id: `sweep-batch/<batchId>`. */
export const sweepBatch = processing((batchId) => act.nextBatchIntent(batchId));
/** Sends an approved refund to its address. Workflow id: `refund/<refundId>`. */
export const refund = processing((refundId) => act.nextRefundIntent(refundId));
/** Sends an approved withdrawal to its address. Workflow id: `withdrawal/<id>`. */
export const withdrawal = processing((id) => act.nextWithdrawalIntent(id));
/** Moves what one of our addresses holds to the hot wallet. Workflow id: `consolidate/<ref>`. */
export const consolidate = processing((ref) => act.nextConsolidation(ref));

const swaps = activitiesOf<PaymentActivities>({ ...untilSeen, startToCloseTimeout: '1 minute' });

/** An external conversion: its order is made, our deposit sent, and then watched until money has come or will not. Its
 *  rows have the state; a closed run is simply followed by another. Workflow id: `conversion/<conversionId>`.
 *  Contract: 3.2. */
export async function conversion(conversionId: string): Promise<string> {
  const next = (): Promise<NextIntent> => {
    wf.setCurrentDetails('The swap provider is at work: the activity below says what it waits for.');
    return swaps.followSwap(conversionId);
  };
  const ended = await processIntents(next);
  return ended ?? wf.continueAsNew<typeof conversion>(conversionId);
}
