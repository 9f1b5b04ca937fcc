import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inParallel } from '../../chains/json-rpc';
import { createApiKey, revokeApiKey } from '../../db/access/api-keys';
import { rateClasses } from '../../domain/access/rate-limits';
import { World, type Shop } from '../world';
import { cpuOf } from './cpu-time';
import { dispatched, median, report, rounds } from './measure';

/** `npm run bench -- copies`: creation by one, two and four processes of the API beside each other. What each creation
 *  costs them and PostgreSQL, what their statements wait for, and that limits and revocations hold for all of them.
 *  Once at one pace, which shows what copies cost; once as fast as each copy's clients can, where copies also take
 *  turns on the cores of the machine. */

const most = 4;
const widths = [1, 2, most];
const creations = 400;
const clientsOfEach = 4;
/** Creations a second that leave a machine of two cores half idle. */
const pace = 40;
/** A look at what statements wait for takes CPU itself: seldom enough to be none of what is measured. */
const lookMs = 50;

type Run = Readonly<{ api: number; postgres: number; perSecond: number }>;

export async function copiesOfTheApi(): Promise<void> {
  const world = await World.start({
    services: { api: most },
    env: {
      OPEN_PAYMENTS_QUOTA: '10000000',
      LOG_LEVEL: 'warn',
      POLL_INTERVAL_MS: '1000',
      DATABASE_WAIT_MS: '30000',
      DEFAULT_EXPIRES_IN: '86400',
    },
  });
  try {
    const urls = Array.from({ length: most }, (_, n) => world.stack.part(`api-${n + 1}`).url);
    await costs(world, urls);
    await limitsHold(urls);
    await revocationsHold(world, urls);
  } finally {
    await world.stop();
  }
}

/** Asks one copy, by a path of its own; the status. */
async function ask(url: string, method: string, path: string, key?: string, body?: object): Promise<number> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
    body: body && JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function createOne(url: string, shop: Shop): Promise<void> {
  const status = await ask(url, 'POST', '/api/v1/payments', shop.secretKey, { amount: 25, currency: 'BTC' });
  if (status !== 201) throw new Error(`create: ${status}`);
}

/** So many payments, by the copies in turn. */
type Create = (urls: readonly string[], shop: Shop, count: number) => Promise<unknown>;
const inTurn = (urls: readonly string[], count: number): string[] =>
  Array.from({ length: count }, (_, n) => urls[n % urls.length]!);

/** Each copy has as many clients, which wait for their answers. */
const asFastAsTheyCan: Create = (urls, shop, count) =>
  inParallel(inTurn(urls, count), urls.length * clientsOfEach, (url) => createOne(url, shop));

/** The next request comes when its time has come, whether the last one is answered or not. */
const atOnePace: Create = (urls, shop, count) =>
  Promise.all(
    inTurn(urls, count).map(async (url, n) => {
      await sleep((n * 1000) / pace);
      await createOne(url, shop);
    }),
  );

type Load = Readonly<{ how: string; create: Create; limit?: number }>;
const loads: readonly Load[] = [
  { how: `at ${pace} a second`, create: atOnePace, limit: 1.1 },
  { how: `${clientsOfEach} clients each`, create: asFastAsTheyCan },
];

/** CPU time of all copies, also of those that are not asked, and of PostgreSQL; milliseconds. */
function used(world: World): { api: number; postgres: number } {
  const copies = Array.from({ length: most }, (_, n) => cpuOf(world, `api-${n + 1}`));
  return { api: copies.reduce((sum, ms) => sum + ms, 0), postgres: cpuOf(world, 'postgres') };
}

/** CPU time a second of a service that nobody asks. */
async function idle(world: World, seconds: number): Promise<{ api: number; postgres: number }> {
  const before = used(world);
  await sleep(seconds * 1000);
  const after = used(world);
  return { api: (after.api - before.api) / seconds, postgres: (after.postgres - before.postgres) / seconds };
}

async function costs(world: World, urls: readonly string[]): Promise<void> {
  const shop = await world.shop();
  // Each copy has its connections, with their plans, and has compiled what it runs.
  for (const url of urls) await asFastAsTheyCan([url], shop, 800);
  await asFastAsTheyCan(urls, shop, 200);
  await dispatched(world);
  await sleep(5000);
  const rest = await idle(world, 15);
  for (const load of loads) {
    const waits = new Waits(world);
    reportCosts(load, await runsOf(world, urls, load, shop, rest, waits));
    waits.print(load.how);
  }
}

