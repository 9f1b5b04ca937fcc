import { traceIdOf } from '../tracing';
import type { EventType } from './event-types';

/** How logs tell of events and deliveries: ids, and nothing of what a resource says about people or money. */

/** What the id of a resource is called in a line, by the first word of its events' types. */
const idNames: Readonly<Record<string, string>> = {
  payment: 'paymentId',
  refund: 'refundId',
  conversion: 'conversionId',
  mass_payout: 'massPayoutId',
  withdrawal: 'withdrawalId',
  wallet: 'walletId',
  whitelist: 'whitelistId',
  webhook_endpoint: 'endpointId',
  webhook: 'endpointId',
};

type Line = Readonly<{ fields: Readonly<Record<string, unknown>>; text: string }>;
type EventRef = Readonly<{
  type: string;
  merchantId: string;
  entityId: string;
  requestId: string | null;
  traceparent: string | null;
}>;

/** The ids of an event: those of its resource, its merchant, its request and its trace. */
export const eventIds = ({
  type,
  merchantId,
  entityId,
  requestId,
  traceparent,
}: EventRef): Readonly<Record<string, string | undefined>> => ({
  [type.startsWith('mass_payout.leg_') ? 'payoutLineId' : idNames[type.split('.')[0]!]!]: entityId,
  merchantId,
  requestId: requestId ?? undefined,
  traceId: traceIdOf(traceparent),
});

/** The ids that a resource names beside its own. */
type Named = Readonly<{ txId?: unknown; sweep?: { txId?: unknown }; paymentId?: unknown; massPayoutId?: unknown }>;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value ? value : undefined);

/** `payment settled`, `mass payout leg completed`: the line of an event whose resource is `data`, as JSON text. */
export function eventLine(
  event: EventRef & Readonly<{ id: string; type: EventType; data: string; workflowId?: string | undefined }>,
): Line {
  const named = (event.type === 'payment.created' ? {} : JSON.parse(event.data)) as Named;
  return {
    fields: {
      eventId: event.id,
      paymentId: textOf(named.paymentId),
      massPayoutId: textOf(named.massPayoutId),
      ...eventIds(event),
      workflowId: event.workflowId,
      txId: textOf(named.txId) ?? textOf(named.sweep?.txId),
    },
    text: event.type.replaceAll(/[._]/g, ' '),
  };
}
