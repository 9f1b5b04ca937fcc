import { Type } from 'typebox';
import { route } from '../route';

/** The events that are sent now; gaps 4 has the names that later parts add. */
export const eventTypes: Readonly<Record<string, string>> = {
  'payment.created': 'A payment was opened',
  'payment.currency_selected': 'A currency was chosen or changed',
  'payment.detected': 'The whole amount was seen for the first time',
  'payment.partially_paid': 'Less than the amount was seen',
  'payment.confirming': 'The amount was seen and waits for confirmations',
  'payment.confirmed': 'The amount has its confirmations',
  'payment.sweep_queued': 'The money is about to move to the settlement address',
  'payment.settled': 'The money is settled and credited',
  'payment.expired': 'Nothing came in time',
  'payment.cancelled': 'Payer or merchant cancelled',
  'payment.failed': 'The payment ended without success',
  'payment.repeat_deposit': 'More money came and became a payment of its own',
  'payment.reorged': 'The chain took back what it had shown',
  'refund.created': 'A refund was asked for',
  'refund.claimed': 'The payer has named the address of a refund',
  'refund.broadcast': 'A refund is on its way',
  'refund.completed': 'A refund has arrived',
  'refund.failed': 'A refund could not be made; what it held is back',
  'refund.cancelled': 'A refund was cancelled or rejected',
  'conversion.processing': 'A conversion was debited and is executed elsewhere',
  'conversion.completed': 'A conversion is credited',
  'conversion.failed': 'A conversion could not be made; what it took is back',
  'conversion.cancelled': 'A conversion ended before it moved anything',
  'webhook_endpoint.disabled': 'Another endpoint was switched off because it did not work',
  'webhook.test': 'You asked for it; sent to the endpoint under test alone',
  'payment.aml_screened': 'It was screened where the money came from; nothing else changed',
};

export const listEventTypes = route({
  name: 'listEventTypes',
  method: 'get',
  path: '/api/v1/webhook-event-types',
  summary: 'Names of the events that are sent',
  tag: 'Events',
  envelope: 'A',
  success: {
    status: 200,
    schema: Type.Array(Type.Object({ type: Type.String(), description: Type.String() })),
    description: 'Every type.',
  },
  errors: [],
  answer: () => ({ data: Object.entries(eventTypes).map(([type, description]) => ({ type, description })) }),
});
