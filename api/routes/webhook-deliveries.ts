import { Type } from 'typebox';
import { deliveryStatuses, type LoggedDelivery } from '../../db/deliveries';

/** What was sent where, and what came of it. gaps: 4. */

const isoTime = Type.String({ format: 'date-time' });
const nullable = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const deliverySchema = Type.Object({
  id: Type.String(),
  eventId: Type.String(),
  type: Type.String({ description: 'Of the event.' }),
  endpointId: Type.String({ description: 'Id of a webhook endpoint, or `ipn`.' }),
  url: Type.String(),
  status: Type.String({ enum: [...deliveryStatuses] }),
  attempts: Type.Array(
    Type.Object({
      n: Type.Integer(),
      at: isoTime,
      durationMs: Type.Integer(),
      statusCode: nullable(Type.Integer()),
      responseBody: nullable(Type.String({ description: 'Its first 2 KB.' })),
      error: nullable(Type.String()),
    }),
  ),
  nextAttemptAt: nullable(isoTime),
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
