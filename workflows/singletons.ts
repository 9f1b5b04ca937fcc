import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { untilAnswered } from './retry';
import { activitiesOf, pause } from './summaries';

const act = activitiesOf<PaymentActivities>({ ...untilAnswered, startToCloseTimeout: '5 minutes' });
const lasting = activitiesOf<PaymentActivities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '500ms', backoffCoefficient: 1.2, maximumInterval: '5s' },
});

/** Why a run that lasts comes to its end. */
const startsAgain = 'A day is over, or the activity was refused: the next run starts it again';
/** Runs of a loop before its history starts anew. */
const runsPerHistory = 200;

/** Keeps the rates fresh. Workflow id: `rates`. */
export async function keepRates(): Promise<void> {
  wf.setCurrentDetails('Keeps the rates fresh. The activity below runs for ever; its attempts count restarts.');
  try {
    await lasting.keepRates();
  } catch (error) {
    if (wf.isCancellation(error)) throw error;
    await pause('1s', startsAgain);
  }
  await wf.continueAsNew<typeof keepRates>();
}

/** Keeps what the swap provider gives. Workflow id: `swap-rates`. */
export async function keepSwapRates(): Promise<void> {
  wf.setCurrentDetails(
    'Asks the swap provider for its rates. The activity below runs for ever; its attempts count restarts.',
  );
  try {
    await lasting.keepSwapRates();
  } catch (error) {
    if (wf.isCancellation(error)) throw error;
    await pause('1s', startsAgain);
  }
  await wf.continueAsNew<typeof keepSwapRates>();
}

/** Holds the books against the chains after every block. Workflow id: `reconciliation`. Invariants: I4, I5. */
export async function keepReconciliation(): Promise<void> {
  wf.setCurrentDetails(
    'Holds the books against the chains. The activity below runs for ever; see the table reconciliation.',
  );
  try {
    await lasting.keepReconciliation();
  } catch (error) {
    if (wf.isCancellation(error)) throw error;
    await pause('1s', startsAgain);
  }
  await wf.continueAsNew<typeof keepReconciliation>();
}

/** Checks the invariants every minute. Workflow id: `audit`. Invariants: 2. */
export async function keepAudit(): Promise<void> {
  for (let run = 0; run < runsPerHistory; run += 1) {
    const violations = await act.runAudit();
    wf.setCurrentDetails(
      violations
        ? `**${violations} invariants are violated.** See the table audit_run.`
        : 'No violation at the last look.',
    );
    await pause('1 minute', 'Until the next audit');
  }
  await wf.continueAsNew<typeof keepAudit>();
}

/** Finds open rows without a running workflow every half minute. Workflow id: `reconcile`. Invariants: 1.6. */
export async function keepReconciled(): Promise<void> {
  for (let run = 0; run < runsPerHistory; run += 1) {
    const missing = await act.reconcile();
    wf.setCurrentDetails(`The last look found ${missing} open rows without a running workflow.`);
    await pause('30 seconds', 'Until the next look for rows without a workflow');
  }
  await wf.continueAsNew<typeof keepReconciled>();
}

/** Puts small coins together while fees are low, and watches what gas there is. Workflow id: `treasury`. */
export async function keepTreasury(): Promise<void> {
  for (let run = 0; run < runsPerHistory; run += 1) {
    await act.maintainTreasury();
    await pause('1 minute', 'Until the next look at coins and gas');
  }
  await wf.continueAsNew<typeof keepTreasury>();
}
