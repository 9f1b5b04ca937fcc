import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import type { Standing } from '../domain/payments/payment';
import {
  acceptCrossChainUpdate,
  acceptUnderpaidUpdate,
  cancelUpdate,
  newsSignal,
  refreshQuoteUpdate,
  rejectCrossChainUpdate,
  searchAttributes,
  selectCurrencyUpdate,
  standingQuery,
} from './messages';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>(untilAnswered);

/** What a status means, for whoever reads the workflow in Temporal's UI. */
const inWords: Readonly<Record<Standing['status'], string>> = {
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

/** One payment, from its invoice to its end. The facts are in Postgres: each look moves the status as far as deposits and the
 *  database's clock allow, and says when to look again. A reorganisation only leads back to an earlier status. A run that is
 *  started for a payment already at its end takes in what came later, and ends. Workflow id: `payment/<id>`.
 *  Contract: 3.1. */
export async function payment(id: string): Promise<Standing> {
  let standing: Standing | undefined;
  let news = false;
  wf.setHandler(standingQuery, () => standing);
  wf.setHandler(newsSignal, () => {
    news = true;
  });
  wf.setHandler(cancelUpdate, async ({ by, reason }) => {
    const outcome = await act.cancelPayment(id, by, reason);
    news = true;
    return outcome;
  });
  wf.setHandler(selectCurrencyUpdate, async ({ currency, by }) => {
    const outcome = await act.selectCurrency(id, currency, by);
    news = true;
    return outcome;
  });
  wf.setHandler(refreshQuoteUpdate, async () => act.refreshQuote(id));
  for (const [update, decide] of [
    [acceptUnderpaidUpdate, () => act.acceptUnderpaid(id)],
    [acceptCrossChainUpdate, () => act.acceptCrossChain(id)],
    [rejectCrossChainUpdate, () => act.rejectCrossChain(id)],
  ] as const)
    wf.setHandler(update, async () => {
      const outcome = await decide();
      news = true;
      return outcome;
    });

  while (!wf.workflowInfo().continueAsNewSuggested) {
    news = false;
    const before = standing?.status;
    standing = await act.judgePayment(id);
    if (standing.status !== before) show(standing, before !== undefined);
    switch (standing.status) {
      case 'CONFIRMED': {
        const { queued, reason, lookAgainInMs } = await act.queueSweep(id);
        if (queued) {
          standing = { ...standing, status: 'SWEEP_QUEUED' };
          show(standing, true);
        } else if (reason) wf.setCurrentDetails(`The payment is confirmed and not swept yet: ${reason}.`);
        await wf.condition(() => news, lookAgainInMs ?? standing.lookAgainInMs);
        break;
      }
      case 'SETTLED':
      case 'EXPIRED':
      case 'CANCELLED':
      case 'FAILED':
        await wf.condition(wf.allHandlersFinished);
        // What came while the end was being reached is still looked at.
        if (news) break;
        return standing;
      default:
        await wf.condition(() => news, standing.lookAgainInMs);
    }
  }
  await wf.condition(wf.allHandlersFinished);
  return wf.continueAsNew<typeof payment>(id);
}

function show(standing: Standing, isChange: boolean): void {
  wf.setCurrentDetails(
    `The payment ${inWords[standing.status]}.\n\nStatus **${standing.status}**, version ${standing.stateVersion}.`,
  );
  if (isChange) wf.upsertSearchAttributes([{ key: searchAttributes.PaymentStatus, value: standing.status }]);
}
