import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { deliveriesOf, deliveryStatuses, type DeliveryStatus, type LoggedDelivery } from '../../db/webhooks/deliveries';
import { redeliver } from '../../commands/webhooks/redeliver';
import { route } from '../http/route';
import { limit, named, nullable, pageOf, time } from '../http/schemas';

/** What was sent where, and what came of it. Contract: G4. */

export const deliverySchema = named('WebhookDelivery', {
  id: Type.String(),
  eventId: Type.String(),
  type: Type.String({ description: 'Of the event.' }),
  endpointId: Type.String({ description: 'Id of a webhook endpoint, or `ipn`.' }),
  url: Type.String(),
  status: Type.String({ enum: [...deliveryStatuses] }),
  attempts: Type.Array(
    Type.Object({
      n: Type.Integer(),
      at: time,
      durationMs: Type.Integer(),
      statusCode: nullable(Type.Integer()),
      responseBody: nullable(Type.String({ description: 'Its first 2 KB.' })),
      error: nullable(Type.String()),
    }),
  ),
  nextAttemptAt: nullable(time),
});
export const presentDelivery = (row: LoggedDelivery) => ({
  id: row.id,
  eventId: row.event_id,
  type: row.type,
  endpointId: row.endpoint,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
});

const tag = 'Webhooks';
const idFilter = (description: string) => Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$', description }));

export const listDeliveries = route({
  name: 'listDeliveries',
  method: 'get',
  path: '/api/v1/webhook-deliveries',
  summary: 'What was sent where, and what came of it',
  description: 'Newest first. Kept for 60 days.',
  tag,
  envelope: 'A',
  query: Type.Object({
    endpointId: Type.Optional(Type.String({ pattern: '^([0-9a-f]{24}|ipn)$', description: 'An endpoint, or `ipn`.' })),
    eventId: idFilter('Of this event.'),
    paymentId: idFilter('Of events of this payment.'),
    status: Type.Optional(Type.String({ enum: [...deliveryStatuses] })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$', description: '`nextCursor` of the page before.' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(deliverySchema),
      hasMore: Type.Boolean(),
      nextCursor: nullable(Type.String()),
    }),
    description: 'One page; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ merchant, query }, { db }) {
    const { endpointId, eventId, paymentId, cursor, limit } = pageOf(query);
    const status = query.status as DeliveryStatus | undefined;
    const filter = { endpoint: endpointId, eventId, entityId: paymentId, status, cursor };
    const rows = await deliveriesOf(db, merchant.id, filter, limit + 1);
    const items = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    return { data: { items: items.map(presentDelivery), hasMore, nextCursor: hasMore ? items.at(-1)!.n : null } };
  },
});

export const redeliverRoute = route({
  name: 'redeliver',
  method: 'post',
  path: '/api/v1/webhook-deliveries/{deliveryId}/redeliver',
  summary: 'Send a delivery again, now',
  description: 'The same event with the same `webhook-id`. A delivery that is over starts its schedule anew.',
  tag,
  envelope: 'A',
  params: Type.Object({ deliveryId: Type.String({ description: '24-hex id.' }) }),
  success: { status: 202, schema: deliverySchema, description: 'The delivery; read it again to see what came of it.' },
  errors: ['DELIVERY_NOT_FOUND', 'WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_ENDPOINT_INACTIVE'],
  async answer({ merchant, params: { deliveryId } }, { db }) {
    if (!isId(deliveryId)) throw new DomainError('DELIVERY_NOT_FOUND');
    const [delivery] = await db.transaction(async (tx) => {
      await redeliver(tx, merchant.id, deliveryId);
      return deliveriesOf(tx, merchant.id, { id: deliveryId }, 1);
    });
    return { data: presentDelivery(delivery!) };
  },
});
