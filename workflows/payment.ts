import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import type { PaymentSnapshot } from '../domain/payments/payment';
import { foundBy } from './found-by';
import {
  acceptCrossChainUpdate,
  acceptUnderpaidUpdate,
  cancelUpdate,
  refreshQuoteUpdate,
  rejectCrossChainUpdate,
  searchAttributes,
  selectCurrencyUpdate,
  snapshotQuery,
  updatedSignal,
} from './messages';
import { onceInTask, untilAnswered } from './retry';
import { activitiesOf, localActivitiesOf, waitUntil } from './summaries';

const act = activitiesOf<PaymentActivities>(untilAnswered);
const inTask = localActivitiesOf<PaymentActivities>(onceInTask);

/** The steps of a payment's life beside the queueing of its sweep. Each returns a snapshot, which names the next
 *  one. */
const steps = {
  /** Deposits, the chain's progress and the clock move it as far as they allow. */
  advance: (id: string) => act.advancePayment(id),
  /** Money came after the quote had ended: the rest of the price gets a quote of that moment. */
  requote: (id: string) => act.requotePayment(id),
  /** Its sweeps may be final. */
  settle: (id: string) => act.settlePayment(id),
};

/** What a status means, for readers of the workflow in Temporal's UI. */
const inWords: Readonly<Record<PaymentSnapshot['status'], string>> = {
  AWAITING_CURRENCY: 'waits until the payer has chosen a currency',
  WAITING: 'waits for money on its address',
  PARTIALLY_PAID: 'has received a part; waits for the rest or its expiry',
  CROSS_CHAIN_PENDING: 'has received another asset; waits for the merchant',
  CONFIRMING: 'has received its money; waits for confirmations',
  CONFIRMED: 'is confirmed; the sweep to its settlement address is to be planned',
  SWEEP_QUEUED: 'is being swept; see the sweep workflow of the same id, or of its batch',
  SETTLED: 'is settled and credited',
  EXPIRED: 'expired unpaid; later money becomes a payment of its own',
  CANCELLED: 'was cancelled; later money becomes a payment of its own',
  FAILED: 'failed; see its exceptions',
};

/** One payment, from its invoice to its end: it advances, and on its way it may be requoted; once it is confirmed, its
 *  sweep is queued, and once that is final, it is settled. The facts are in Postgres; a reorganisation only leads back
 *  to an earlier status. A run that is started for a payment that has ended takes in late money, and ends again.
 *  Workflow id: `payment/<id>`. It is started with a delay until the payment's deadline, which news ends. `shown`: the
 *  status that its search attribute has since the start. Contract: 3.1. */
export async function payment(id: string, shown?: PaymentSnapshot['status']): Promise<PaymentSnapshot> {
  let snapshot: PaymentSnapshot | undefined;
  let isUpdated = false;
  wf.setHandler(snapshotQuery, () => snapshot);
  wf.setHandler(updatedSignal, () => {
    isUpdated = true;
  });
  handleCommands(id, () => {
    isUpdated = true;
  });

  let next: keyof typeof steps = 'advance';
  while (!wf.workflowInfo().continueAsNewSuggested) {
    isUpdated = false;
    const before = snapshot?.status;
    snapshot = await (before === undefined ? firstLook(id) : steps[next](id));
    if (snapshot.status !== before) show(snapshot, (before ?? shown ?? snapshot.status) !== snapshot.status);

    switch (snapshot.next) {
      case 'advance':
      case 'requote':
      case 'settle':
        next = snapshot.next;
        break;
      case 'queueSweep': {
        const { queued, reason, lookAgainInMs } = await act.queueSweep(id);
        if (queued) {
          snapshot = { ...snapshot, status: 'SWEEP_QUEUED', next: 'settle' };
          show(snapshot, true);
        } else if (reason) wf.setCurrentDetails(`The payment is confirmed and not swept yet: ${reason}.`);
        await waitUntil(
          () => isUpdated,
          lookAgainInMs ?? snapshot.lookAgainInMs,
          `it ${reason ? `is not swept yet: ${reason}` : inWords[snapshot.status]}`,
        );
        next = queued ? 'settle' : 'advance';
        break;
      }
      case 'wait':
        await waitUntil(() => isUpdated, snapshot.lookAgainInMs, `it ${inWords[snapshot.status]}`);
        next = snapshot.status === 'SWEEP_QUEUED' ? 'settle' : 'advance';
        break;
      case 'end':
        await wf.condition(wf.allHandlersFinished);
        // Money may have come while the payment ended.
        if (!isUpdated) return snapshot;
        next = 'advance';
    }
  }
  await wf.condition(wf.allHandlersFinished);
  return wf.continueAsNew<typeof payment>(id);
}

/** Most payments are never paid: one task at their deadline is all that they cost, with the look in it. Where that has
 *  no answer, an activity of its own asks for as long as it takes. Decision: 0075. */
async function firstLook(id: string): Promise<PaymentSnapshot> {
  if (wf.patched('first-look-in-task'))
    try {
      return await inTask.advancePayment(id);
    } catch (error) {
      // Within an ActivityFailure the first time, and bare for whoever replays it.
      if (!(error instanceof wf.TemporalFailure)) throw error;
    }
  return steps.advance(id);
}

/** What payer and merchant may ask for. After each answer the payment is looked at again. */
function handleCommands(id: string, update: () => void): void {
  const answering =
    <Args extends unknown[], Answer>(command: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const outcome = await command(...args);
      update();
      return outcome;
    };
  wf.setHandler(
    cancelUpdate,
    answering(({ by, reason }) => act.cancelPayment(id, by, reason)),
  );
  wf.setHandler(
    selectCurrencyUpdate,
    answering(({ currency, by }) => act.selectCurrency(id, currency, by)),
  );
  wf.setHandler(
    acceptUnderpaidUpdate,
    answering((deciderId?: string) => act.acceptUnderpaid(id, deciderId)),
  );
  wf.setHandler(
    acceptCrossChainUpdate,
    answering((deciderId?: string) => act.acceptCrossChain(id, deciderId)),
  );
  wf.setHandler(
    rejectCrossChainUpdate,
    answering((deciderId?: string) => act.rejectCrossChain(id, deciderId)),
  );
  // A new quote changes no status: there is nothing to look at.
  wf.setHandler(refreshQuoteUpdate, () => act.refreshQuote(id));
}

function show(snapshot: PaymentSnapshot, isChange: boolean): void {
  wf.setCurrentDetails(
    [
      `The payment ${inWords[snapshot.status]}.`,
      ...(snapshot.received ? [`It has received ${snapshot.received}.`] : []),
      `Status **${snapshot.status}**, version ${snapshot.stateVersion}.`,
    ].join('\n\n'),
  );
  if (!isChange) return;
  const status = { key: searchAttributes.PaymentStatus, value: snapshot.status };
  wf.upsertSearchAttributes([status, ...foundBy(snapshot.txIds)]);
}
