import { join } from 'node:path';
import { root } from '../../sandbox/paths';
import { creditFromCapital } from '../credit-from-capital';
import { dispatched, median } from '../bench/measure';
import { Payer } from '../bench/payouts';
import { World, type Shop } from '../world';
import { End } from './end';
import { floors, growthPerHour, type Sample } from './growth';
import { Load } from './load';
import { others, ours, type Part } from './memory';
import { openReceiver, type Receiver } from './receiver';
import { prunedTables, reads, watch, type Watched } from './watch';

export type SoakOptions = Readonly<{
  minutes: number;
  /** Of the most creations a second that the machine has just shown; or so many a second. */
  load: Readonly<{ share: number }> | Readonly<{ perSecond: number }>;
  say: (line: string) => void;
}>;
/** `holds`: absent where nothing is asked of it. */
export type Finding = Readonly<{ what: string; holds?: boolean }>;

const drainMs = 600_000;
/** Until then caches fill and the code is compiled. */
const warmUp = 1 / 3;
/** A tenth in an hour is what saw teeth and caches make of half an hour; a leak of each request makes more. */
const mostGrowth = 0.1;
/** The last third ÷ the one before it; of times, as far as a request that reads nothing did not take longer too: that
 *  is what the machine makes of all of them. */
const mostSlower = 1.25;
/** Milliseconds of CPU a second that nobody minds. */
const fewMs = 5;
/** Their work grows with nothing but the load. Temporal's own store and the chains are not ours to keep small. */
const asMuchWork: readonly Part[] = [...ours, 'postgres'];
const mostGrownRows = 1.25;
const comeAndGo = 50;

/** A whole service under steady load. Throws where something does not come to its right end; the findings say what
 *  memory, times and tables did meanwhile. */
export async function soak({ minutes, load, say }: SoakOptions): Promise<Finding[]> {
  const world = await World.start({
    miner: true,
    ownPostgres: true,
    services: { checkout: 1 },
    env: {
      OPEN_PAYMENTS_QUOTA: '10000000',
      LOG_LEVEL: 'warn',
      WEBHOOK_TIME_SCALE: '1',
      POLL_INTERVAL_MS: '1000',
      DATABASE_WAIT_MS: '15000',
      NODE_OPTIONS: `--require="${join(root, 'tests', 'soak', 'collect.cjs')}"`,
    },
  });
  const receiver = await openReceiver();
  try {
    const shop = await world.shop();
    const converter = await world.shop();
    const payer = await Payer.open(world);
    await fundConverter(world, converter);
    const work = new Load(world, shop, converter, payer, receiver.url);
    const perSecond = 'share' in load ? (await work.most(20, drainMs)) * load.share : load.perSecond;
    await dispatched(world);
    say(`${perSecond.toFixed(1)} creations a second for ${minutes} minutes`);

    const began = performance.now();
    const end = new End(began + minutes * 60_000);
    const since = began + minutes * 60_000 * warmUp;
    const [watched] = await end.ofAll([watch(world, shop, end), work.run(perSecond, since, end)]);
    say(`${work.creations.length} created, ${work.paid.length} paid, ${work.payouts.length} payouts; draining`);
    await drained(world, work, receiver);
    return [
      ...memoryOf(watched, since),
      ...timesOf(watched, work.creations, since, end.atMs),
      ...cpuIn(watched, since, end.atMs),
      ...rowsOf(watched, since, end.atMs),
    ];
  } finally {
    await world.stop();
    await receiver.close();
  }
}

/** Ether of the merchant's, and dollars of the platform's that it is converted to: all of it on the chain. */
async function fundConverter(world: World, { id }: Shop): Promise<void> {
  await world.payIn('ETH', '10', 120_000);
  await world.payIn('USDT_ERC20', '50000', 120_000);
  await creditFromCapital(world.db, id, 'ETH', '5');
}

