import type { Duration } from '@temporalio/common';
import * as wf from '@temporalio/workflow';

/** What operators read of activities and timers in a history: every workflow takes both from here. A replay does not
 *  compare summaries. */

/** What each activity does. One that is missing here cannot be called. */
const activityWords = {
  advancePayment: 'Look at the deposits, their confirmations and the deadline',
  requotePayment: 'Quote the missing part of the price anew',
  queueSweep: 'Plan the sweep to the settlement address',
  settlePayment: 'Settle and credit the payment, if its sweeps are final',
  cancelPayment: 'Cancel the payment',
  selectCurrency: 'Choose the currency of the payment',
  acceptUnderpaid: 'Accept less than the price',
  acceptCrossChain: 'Accept the other asset that came',
  rejectCrossChain: 'Reject the other asset that came',
  refreshQuote: 'Quote the price anew',
  nextIntent: 'Find or plan what the sweep sends next',
  nextBatchIntent: 'Find or plan what the batch of sweeps sends next',
  nextRefundIntent: 'Find or plan what the refund sends next',
  nextWithdrawalIntent: 'Find or plan what the withdrawal sends next',
  nextConsolidation: 'Find what is moved to the hot wallet next',
  followSwap: 'Follow the order at the swap provider to our deposit or to its end',
  payoutNetworks: 'Read on which networks the mass payout goes out',
  payoutStep: 'Book what has ended of the mass payout, and plan what can be sent',
  depositsToScreen: 'Read the deposits of the payment',
  screenPayment: 'Ask the screening provider about the senders',
  deliverOnce: 'Send the event to its endpoint, once',
  sendMail: 'Hand the mail to the mail server',
  keepRates: 'Fetch exchange rates for as long as this worker lives',
  keepSwapRates: 'Fetch the rates of the swap provider for as long as this worker lives',
  keepReconciliation: 'Compare the ledger with the chains for as long as this worker lives',
  runAudit: 'Check the invariants',
  reconcile: 'Find open rows without a running workflow',
  maintainTreasury: 'Consolidate small coins, and compare the gas with what is needed',
  followChain: 'Follow the blocks for as long as this worker lives',
  followLightning: 'Follow the Lightning node for as long as this worker lives',
  fetchLightningInvoices: 'Ask Lightning addresses for invoices for as long as this worker lives',
  payLightning: 'Pay withdrawals by the Lightning node for as long as this worker lives',
  followIntent: 'send, and follow until it is booked',
  sendPayouts: 'Send what is signed and in no block',
  traceSources: 'Trace the senders of the deposits',
  signOnce: 'sign, once',
  signBump: 'sign again with a higher fee',
  signPayouts: 'Sign what is planned, each payment once',
  bumpPayouts: 'Sign stuck payments again with a higher fee',
} as const;
type Described = keyof typeof activityWords;

/** Temporal takes 400 bytes. */
const inShort = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);

/** Activities of `A` as functions. */
type ActivitiesOf<A> = Pick<wf.ActivityInterfaceFor<A>, Described & keyof A>;

const each = (proxy: (name: string, summary: string) => unknown, about?: string): object =>
  Object.fromEntries(
    Object.entries(activityWords).map(([name, words]) => [
      name,
      proxy(name, inShort(about === undefined ? words : `${about}: ${words}`)),
    ]),
  );

/** The activities of `A` as functions, each with its summary. `about`: what they are for; it comes first. */
export const activitiesOf = <A>(options: wf.ActivityOptions, about?: string): ActivitiesOf<A> =>
  each((name, summary) => wf.proxyActivities({ ...options, summary })[name], about) as ActivitiesOf<A>;

/** The same as parts of the workflow's own task, which waits for them: for what answers within seconds. */
export const localActivitiesOf = <A>(options: wf.LocalActivityOptions): ActivitiesOf<A> =>
  each((name, summary) => wf.proxyLocalActivities({ ...options, summary })[name]) as ActivitiesOf<A>;

/** Waits until `isDue`, for `timeout` at the most. `why`: what is waited for. */
export const waitUntil = (isDue: () => boolean, timeout: Duration, why: string): Promise<boolean> =>
  wf.condition(isDue, timeout, { summary: inShort(`Until the next look: ${why}`) });

/** Waits without a timer: the history has nothing of it. */
export const waitFor = (isDue: () => boolean): Promise<void> => wf.condition(isDue);

/** Waits for `duration`, whatever happens. */
export const pause = (duration: Duration, why: string): Promise<void> => wf.sleep(duration, { summary: inShort(why) });
