import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { eventJson, type EventRow } from '../../domain/webhooks/event-view';
import { isId } from '../../domain/ids';
import { eventTypes } from '../../domain/webhooks/event-types';
import { isEventPattern } from '../../domain/webhooks/webhook-endpoint';
import { eventsAfter, eventsBefore, readEvent } from '../../db/webhooks/events';
import { route } from '../http/route';
import { limit, line, pageOf } from '../http/schemas';
import { eventSchema } from './event-schemas';

/** The stream that webhooks are made of, for whoever missed some or trusts no delivery. Contract: G4. */

const tag = 'Events';
export const listEvents = route({
  name: 'listEvents',
  method: 'get',
  path: '/api/v1/events',
  summary: 'Every event, in order',
  description:
    'Oldest first. Ask again with `after` = `nextCursor`: no event ever appears behind it. `nextCursor` passes over ' +
    'events of other types. Newest first with `before`: ask again with `before` = `nextCursor` for older ones.',
  tag,
  envelope: 'A',
  query: Type.Object({
    after: Type.String({ pattern: '^[0-9]{1,18}$', default: '0', description: 'The `seq` of the last one you have.' }),
    before: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,18}$',
        description: 'Newest first, those below this `seq`; `0`: from the newest on. In place of `after`.',
      }),
    ),
    types: Type.Optional(line(1000, 'Comma-separated types or areas (`payment.*`); left out: all.')),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(eventSchema), hasMore: Type.Boolean(), nextCursor: Type.String() }),
    description: 'One page; `hasMore` false: you have all there are now.',
  },
  errors: [],
  async answer({ merchant, query }, { db }) {
    const { after, before, types, limit } = pageOf(query);
    const patterns = types?.split(',').map((type) => type.trim()) ?? ['*'];
    for (const pattern of patterns)
      if (!isEventPattern(pattern, Object.keys(eventTypes)))
        throw new DomainError('VALIDATION_ERROR', 'types must be types of events, comma-separated');
    if (before === undefined) {
      const { events, head } = await eventsAfter(db, merchant.id, { after, types: patterns, limit: limit + 1 });
      return eventPage(events, limit, BigInt(head) > BigInt(after) ? head : BigInt(after).toString());
    }
    if (BigInt(after)) throw new DomainError('VALIDATION_ERROR', 'after and before do not go together');
    const from = BigInt(before) ? before : null;
    const events = await eventsBefore(db, merchant.id, { before: from, types: patterns, limit: limit + 1 });
    return eventPage(events, limit, events.at(-1)?.seq ?? BigInt(before).toString());
  },
});

/** One page of the events read, of which the one above `limit` says only that there are more. */
function eventPage(events: readonly EventRow[], limit: number, end: string): Readonly<{ json: string }> {
  const items = events.slice(0, limit);
  const hasMore = events.length > limit;
  const nextCursor = hasMore ? items.at(-1)!.seq : end;
  return { json: `{"items":[${items.map(eventJson).join()}],"hasMore":${hasMore},"nextCursor":"${nextCursor}"}` };
}

export const getEvent = route({
  name: 'getEvent',
  method: 'get',
  path: '/api/v1/events/{eventId}',
  summary: 'Get an event',
  tag,
  envelope: 'A',
  params: Type.Object({ eventId: Type.String({ description: '24-hex id, the `webhook-id` of its deliveries.' }) }),
  success: { status: 200, schema: eventSchema, description: 'The event.' },
  errors: ['EVENT_NOT_FOUND'],
  async answer({ merchant, params: { eventId } }, { db }) {
    const event = isId(eventId) ? await readEvent(db, merchant.id, eventId) : null;
    if (!event) throw new DomainError('EVENT_NOT_FOUND');
    return { json: eventJson(event) };
  },
});
