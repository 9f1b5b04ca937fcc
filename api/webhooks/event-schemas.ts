import { Type, type TSchema } from 'typebox';
import { eventTypes, type EventType } from '../../domain/webhooks/event-types';
import { conversionSchema } from '../conversions/conversions';
import { livemode, named, nullable, paymentSchema, time } from '../http/schemas';
import { batchSchema, lineSchema } from '../payouts/schemas';
import { refundSchema } from '../refunds/refunds';
import { walletSchema } from '../wallets/wallets';
import { entrySchema } from '../wallets/whitelist';
import { withdrawalSchema } from '../withdrawals/withdrawals';
import { endpointSchema } from './webhook-endpoints';

/** What each event carries. Contract: G4. */

const lineEventSchema = named('MassPayoutLegEventData', {
  ...lineSchema.properties,
  massPayoutId: Type.String({ description: 'Its mass payout.' }),
});
const whitelistEventSchema = named('WhitelistEventData', {
  ...entrySchema.properties,
  removedAt: nullable(time),
});
const testEventSchema = named('WebhookTestData', {
  endpoint: endpointSchema,
  type: nullable(Type.String({ description: 'Of which type you wanted an example.' })),
  example: Type.Unknown({ description: 'Data of your newest such event; null where there is none.' }),
});

/** Types of events with the same data, under the name of their schema. */
const kinds: Readonly<Record<string, Readonly<{ of: (type: EventType) => boolean; data: TSchema }>>> = {
  PaymentEvent: { of: (type) => type.startsWith('payment.'), data: paymentSchema },
  RefundEvent: { of: (type) => type.startsWith('refund.'), data: refundSchema },
  ConversionEvent: { of: (type) => type.startsWith('conversion.'), data: conversionSchema },
  MassPayoutEvent: { of: (type) => /^mass_payout\.(?!leg_)/.test(type), data: batchSchema },
  MassPayoutLegEvent: { of: (type) => type.startsWith('mass_payout.leg_'), data: lineEventSchema },
  WithdrawalEvent: { of: (type) => type.startsWith('withdrawal.'), data: withdrawalSchema },
  WalletEvent: { of: (type) => type.startsWith('wallet.'), data: walletSchema },
  WhitelistEvent: { of: (type) => type.startsWith('whitelist.'), data: whitelistEventSchema },
  WebhookEndpointEvent: { of: (type) => type.startsWith('webhook_endpoint.'), data: endpointSchema },
  WebhookTestEvent: { of: (type) => type === 'webhook.test', data: testEventSchema },
};

const previous = Type.Record(Type.String(), Type.Unknown(), { description: 'What changed, as it was before.' });

const schemaOf = ([title, { of, data }]: readonly [string, (typeof kinds)[string]]): TSchema => {
  const types = (Object.keys(eventTypes) as EventType[]).filter(of);
  return Type.Object(
    {
      id: Type.String({ description: 'What `webhook-id` says.' }),
      type: Type.String({ enum: types }),
      timestamp: time,
      apiVersion: Type.Literal('v1'),
      livemode,
      merchantId: Type.String(),
      seq: Type.Integer({ description: 'Counts your events, from 1, without a gap.' }),
      data,
      previous,
    },
    { title, description: types.map((type) => `\`${type}\`: ${eventTypes[type]}.`).join('\n') },
  );
};

/** An event, by its type; byte for byte the body of a webhook. Types may be added. */
export const eventSchema: TSchema = Type.Union(Object.entries(kinds).map(schemaOf), {
  title: 'Event',
  description: 'Byte for byte the body of a webhook; `data` is the resource as GET returned it then.',
});