/** Every act has come to its end and every event to its receiver, and the books are right. */
async function drained(world: World, work: Load, receiver: Receiver): Promise<void> {
  let left: string[] = [];
  await world
    .until('all has ended', async () => !(left = await work.unfinished()).length, drainMs)
    .catch((error: Error) => {
      throw new Error(`${error.message}: ${left.length}, such as ${left.slice(0, 5).join('; ')}`);
    });
  await work.told(drainMs);
  const delivered = (await world.db.query('SELECT event_id AS id FROM delivery WHERE url = $1', [
    receiver.url,
  ])) as Array<{ id: string }>;
  const lost = delivered.filter(({ id }) => !receiver.ids.has(id));
  if (!delivered.length || lost.length) throw new Error(`${lost.length} of ${delivered.length} events never came`);
  const violations = await world.audit();
  if (violations.length) throw new Error(`The audit found ${JSON.stringify(violations)}`);
}

const after = (samples: readonly Sample[], fromMs: number, toMs = Infinity): Sample[] =>
  samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);

function memoryOf({ memory }: Watched, sinceMs: number): Finding[] {
  return [...ours, ...others].map((part) => {
    const least = floors(after(memory[part], sinceMs), 60_000);
    const growth = growthPerHour(least);
    const level = median(least.map(({ value }) => value)) / 1e6;
    const isOurs = (ours as readonly string[]).includes(part);
    const what = `memory of ${part}: ${level.toFixed(0)} MB, ${(100 * growth).toFixed(1)} % more in an hour`;
    return isOurs ? { what: `${what} (limit ${100 * mostGrowth} %)`, holds: growth <= mostGrowth } : { what };
  });
}

function timesOf({ times, bare }: Watched, creations: readonly Sample[], sinceMs: number, untilMs: number): Finding[] {
  const middleMs = (sinceMs + untilMs) / 2;
  const all: ReadonlyArray<readonly [string, readonly Sample[]]> = [
    ['POST /api/v1/payments', creations],
    ...reads.map((path) => [`GET ${path}`, times[path]] as const),
  ];
  const look = (samples: readonly Sample[]): Readonly<{ words: string; ratio: number }> => {
    const before = median(after(samples, sinceMs, middleMs).map(({ value }) => value));
    const last = median(after(samples, middleMs).map(({ value }) => value));
    const ratio = last / before;
    return { words: `${last.toFixed(1)} ms against ${before.toFixed(1)} ms before, ${ratio.toFixed(2)} ×`, ratio };
  };
  const machine = look(bare);
  const limit = mostSlower * Math.max(1, machine.ratio);
  return [
    { what: `a request that reads nothing: ${machine.words}` },
    ...all.map(([name, samples]) => {
      const { words, ratio } = look(samples);
      return { what: `${name}: ${words} (limit ${limit.toFixed(2)})`, holds: ratio <= limit };
    }),
  ];
}

/** What each part took of the CPUs in the last third, and in the one before it: the load is the same. */
function cpuIn({ cpu }: Watched, sinceMs: number, untilMs: number): Finding[] {
  const middleMs = (sinceMs + untilMs) / 2;
  const perSecond = (samples: readonly Sample[]): number => {
    const [first, last] = [samples[0], samples.at(-1)];
    return first && last && last.atMs > first.atMs ? (1000 * (last.value - first.value)) / (last.atMs - first.atMs) : 0;
  };
  return [...ours, ...others].map((part) => {
    const before = perSecond(after(cpu[part], sinceMs, middleMs));
    const last = perSecond(after(cpu[part], middleMs));
    const what = `CPU of ${part}: ${last.toFixed(0)} ms a second against ${before.toFixed(0)} before`;
    if (!asMuchWork.includes(part)) return { what };
    const limit = before * mostSlower + fewMs;
    return { what: `${what} (limit ${limit.toFixed(0)})`, holds: last <= limit };
  });
}

/** The most of the last third against the most of the one before, and some that come and go. */
function rowsOf({ rows }: Watched, sinceMs: number, untilMs: number): Finding[] {
  const middleMs = (sinceMs + untilMs) / 2;
  const mostOf = (samples: readonly Sample[]): number => Math.max(0, ...samples.map(({ value }) => value));
  return prunedTables.map((table) => {
    const before = mostOf(after(rows[table], sinceMs, middleMs));
    const last = mostOf(after(rows[table], middleMs));
    const limit = Math.ceil(before * mostGrownRows) + comeAndGo;
    return { what: `rows of ${table}: ${last} against ${before} before (limit ${limit})`, holds: last <= limit };
  });
}
