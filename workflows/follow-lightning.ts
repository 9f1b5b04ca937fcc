import * as wf from '@temporalio/workflow';
import type { LightningActivities, LightningPayerActivities, PaymentActivities } from '../activities';
import { taskQueues } from './messages';
import { activitiesOf, pause } from './summaries';

const lastingOn = <Activities>(taskQueue: string) =>
  activitiesOf<Activities>({
    taskQueue,
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '3s',
    retry: { initialInterval: '500ms', backoffCoefficient: 1.2, maximumInterval: '5s' },
  });

/** An activity that never returns; after a day, or where it was refused, it starts again. */
async function untilTheDayIsOver(activity: () => Promise<void>): Promise<void> {
  try {
    await activity();
  } catch (error) {
    if (wf.isCancellation(error)) throw error;
    await pause('1s', 'A day is over, or the follower was refused: it starts again');
  }
}

/** The follower of our Lightning node, as that of a network is (follow-chain.ts). Workflow id: `lightning`. */
export async function followLightning(): Promise<void> {
  wf.setCurrentDetails('Follows our Lightning node. The activity below runs for ever; its attempts count restarts.');
  const lightning = lastingOn<LightningActivities>(taskQueues.lightning);
  await untilTheDayIsOver(() => lightning.followLightning());
  await wf.continueAsNew<typeof followLightning>();
}

/** Has Lightning addresses asked for invoices, and the signer pay. Workflow id: `lightning-payments`. */
export async function payLightning(): Promise<void> {
  wf.setCurrentDetails('Pays by our Lightning node. The activities below run for ever; attempts count restarts.');
  const payer = lastingOn<LightningPayerActivities>(taskQueues.lightningPayments);
  const fetcher = lastingOn<PaymentActivities>(taskQueues.payments);
  const isFetching = wf.patched('lightning-addresses'); // one that runs since before takes it up within a day
  await untilTheDayIsOver(async () => {
    await Promise.all([payer.payLightning(), ...(isFetching ? [fetcher.fetchLightningInvoices()] : [])]);
  });
  await wf.continueAsNew<typeof payLightning>();
}
