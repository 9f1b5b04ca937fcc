import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { postOutside } from '../../activities/webhooks/outbound';
import { newId } from '../../domain/ids';
import { attemptsAtOnce } from '../../domain/webhooks/delivery';
import type { Shop, World } from '../world';
import { cpuOf } from './cpu-time';
import { median, rate, report, rounds } from './measure';

/** How many first attempts a second there are, how long an event waits for its own at 100 a second, and what one
 *  costs. */

const burst = 2000;
const steadySeconds = 15;
const steadyPerSecond = 100;
const data = JSON.stringify({ text: 'as large as a payment '.repeat(60) });
const processes = { payments: 'payments-1', postgres: 'postgres', temporal: 'temporal' } as const;

const cpuTimes = (world: World): Array<readonly [string, number]> =>
  Object.entries(processes).map(([name, part]) => [name, cpuOf(world, part)] as const);

/** Events of a merchant, so many in one transaction. */
const emitMany = (world: World, shop: Shop, count: number): Promise<unknown> =>
  world.db.query(
    `SELECT emit_event($1, left(id, 24), 'payment.settled', left(id, 24), 1, $3, '{}', NULL, NULL, 0)
       FROM generate_series(1, $4::int) n, md5($2 || n) id`,
    [shop.id, newId(), data, count],
  );

export async function firstAttempts(world: World): Promise<void> {
  const shop = await world.shop();
  const came: number[] = [];
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      came.push(performance.now());
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const made = await world.call(shop, 'POST', '/api/v1/webhook-endpoints', { url, enabledEvents: ['*'] });
  if (made.status !== 201) throw new Error(`endpoint: ${made.status} ${JSON.stringify(made.body)}`);
  try {
    const ours: number[] = [];
    const bare: number[] = [];
    let costs = '';
    for (let round = 0; round <= rounds; round += 1) {
      const before = cpuTimes(world);
      came.length = 0;
      for (let left = burst; left > 0; left -= 500) await emitMany(world, shop, 500);
      await world.until('all of them came', () => came.length >= burst, 600_000);
      if (!round) continue; // everything is warm
      ours.push(came.length / ((came.at(-1)! - came[0]!) / 1000));
      await world.until(
        'all are noted',
        async () => !(await world.db.query(`SELECT FROM delivery WHERE status = 'pending' LIMIT 1`)).length,
      );
      const after = new Map(cpuTimes(world));
      costs = before.map(([name, ms]) => `${name} ${((after.get(name)! - ms) / burst).toFixed(2)}`).join(', ');
      bare.push((await rate(attemptsAtOnce, 3, () => postOutside(url, data, {}, true))).perSecond);
    }
    report({
      name: 'first attempts a second, to one fast receiver',
      value: median(ours),
      unit: '/s',
      limit: '≥ 300',
      holds: median(ours) >= 300,
      detail: `${burst} events at once; ms of CPU each: ${costs}`,
    });
    report({
      name: 'first attempts ÷ bare POSTs',
      value: median(ours) / median(bare),
      unit: '×',
      detail: `${median(ours).toFixed(0)}/s against ${median(bare).toFixed(0)}/s, ${attemptsAtOnce} at once`,
    });
    await steady(world, shop, made.body.data.id as string, came);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** How long events wait for their first attempts at a rate that the service keeps up with. */
async function steady(world: World, shop: Shop, endpointId: string, came: number[]): Promise<void> {
  const events = steadySeconds * steadyPerSecond;
  const began = performance.now();
  came.length = 0;
  for (let n = 0; n < events; n += 10) {
    await emitMany(world, shop, 10);
    await sleep(Math.max(0, began + (n + 10) * (1000 / steadyPerSecond) - performance.now()));
  }
  await world.until('the last one came', () => came.length >= events, 600_000);
  const took = (performance.now() - began) / 1000;
  await world.until(
    'all are noted',
    async () => !(await world.db.query(`SELECT FROM delivery WHERE status = 'pending' LIMIT 1`)).length,
  );
  const [row] = (await world.db.query(
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::float8 AS p50,
            percentile_cont(0.99) WITHIN GROUP (ORDER BY ms)::float8 AS p99
       FROM (SELECT extract(epoch FROM a.at - e.created_at) * 1000 + a.duration_ms AS ms
               FROM delivery_attempt a JOIN delivery d ON d.id = a.delivery_id JOIN event e ON e.id = d.event_id
              WHERE d.endpoint = $1 AND a.n = 1 ORDER BY e.seq DESC LIMIT $2) newest`,
    [endpointId, events],
  )) as Array<{ p50: number; p99: number }>;
  report({
    name: `from an event to the answer of its receiver at ${steadyPerSecond} events a second, p99`,
    value: row!.p99,
    unit: 'ms',
    limit: '≤ 1000',
    holds: row!.p99 <= 1000,
    detail: `p50 ${row!.p50.toFixed(0)} ms, ${(events / took).toFixed(0)}/s for ${steadySeconds} s`,
  });
}
