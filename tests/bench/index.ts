import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createApp } from '../../api/http/app';
import { startApi } from '../../api/main';
import { listEventTypes } from '../../api/webhooks/webhook-event-types';
import { access } from '../../domain/access/access-table';
import { parseConfig } from '../../domain/config';
import { Visitor } from '../../sandbox/visitor';
import { World, type Shop } from '../world';
import { bareInsert, bareStart, createIndexes } from './bare';
import { conversions } from './conversions';
import { copiesOfTheApi } from './copies';
import { cpuPerAct } from './cpu';
import { dashboardScripts, pageQueries } from './dashboard';
import { firstAttempts } from './first-attempts';
import { strandedCoins } from './gas';
import { listTimes } from './lists';
import { payouts } from './payouts';
import { clients, createSeconds, dispatched, lines, median, rate, report, rounds } from './measure';
import { mempool } from './mempool';
import { expiringNetworks } from './expiring';
import { manyNetworks } from './networks';
import { manyOpen } from './open';
import { gasPerDeposit } from './sweeps';
import { deliveries } from './webhooks';

/** `npm run bench`: how fast the service is, as ratios against limits measured in the same run on the same machine.
 *  Medians. */

const create = (world: World, shop: Shop) => async (): Promise<void> => {
  const answer = await world.call(shop, 'POST', '/api/v1/payments', { amount: 25, currency: 'BTC' });
  if (answer.status !== 201) throw new Error(`create: ${answer.status} ${JSON.stringify(answer.body)}`);
};

async function creates(world: World, shop: Shop, pool: pg.Pool): Promise<void> {
  await createIndexes(pool);
  const made: number[] = [];
  const started: number[] = [];
  const bare: number[] = [];
  const starts: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const { perSecond: rateMade, times } = await rate(clients, createSeconds, create(world, shop));
    made.push(rateMade);
    // The dispatcher works its queue off before the limits are measured.
    await dispatched(world);
    started.push(times.length / ((performance.now() - began) / 1000));
    bare.push((await rate(clients, createSeconds, () => bareInsert(pool, shop))).perSecond);
    starts.push((await rate(clients, createSeconds, () => bareStart(world))).perSecond);
  }
  await pool.query(`DELETE FROM address WHERE network = 'bench'`);
  const perSecond = median(made);
  const against = (is: number, limit: number): string => `${is.toFixed(0)}/s against ${limit.toFixed(0)}/s`;
  const detail = (limit: number): string => against(perSecond, limit);
  report({
    name: 'payments created ÷ bare insert of the same rows',
    value: perSecond / median(bare),
    unit: '×',
    limit: '≥ 0.05',
    holds: perSecond / median(bare) >= 0.05,
    detail: detail(median(bare)),
  });
  report({
    name: 'payments created ÷ bare workflow starts',
    value: perSecond / median(starts),
    unit: '×',
    limit: '≥ 2',
    holds: perSecond / median(starts) >= 2,
    detail: detail(median(starts)),
  });
  report({
    name: 'payments created, until the last of their workflows is started ÷ bare workflow starts',
    value: median(started) / median(starts),
    unit: '×',
    limit: '≥ 0.8',
    holds: median(started) / median(starts) >= 0.8,
    detail: against(median(started), median(starts)),
  });
}

async function ledger(pool: pg.Pool): Promise<void> {
  await pool.query(
    'CREATE TABLE bench_posting (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account text NOT NULL, asset ' +
      'text NOT NULL, amount numeric(60, 18) NOT NULL)',
  );
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const post = (n: number) =>
      pool.query('SELECT post_journal($1, NULL, $2)', [
        `bench/${round}/${n}`,
        JSON.stringify([{ debit: 'A:deposit', credit: `L:unsettled:bench${n % 100}`, asset: 'ETH', amount: '1' }]),
      ]);
    ours.push((await rate(clients, createSeconds, post)).perSecond);
    const two = async (): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query(`INSERT INTO bench_posting (account, asset, amount) VALUES ('A:deposit', 'ETH', 1)`);
        await client.query(`INSERT INTO bench_posting (account, asset, amount) VALUES ('L:unsettled', 'ETH', -1)`);
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    };
    bare.push((await rate(clients, createSeconds, two)).perSecond);
  }
  const ratio = median(ours) / median(bare);
  report({
    name: 'ledger journals ÷ bare two-posting transaction',
    value: ratio,
    unit: '×',
    limit: '≥ 0.3',
    holds: ratio >= 0.3,
    detail: `${median(ours).toFixed(0)}/s against ${median(bare).toFixed(0)}/s`,
  });
}

async function histories(world: World, shop: Shop): Promise<void> {
  for (const currency of ['BTC', 'ETH', 'USDT_ERC20']) {
    const invoice = await world.invoice(shop, { amount: 25, currency });
    await world.payer.pay(currency, invoice.address, String(invoice.amount));
    await world.sees(shop, invoice.id, 'SETTLED', { mine: currency });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const payment = await world.history(`payment/${invoice.id}`);
    const sweep = await world.history(await world.sweepOf(invoice.id));
    const holds = payment.events <= 60 && payment.bytes <= 60_000;
    report({
      name: `history of a paid payment, ${currency}`,
      value: payment.events,
      unit: 'events',
      limit: '≤ 60 and 60 KB',
      holds,
      detail:
        `${(payment.bytes / 1000).toFixed(1)} KB; ` +
        `its sweep ${sweep.events} events, ${(sweep.bytes / 1000).toFixed(1)} KB`,
    });
  }
}

