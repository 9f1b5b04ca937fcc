import { closed } from '../../sandbox/parts/listening';
import { serve } from '../bench/webhooks';

/** A merchant's server that takes every event at once and remembers their ids alone. */
export type Receiver = Readonly<{ url: string; ids: ReadonlySet<string>; close: () => Promise<void> }>;

export async function openReceiver(): Promise<Receiver> {
  const ids = new Set<string>();
  const { server, url } = await serve((request, response) => {
    request.resume();
    request.on('end', () => {
      ids.add(String(request.headers['webhook-id']));
      response.end('ok');
    });
  });
  return { url, ids, close: () => closed(server) };
}
