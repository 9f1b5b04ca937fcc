import * as wf from '@temporalio/workflow';
import type { NetworkId } from '../domain/chains/assets';
import type { ChainActivities, PaymentActivities, SignerActivities } from '../activities';
import { endFoundBy } from './found-by';
import { eventsPerHistory, updatedSignal, taskQueues } from './messages';
import { untilAnswered } from './retry';
import { activitiesOf, waitFor, waitUntil } from './summaries';

const patient = { ...untilAnswered, startToCloseTimeout: '2 minutes' };
/** `network`: what they are asked for. */
const paymentsOf = (network?: NetworkId) => activitiesOf<PaymentActivities>({ ...untilAnswered, ...patient }, network);
const signerOf = (network?: NetworkId) =>
  activitiesOf<SignerActivities>({ ...untilAnswered, ...patient, taskQueue: taskQueues.signer }, network);

/** How long a network rests after a final refusal; the others go on. */
const restMs = 60_000;

/** What a batch does on a network; without one on all of them, as batches did that were started before
 *  `payout-networks`. `lookedAt`: how many updates were known when its last look began. `hasEnded`: that look found
 *  nothing left to do. */
type Part = { readonly network?: NetworkId; lookedAt: number; hasEnded: boolean; says: string };

/** Processes a mass payout until its last line has ended, on each network by itself: a node, a worker or a signature
 *  that one of them waits for holds up no other. A step plans as many lines as may be under way at once; all of them
 *  are signed, sent and booked together, so that a batch of 500 takes few events, and signed transfers are sent while
 *  the signer works on the others. Every step is safe to repeat; the rows have the state. Workflow id:
 *  `payout-batch/<batchId>`. Invariants: 5. Decision: 0101. */
export async function payoutBatch(batchId: string): Promise<string> {
  let updates = 0;
  const txIds = new Set<string>();
  wf.setHandler(updatedSignal, () => {
    updates += 1;
  });
  const begun = { lookedAt: 0, hasEnded: false, says: 'begins' };
  const parts: readonly Part[] = wf.patched('payout-networks')
    ? (await paymentsOf().payoutNetworks(batchId)).map((network) => ({ ...begun, network }))
    : [{ ...begun }];
  // Money that a reorganisation brings back on a network that had ended is told by an update.
  const isOver = (): boolean => parts.every(({ hasEnded, lookedAt }) => hasEnded && lookedAt === updates);
  const tell = (part: Part, says: string): void => {
    part.says = says;
    wf.setCurrentDetails(parts.map((one) => `${one.network ? `${one.network}: ` : ''}${one.says}.`).join('\n\n'));
  };

  /** Until this history has grown long. */
  async function processPart(part: Part): Promise<void> {
    while (wf.workflowInfo().historyLength < eventsPerHistory) {
      part.lookedAt = updates;
      part.hasEnded = false;
      try {
        const step = await paymentsOf(part.network).payoutStep(batchId, ...only(part));
        if (!step) {
          part.hasEnded = true;
          tell(part, 'all has ended');
          await waitFor(() => updates > part.lookedAt);
          continue;
        }
        tell(part, step.summary);
        for (const txId of await signAndSend(batchId, part, step)) txIds.add(txId);
        await waitUntil(() => updates > part.lookedAt, step.lookAgainInMs, part.says);
      } catch (error) {
        if (wf.isCancellation(error) || !(error instanceof wf.ActivityFailure)) throw error;
        tell(part, `refused, and asked again in a minute: ${error.cause?.message ?? error.message}`);
        await waitUntil(() => updates > part.lookedAt, restMs, part.says);
      }
    }
  }

  // Another run does not wait for what one network waits for: its rows say where it stood.
  await Promise.race([...parts.map(processPart), waitFor(isOver)]);
  if (isOver()) {
    const ended = 'All payments of the batch on chains have ended: sent and booked, or given back to the balance.';
    wf.setCurrentDetails(ended);
    endFoundBy([...txIds]);
    return ended;
  }
  endFoundBy([...txIds]);
  return wf.continueAsNew<typeof payoutBatch>(batchId);
}

type Step = NonNullable<Awaited<ReturnType<PaymentActivities['payoutStep']>>>;

const only = ({ network }: Part): [] | [NetworkId] => (network ? [network] : []);

/** Has what is planned signed and what is signed sent, side by side; once more what the signer was late with. Answers
 *  what was ever sent. */
async function signAndSend(batchId: string, part: Part, { networks, sign }: Step): Promise<string[]> {
  const signer = signerOf(part.network);
  const sendAll = (to: readonly NetworkId[], isSigning = false) =>
    Promise.all(
      to.map((network) =>
        activitiesOf<ChainActivities>(
          { ...untilAnswered, ...patient, taskQueue: taskQueues.chain(network) },
          network,
        ).sendPayouts(batchId, isSigning),
      ),
    );
  const [sent] = await Promise.all([sendAll(networks, sign), sign && signer.signPayouts(batchId, ...only(part))]);
  const late = networks.filter((_, n) => sent[n]!.isLeft);
  const looks = [...sent, ...(await sendAll(late))];
  const stuck = looks.flatMap((one) => one.stuck);
  if (stuck.length) await signer.bumpPayouts(stuck);
  return looks.flatMap((one) => one.txIds ?? []);
}