async function runsOf(
  world: World,
  urls: readonly string[],
  { create }: Load,
  shop: Shop,
  rest: Readonly<{ api: number; postgres: number }>,
  waits: Waits,
): Promise<ReadonlyMap<number, readonly Run[]>> {
  const runs = new Map<number, Run[]>(widths.map((width) => [width, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const width of widths) {
      const before = used(world);
      const began = performance.now();
      await waits.during(width, () => create(urls.slice(0, width), shop, creations));
      const acted = (performance.now() - began) / 1000;
      await dispatched(world);
      await sleep(2000); // the request log is written behind the requests
      const seconds = (performance.now() - began) / 1000;
      const after = used(world);
      const each = (name: 'api' | 'postgres'): number =>
        (after[name] - before[name] - rest[name] * seconds) / creations;
      runs.get(width)!.push({ api: each('api'), postgres: each('postgres'), perSecond: creations / acted });
    }
  return runs;
}

function reportCosts({ how, limit }: Load, runs: ReadonlyMap<number, readonly Run[]>): void {
  const of = (width: number, name: keyof Run): number => median(runs.get(width)!.map((run) => run[name]));
  for (const width of widths.slice(1))
    for (const name of ['api', 'postgres'] as const) {
      // Turns of one round are near each other in time; rounds are not.
      const ratio = median(runs.get(width)!.map((run, round) => run[name] / runs.get(1)![round]![name]));
      report({
        name: `CPU of ${name} for a creation, ${width} copies of the API ÷ one, ${how}`,
        value: ratio,
        unit: '×',
        ...(limit === undefined ? {} : { limit: `≤ ${limit}`, holds: ratio <= limit }),
        detail:
          `${of(width, name).toFixed(2)} against ${of(1, name).toFixed(2)} ms; ` +
          `${of(width, 'perSecond').toFixed(0)} against ${of(1, 'perSecond').toFixed(0)} a second`,
      });
    }
}

/** What the statements of the API are doing while payments are created, and how many wait for a connection. */
class Waits {
  private readonly seen = new Map<number, { looks: number; byEvent: Map<string, number> }>();

  constructor(private readonly world: World) {}

  async during(width: number, act: () => Promise<unknown>): Promise<void> {
    const found = this.seen.get(width) ?? { looks: 0, byEvent: new Map<string, number>() };
    this.seen.set(width, found);
    const client = new pg.Client({ connectionString: this.world.stack.postgres.url });
    await client.connect();
    let isOver = false;
    const look = async (): Promise<void> => {
      while (!isOver) {
        const { rows } = await client.query<{ event: string; count: number }>(
          `SELECT coalesce(wait_event_type || ': ' || wait_event, 'on the CPU') AS event, count(*)::int AS count
             FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'api' AND state <> 'idle' GROUP BY 1`,
        );
        found.looks += 1;
        for (const { event, count } of rows) found.byEvent.set(event, (found.byEvent.get(event) ?? 0) + count);
        const waiting = await this.waitingForConnections();
        found.byEvent.set('the pool of api-1', (found.byEvent.get('the pool of api-1') ?? 0) + waiting);
        await sleep(lookMs);
      }
    };
    const looking = look();
    try {
      await act();
    } finally {
      isOver = true;
      await looking;
      await client.end();
    }
  }

  /** Statements of the first copy that have no connection. */
  private async waitingForConnections(): Promise<number> {
    const text = await (await fetch(this.world.stack.metricsUrl)).text();
    const found = /^database_pool_connections\{state="waiting"\} (\d+)$/m.exec(text);
    if (!found) throw new Error('The API does not say how many statements wait for a connection');
    return parseInt(found[1]!, 10);
  }

  print(how: string): void {
    for (const [width, { looks, byEvent }] of this.seen) {
      const all = [...byEvent].sort(([, a], [, b]) => b - a);
      const shown = all.map(([event, count]) => `${event} ${(count / looks).toFixed(2)}`).join(', ');
      console.log(`  statements at a moment, ${width} ${width === 1 ? 'copy' : 'copies'} of the API, ${how}: ${shown}`);
    }
  }
}

/** One bucket for all copies: so many calls as the limit says are answered, whichever copy they come to. */
async function limitsHold(urls: readonly string[]): Promise<void> {
  const { points } = rateClasses.refresh;
  const asked = points + 2 * most;
  const statuses = await Promise.all(
    Array.from({ length: asked }, (_, n) => ask(urls[n % urls.length]!, 'POST', '/api/v1/auth/refresh')),
  );
  const answered = statuses.filter((status) => status === 401).length;
  const refused = statuses.filter((status) => status === 429).length;
  report({
    name: `calls that ${most} copies answer of a limit of ${points}`,
    value: answered,
    unit: 'calls',
    limit: `= ${points}`,
    holds: answered === points && refused === asked - points,
    detail: `${refused} of ${asked} refused`,
  });
}

/** How long after its revocation a key begins requests that a copy still answers. */
async function revocationsHold(world: World, urls: readonly string[]): Promise<void> {
  const shop = await world.shop();
  const { secretsKey } = world.stack.secrets;
  const key = { secretsKey, name: 'Revoked', createdBy: null, scopes: ['payments:read'] } as const;
  const { apiKey, row } = await createApiKey(world.db, shop.id, key);
  const read = (url: string): Promise<number> => ask(url, 'GET', '/api/v1/payments', apiKey);
  for (const url of urls) if ((await read(url)) !== 200) throw new Error(`${url} does not know the key`);
  let revokedAt = Infinity;
  const last = urls.map(async (url) => {
    for (let latest = 0; ;) {
      const began = performance.now();
      const status = await read(url);
      if (status === 401) return latest;
      if (status !== 200) throw new Error(`${url} answers ${status}`);
      if (began > revokedAt + 10_000) throw new Error(`${url} takes a revoked key after ten seconds`);
      latest = Math.max(0, began - revokedAt);
      await sleep(20);
    }
  });
  if (!(await revokeApiKey(world.db, shop.id, row.id))) throw new Error('There was no key to revoke');
  revokedAt = performance.now();
  const longest = Math.max(...(await Promise.all(last)));
  report({
    name: `a revoked key is taken by ${most} copies for`,
    value: longest / 1000,
    unit: 's',
    limit: '≤ 1',
    holds: longest <= 1000,
    detail: 'from the end of the revocation to the beginning of the last request that was answered',
  });
}
