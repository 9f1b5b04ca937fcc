import * as wf from '@temporalio/workflow';
import type { ChainActivities, PaymentActivities } from '../activities';
import type { NetworkId } from '../domain/chains/assets';
import type { Screen, ScreenCause, Trace } from '../domain/screening/screening';
import { updatedSignal, taskQueues } from './messages';
import { untilAnswered } from './retry';
import { activitiesOf, waitUntil } from './summaries';

const act = activitiesOf<PaymentActivities>({ ...untilAnswered, startToCloseTimeout: '60s' });

/** Pauses before another look, where provider or node was away. */
const pauses = ['1m', '10m', '1h', '6h', '1d'] as const;

/** Screens where a payment's money came from; it decides nothing about the payment. After a credit it is patient with
 *  whoever is away, and looks again when a reorganisation brings a second credit; what a merchant asked for is one
 *  look. Workflow ids: `screening/<id>`, and `screening/<id>/asked` for a merchant. Contract: 2.9, 4.5. */
export async function screening(paymentId: string, cause: ScreenCause = 'credit'): Promise<Screen> {
  let isUpdated = false;
  wf.setHandler(updatedSignal, () => {
    isUpdated = true;
  });
  for (let looks = 0; ; looks += 1) {
    isUpdated = false;
    const deposits = await act.depositsToScreen(paymentId);
    const networks = [...new Set(deposits.map((deposit) => deposit.network))];
    const traces = await traceAll(networks, deposits, cause);
    const key = `${wf.workflowInfo().runId}/${looks}`;
    const { screen, mayChange } = await act.screenPayment(paymentId, deposits, traces, cause, key);
    const pause = cause === 'credit' && mayChange ? pauses[looks] : undefined;
    if (pause) {
      wf.setCurrentDetails(`**${screen.status}**: ${screen.reason ?? ''}. The next look is in ${pause}.`);
      await waitUntil(() => isUpdated, pause, screen.reason ?? screen.status);
    } else if (!isUpdated) {
      wf.setCurrentDetails(`Ended **${screen.status}**${screen.reason ? `: ${screen.reason}` : ''}.`);
      return screen;
    }
  }
}

/** null where a node does not answer for some time. */
async function traceAll(
  networks: readonly NetworkId[],
  deposits: ReadonlyArray<{ network: NetworkId; txId: string; index: number }>,
  cause: ScreenCause,
): Promise<Trace[] | null> {
  try {
    const traces: Trace[] = [];
    for (const network of networks) {
      const chain = activitiesOf<ChainActivities>(
        {
          ...untilAnswered,
          scheduleToCloseTimeout: cause === 'credit' ? '5m' : '20s',
          taskQueue: taskQueues.chain(network),
        },
        network,
      );
      traces.push(await chain.traceSources(deposits.filter((deposit) => deposit.network === network)));
    }
    return traces;
  } catch (error) {
    if (wf.isCancellation(error) || !(error instanceof wf.ActivityFailure)) throw error;
    return null;
  }
}
