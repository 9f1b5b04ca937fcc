import { route } from '../http/route';
import { openStream } from '../http/event-stream';
import { tag } from './payments';

/** A stream asks for its rights again after this time: whoever lost theirs hears no more. */
const lifetimeMs = 5 * 60_000;

export const streamPayments = route({
  name: 'streamPayments',
  method: 'get',
  path: '/api/v1/payments/stream',
  summary: 'Hear when a payment of yours is made or changes, as server-sent events',
  description:
    'A message says that something has changed, and nothing of what: ask the list, or the stream of events, for ' +
    'that. Changes of a moment are one message. The stream ends after five minutes; connect again.',
  tag,
  envelope: 'B',
  success: { status: 200, type: 'text/event-stream', description: 'A message for each moment with a change.' },
  errors: [],
  async answer({ merchant, request, response }, deps) {
    await openStream(`merchant/${merchant.id}`, { request, response }, deps, (stream) => {
      let count = 0;
      const unwatch = deps.changes.watchMerchant(merchant.id, () => stream.push({}, String((count += 1))));
      const end = setTimeout(() => stream.end(), lifetimeMs);
      end.unref();
      return () => {
        clearTimeout(end);
        unwatch();
      };
    });
    return { handled: true };
  },
});
