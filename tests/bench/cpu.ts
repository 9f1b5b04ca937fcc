import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { World, type Shop } from '../world';
import { bareInsert, bareStart, createIndexes } from './bare';
import { ask, fundConversions } from './conversions';
import { costOf, idleTimes, measured, shownTimes, type Cost, type CpuTimes, type Process } from './cpu-time';
import { clients, dispatched, report, times } from './measure';
import { Payer } from './payouts';
import { emit, serve } from './webhooks';

/** `npm run bench -- create`: milliseconds of CPU that a business act costs each process, with all that follows from
 *  it, beside limits of the same run. */

const creations = 300;
const lives = 12;
const events = 100;
const exchanges = 40;
const payoutLines = 50;

/** Throws where the answer is another. */
async function must(world: World, shop: Shop, path: string, body: object): Promise<void> {
  const answer = await world.call(shop, 'POST', path, body);
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

export async function cpuPerAct(): Promise<void> {
  const world = await World.start({
    miner: true,
    env: {
      OPEN_PAYMENTS_QUOTA: '10000000',
      LOG_LEVEL: 'warn',
      WEBHOOK_TIME_SCALE: '1',
      POLL_INTERVAL_MS: '1000',
      // What waits for a machine that others use too costs it no CPU.
      DATABASE_WAIT_MS: '30000',
      // Later than the run: what expires meanwhile is no part of what is measured.
      DEFAULT_EXPIRES_IN: '86400',
    },
  });
  const pool = new pg.Pool({ connectionString: world.stack.postgres.url, max: clients });
  pool.on('error', () => undefined);
  try {
    await measureAll(world, pool);
  } finally {
    await pool.end();
    await world.stop();
  }
}

async function measureAll(world: World, pool: pg.Pool): Promise<void> {
  const shop = await world.shop();
  const create = (body: object) => (): Promise<void> => must(world, shop, '/api/v1/payments', body);
  await createIndexes(pool);
  // Each key is registered, and everything is compiled and cached.
  for (const currency of ['BTC', 'ETH']) await world.invoice(shop, { amount: 25, currency });
  await times(200, create({ amount: 25, currency: 'BTC' }));
  await dispatched(world);
  await sleep(10_000); // what follows from them is no part of what is idle
  const idle = await idleTimes(world, 15);
  print('idle, a second', idle);
  const cost = async (name: string, count: number, act: () => Promise<unknown>): Promise<Cost> => {
    const found = await costOf(world, idle, count, act);
    print(name, found.each, `${found.perSecond.toFixed(0)}/s`);
    return found;
  };

  const request = await cost('limit: a request that reads nothing', 2000, () =>
    times(2000, () => world.call(null, 'GET', '/healthz')),
  );
  const insert = await cost('limit: bare insert of the rows', creations, () =>
    times(creations, () => bareInsert(pool, shop)),
  );
  await pool.query(`DELETE FROM address WHERE network = 'bench'`);
  const start = await cost('limit: bare start of a workflow', creations, () =>
    times(creations, () => bareStart(world)),
  );
  const limits = { request, insert, start };

  const chosen = await cost('create with a currency', creations, () =>
    times(creations, create({ amount: 25, currency: 'BTC' })),
  );
  const ether = await cost('create with a currency, ETH', creations, () =>
    times(creations, create({ amount: 25, currency: 'ETH' })),
  );
  const open = await cost('create without a currency', creations, () => times(creations, create({ amount: 25 })));
  reportCreation('with a currency', chosen, { api: 2.5, postgres: 2 }, limits);
  reportCreation('with a currency, ETH', ether, { api: 2.5, postgres: 2 }, limits);
  reportCreation('without a currency', open, { api: 1.2, postgres: 2 }, limits);

  await costOfDelivery(world, cost, limits);
  const unpaid = await cost('whole life of an unpaid payment, BTC', creations, () => unpaidLives(world, shop, create));
  reportSum('an unpaid payment, created to expired and told', unpaid, limits);
  await paidLives(world, shop, 1);
  const paid = await cost('whole life of a paid payment, ETH', lives, () => paidLives(world, shop, lives));
  reportSum('a paid payment, created to settled and delivered', paid, limits);
  await fundConversions(world, shop);
  reportSum('a conversion', await cost('conversion', exchanges, () => convert(world, shop)), limits);
  const payer = await Payer.open(world);
  const rows = await payer.rows(Array.from({ length: payoutLines }, () => 'ETH' as const));
  const line = await cost('payout line, ETH', payoutLines, async () => payer.ends(await payer.queue(rows)));
  reportSum(`a line of a mass payout of ${payoutLines}`, line, limits);
}

type Limits = Readonly<Record<'request' | 'insert' | 'start', Cost>>;
type MeasureCost = (name: string, count: number, act: () => Promise<unknown>) => Promise<Cost>;

/** Payments that nobody pays, from their creation until all have expired. */
async function unpaidLives(world: World, shop: Shop, create: (body: object) => () => Promise<void>): Promise<void> {
  await times(creations, create({ amount: 25, currency: 'BTC', expiresIn: 60 }));
  const open = `SELECT FROM payment
    WHERE merchant_id = $1 AND status <> 'EXPIRED' AND expires_at < now() + interval '5 minutes' LIMIT 1`;
  await world.until('all have expired', async () => !(await world.db.query(open, [shop.id])).length, 600_000);
}

/** Payments from their creation until all is settled and delivered, eight under way at once. */
async function paidLives(world: World, shop: Shop, count: number): Promise<void> {
  await times(count, async () => {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
    await world.payer.pay('ETH', invoice.address, String(invoice.amount));
    const settled = `SELECT FROM delivery d JOIN event e ON e.id = d.event_id
      WHERE e.entity_id = $1 AND e.type = 'payment.settled' AND d.status = 'succeeded'`;
    await world.until(
      'settled and told',
      async () => (await world.db.query(settled, [invoice.id])).length > 0,
      600_000,
    );
  });
}

async function costOfDelivery(world: World, cost: MeasureCost, limits: Limits): Promise<void> {
  const shop = await world.shop();
  let came = 0;
  const { server, url } = await serve((message, answer) => {
    message.resume();
    message.on('end', () => {
      came += 1;
      answer.end();
    });
  });
  try {
    await must(world, shop, '/api/v1/webhook-endpoints', { url, enabledEvents: ['*'] });
    const delivery = await cost('delivery', events, async () => {
      for (let n = 0; n < events; n += 1) await emit(world, shop);
      await world.until('all of them came', () => came >= events, 600_000);
    });
    reportSum('a delivery', delivery, limits);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A key converts so many times a minute; the count begins anew meanwhile. */
async function convert(world: World, shop: Shop): Promise<void> {
  for (let n = 0; n < exchanges; n += 1) {
    if (n % 4 === 0) await world.db.query('DELETE FROM rate_limit');
    await must(world, shop, '/api/v1/conversions', ask);
  }
}

function print(name: string, each: CpuTimes, rate = ''): void {
  console.log(`  ${name}: ms of CPU ${shownTimes(each)} ${rate}`.trimEnd());
}

/** What the database or the server alone takes of the same. */
const ratio = (own: number, limit: Cost, process: Process): string => `${(own / limit.each[process]).toFixed(1)} ×`;

function reportCreation(
  what: string,
  cost: Cost,
  most: Readonly<{ api: number; postgres: number }>,
  limits: Limits,
): void {
  const { request, insert, start } = limits;
  // Where Temporal's store is in the same PostgreSQL, a start costs it something that is not ours.
  const own = { api: cost.each.api, postgres: cost.each.postgres - start.each.postgres };
  const than = {
    api: `${ratio(own.api, request, 'api')} a request that reads nothing`,
    postgres: `${ratio(own.postgres, insert, 'postgres')} a bare insert of the rows`,
  };
  for (const name of ['api', 'postgres'] as const)
    report({
      name: `CPU of ${name}, create ${what}`,
      value: own[name],
      unit: 'ms',
      limit: `≤ ${most[name]}`,
      holds: own[name] <= most[name],
      detail: `${than[name]}; ${cost.perSecond.toFixed(0)}/s`,
    });
  report({
    name: `CPU of temporal, create ${what} ÷ bare start`,
    value: cost.each.temporal / start.each.temporal,
    unit: '×',
    detail: shownTimes(cost.each),
  });
}

/** All processes together, beside a bare start of a workflow. */
function reportSum(what: string, cost: Cost, { start }: Limits): void {
  const sum = measured.reduce((total, name) => total + cost.each[name], 0);
  const bare = measured.reduce((total, name) => total + start.each[name], 0);
  report({
    name: `CPU of all processes, ${what}`,
    value: sum,
    unit: 'ms',
    detail: `${(sum / bare).toFixed(1)} × a bare start; ${shownTimes(cost.each)}`,
  });
}
