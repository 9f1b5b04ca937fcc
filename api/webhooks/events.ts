import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { eventJson } from '../../domain/webhooks/event-view';
import { isId } from '../../domain/ids';
import { eventTypes } from '../../domain/webhooks/event-types';
import { isEventPattern } from '../../domain/webhooks/webhook-endpoint';
import { eventsAfter, readEvent } from '../../db/webhooks/events';
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
    'Oldest first. Ask again with `after` = `nextCursor`: no event ever appears behind it. `nextCursor` passes over events of other types.',
  tag,
  envelope: 'A',
  query: Type.Object({
    after: Type.String({ pattern: '^[0-9]{1,18}$', default: '0', description: 'The `seq` of the last one you have.' }),
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
    const { after, types, limit } = pageOf(query);
    const patterns = types?.split(',').map((type) => type.trim()) ?? ['*'];
    for (const pattern of patterns)
      if (!isEventPattern(pattern, Object.keys(eventTypes)))
        throw new DomainError('VALIDATION_ERROR', 'types must be types of events, comma-separated');
    const { events, head } = await eventsAfter(db, merchant.id, { after, types: patterns, limit: limit + 1 });
    const items = events.slice(0, limit);
    const hasMore = events.length > limit;
    const reached = BigInt(head) > BigInt(after) ? head : BigInt(after).toString();
    const nextCursor = hasMore ? items.at(-1)!.seq : reached;
    return { json: `{"items":[${items.map(eventJson).join()}],"hasMore":${hasMore},"nextCursor":"${nextCursor}"}` };
  },
});

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
