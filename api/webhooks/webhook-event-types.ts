import { Type } from 'typebox';
import { eventTypes } from '../../domain/webhooks/event-types';
import { route } from '../http/route';

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
