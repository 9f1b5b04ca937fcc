import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Outcome, PaymentSnapshot } from '../domain/payments/payment';

export type { Outcome, PaymentSnapshot } from '../domain/payments/payment';

/** The names by which clients and workflows know each other: queues and messages. Ids are in
 *  domain/workflow-ids.ts. Nothing here runs. */

export const taskQueues = {
  payments: 'payments',
  /** Deliveries have places of their own: a server that does not answer takes none from payments. */
  webhooks: 'webhooks',
  signer: 'signer',
  /** Of the chain worker that speaks to our Lightning node. */
  lightning: 'lightning',
  /** Of the signer, where it pays by our Lightning node. */
  lightningPayments: 'lightning-payments',
  chain: (network: string): string => `chain-${network}`,
} as const;

/** How long a workflow's worker may take over one step, after which another does it. A machine short of time must not
 *  come near it: after ten steps in vain Temporal waits minutes before the next. */
export const workflowTaskTimeout = '10s';

/** Events after which a history starts anew. */
export const eventsPerHistory = 1500;

/** Something that the workflow depends on has changed: it looks at the facts again. */
export const updatedSignal = defineSignal('updated');
export const cancelUpdate = defineUpdate<Outcome, [{ by: 'payer' | 'merchant'; reason?: string }]>('cancel');
export const selectCurrencyUpdate = defineUpdate<Outcome, [{ currency: string; by: 'payer' | 'merchant' }]>(
  'selectCurrency',
);
/** `deciderId`: the row that says who asked; none from the release before. */
type Decided = [deciderId?: string];
export const acceptUnderpaidUpdate = defineUpdate<Outcome, Decided>('acceptUnderpaid');
export const acceptCrossChainUpdate = defineUpdate<Outcome, Decided>('acceptCrossChain');
export const rejectCrossChainUpdate = defineUpdate<Outcome, Decided>('rejectCrossChain');
export const refreshQuoteUpdate = defineUpdate<Outcome, []>('refreshQuote');
export const snapshotQuery = defineQuery<PaymentSnapshot | undefined>('snapshot');

/** What a workflow can be started with, indexed in Temporal, so that operators can filter. Nothing private goes in
 *  here. `Kind`: see start-options.ts. `EventType`: of the event that a webhook delivers. */
export const startAttributes = {
  Kind: defineSearchAttributeKey('Kind', 'KEYWORD'),
  PaymentId: defineSearchAttributeKey('PaymentId', 'KEYWORD'),
  EventType: defineSearchAttributeKey('EventType', 'KEYWORD'),
  MerchantId: defineSearchAttributeKey('MerchantId', 'KEYWORD'),
  PaymentStatus: defineSearchAttributeKey('PaymentStatus', 'KEYWORD'),
  Currency: defineSearchAttributeKey('Currency', 'KEYWORD'),
  Network: defineSearchAttributeKey('Network', 'KEYWORD'),
} as const;

/** Everything that is indexed. `TxId`: transactions of a payment's deposits, or what a workflow has sent; set on the
 *  way (found-by.ts). */
export const searchAttributes = {
  ...startAttributes,
  TxId: defineSearchAttributeKey('TxId', 'KEYWORD_LIST'),
} as const;