/** One route, open and guarded: what a credential costs. */
async function authentication(world: World, shop: Shop): Promise<void> {
  const config = parseConfig({
    ...world.stack.env,
    API_PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_STANDARD: '100000000',
  });
  const api = await startApi(config);
  const guarded = { ...access.listPayments, name: 'listPayments', path: '/guarded' } as const;
  const routes = [
    { ...listEventTypes, path: '/open' },
    { ...listEventTypes, ...guarded },
  ];
  const server = createServer((request, response) => void createdApp(request, response));
  const createdApp = createApp(routes, api.deps).callback();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const visitor = new Visitor(
    { apiUrl: world.stack.apiUrl, dashboardUrl: config.DASHBOARD_URL, mailUrl: world.stack.mail.url },
    'bench@shop.example',
    'Correct-Horse-7',
  );
  await visitor.register('Bench');
  await visitor.enrol();
  const get = (path: string, token?: string) => async (): Promise<void> => {
    const answer = await fetch(url + path, { headers: token ? { authorization: `Bearer ${token}` } : {} });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
  };
  const ways = {
    open: get('/open'),
    key: get('/guarded', shop.secretKey),
    session: get('/guarded', visitor.accessToken()),
  };
  const rates: Record<keyof typeof ways, number[]> = { open: [], key: [], session: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const way of ['open', 'key', 'session'] as const)
      rates[way].push((await rate(clients, createSeconds, ways[way])).perSecond);
  await new Promise((resolve) => server.close(resolve));
  await api.close();
  for (const [way, least] of [
    ['key', 0.7],
    ['session', 0.6],
  ] as const)
    report({
      name: `requests with a ${way} ÷ without authentication`,
      value: median(rates[way]) / median(rates.open),
      unit: '×',
      limit: `≥ ${least}`,
      holds: median(rates[way]) / median(rates.open) >= least,
      detail: `${median(rates[way]).toFixed(0)}/s against ${median(rates.open).toFixed(0)}/s`,
    });
}

/** What batches save, on as many deposits as a busy shop has in a day. */
async function sweepGas(): Promise<void> {
  const { batched, shared, alone } = await gasPerDeposit(500);
  report({
    name: 'gas per settled token deposit, batched ÷ one by one',
    value: batched / alone,
    unit: '×',
    limit: '≤ 0.6',
    holds: batched / alone <= 0.6,
    detail: `${batched.toFixed(0)} against ${alone.toFixed(0)} gas; to two addresses ${shared.toFixed(0)}`,
  });
}

/** `measure` with a merchant of its own. */
const withShop =
  (measure: (world: World, shop: Shop, pool: pg.Pool) => Promise<void>) =>
  async (world: World, pool: pg.Pool): Promise<void> =>
    measure(world, await world.shop(), pool);

/** What can be asked for by name, on a service of its own. */
const alone: Readonly<Record<string, () => Promise<void>>> = {
  sweeps: sweepGas,
  gas: () => onService(strandedCoins),
  payouts,
  histories: () => onService(withShop(histories)),
  ledger: () => onService((_, pool) => ledger(pool)),
  conversions: () => onService(withShop(conversions)),
  create: cpuPerAct,
  creates: () => onService(withShop(creates)),
  copies: copiesOfTheApi,
  open: manyOpen,
  networks: manyNetworks,
  expiring: expiringNetworks,
  webhooks: () =>
    onService(async (world) => {
      await firstAttempts(world);
      await deliveries(world);
    }),
  lists: () => onService(listTimes),
  mempool: () => onService(mempool),
  // PAGES=Refunds,Incidents: these pages alone.
  dashboard: () =>
    onService(async (world) => {
      const only = process.env['PAGES']?.split(',') ?? [];
      await dashboardScripts(world, only);
      if (!only.length) await pageQueries(world);
    }),
};

async function main(wanted: readonly string[]): Promise<number> {
  for (const name of wanted)
    if (!Object.hasOwn(alone, name)) throw new Error(`No bench '${name}': ${Object.keys(alone).join(', ')}, or none`);
  const measured = wanted.length ? wanted : ['sweeps', 'payouts', 'create'];
  for (const name of measured) await alone[name]!();
  if (!wanted.length) {
    await together();
    await copiesOfTheApi();
    await manyOpen();
  }
  return lines.every((line) => line.holds !== false) ? 0 : 1;
}

/** A service of its own. */
async function onService(measure: (world: World, pool: pg.Pool) => Promise<void>): Promise<void> {
  const world = await World.start({
    env: { OPEN_PAYMENTS_QUOTA: '10000000', LOG_LEVEL: 'warn', WEBHOOK_TIME_SCALE: '1' },
  });
  const pool = new pg.Pool({ connectionString: world.stack.postgres.url, max: clients });
  pool.on('error', () => undefined);
  try {
    await measure(world, pool);
  } finally {
    await pool.end();
    await world.stop();
  }
}

/** Everything that is measured on one service. */
const together = (): Promise<void> =>
  onService(
    withShop(async (world, shop, pool) => {
      await histories(world, shop);
      await strandedCoins(world);
      await authentication(world, shop);
      await creates(world, shop, pool);
      await ledger(pool);
      await conversions(world, shop, pool);
      await firstAttempts(world);
      await deliveries(world);
      await listTimes(world);
      await mempool(world);
    }),
  );

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(error.stack ?? error.message);
    process.exit(1);
  },
);
