import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { emitEvent } from '../../db/webhooks/events';
import { newId } from '../../domain/ids';
import type { Shop, World } from '../world';
import { dispatched, median, report, rounds } from './measure';

/** How soon events are on their way, and what an endpoint that never answers costs the others. */

const events = 300;

export async function serve(answer: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

export const emit = (world: World, shop: Shop): Promise<unknown> =>
  world.db.transaction((tx) =>
    emitEvent(tx, {
      merchantId: shop.id,
      type: 'payment.settled',
      entityId: newId(),
      stateVersion: 1,
      data: JSON.stringify({ text: 'as large as a payment '.repeat(60) }),
      previous: {},
      ipnUrl: null,
      openDelta: 0,
    }),
  );

export async function deliveries(world: World): Promise<void> {
  const shop = await world.shop();
  let came = 0;
  const alive = await serve((request, response) => {
    request.resume();
    request.on('end', () => {
      came += 1;
      response.end();
    });
  });
  const dead = await serve((request) => void request.resume());
  const endpoint = async (url: string): Promise<string> => {
    const answer = await world.call(shop, 'POST', '/api/v1/webhook-endpoints', { url, enabledEvents: ['*'] });
    if (answer.status !== 201) throw new Error(`endpoint: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data.id as string;
  };
  /** Delivered to the endpoint that lives, a second. */
  const perSecond = async (): Promise<number> => {
    const before = came;
    const start = performance.now();
    for (let n = 0; n < events; n += 1) await emit(world, shop);
    await world.until('all of them came', () => came >= before + events);
    return events / ((performance.now() - start) / 1000);
  };
  try {
    const living = await endpoint(alive.url);
    await perSecond(); // everything is warm
    const alone: number[] = [];
    const beside: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await perSecond());
      const id = await endpoint(dead.url);
      beside.push(await perSecond());
      await world.call(shop, 'DELETE', `/api/v1/webhook-endpoints/${id}`);
    }
    const ratio = median(beside) / median(alone);
    report({
      name: 'events delivered beside a dead endpoint ÷ without one',
      value: ratio,
      unit: '×',
      limit: '≥ 0.9',
      holds: ratio >= 0.9,
      detail: `${median(beside).toFixed(0)}/s against ${median(alone).toFixed(0)}/s`,
    });
    // What was left for the dead endpoint goes first.
    await dispatched(world);
    // One by one, as payments make them.
    for (let n = 0; n < 200; n += 1) {
      await emit(world, shop);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await world.until('the last one came', () => came >= (2 * rounds + 1) * events + 200, 60_000);
    const [row] = (await world.db.query(
      `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::float8 AS p50,
         percentile_cont(0.99) WITHIN GROUP (ORDER BY ms)::float8 AS p99
         FROM (SELECT extract(epoch FROM a.at - e.created_at) * 1000 AS ms FROM delivery_attempt a
           JOIN delivery d ON d.id = a.delivery_id
                 JOIN event e ON e.id = d.event_id WHERE d.endpoint = $1 AND a.n = 1
                   ORDER BY e.seq DESC LIMIT 200) newest`,
      [living],
    )) as Array<{ p50: number; p99: number }>;
    report({
      name: 'from an event to the first attempt at its delivery, p50',
      value: row!.p50,
      unit: 'ms',
      detail: `p99 ${row!.p99.toFixed(0)} ms, 200 events, 200 ms apart`,
    });
  } finally {
    for (const { server } of [alive, dead]) {
      server.closeAllConnections();
      server.close();
    }
  }
}
