import { setTimeout as sleep } from 'node:timers/promises';
import { networks, type NetworkId } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import type { OptionalNetwork } from '../../sandbox/stack/networks';
import { World, type Shop } from '../world';
import { cpuOf } from './cpu-time';
import { dispatched, report, rounds, times } from './measure';

/** `npm run bench -- networks`: what a network costs where there are eight, beside one of its family where there are
 *  two. Two services at once, each with a PostgreSQL of its own, which take turns: machines are not equally fast all
 *  the time. */

const extra: readonly OptionalNetwork[] = ['litecoin', 'polygon', 'base', 'optimism', 'arbitrum', 'bnb'];
/** Blocks of each network in a turn, each with one payment. */
const blocks = 10;
const creations = 200;
const idleSeconds = 20;
/** What follows from payments, such as their sweeps, has its time before the next turn. */
const settleMs = 15_000;

type Side = Readonly<{ world: World; shop: Shop; on: readonly NetworkId[] }>;

export async function manyNetworks(): Promise<void> {
  const sides: Side[] = [];
  try {
    for (const some of [[], extra]) sides.push(await start(some));
    const [two, eight] = sides as [Side, Side];
    // Keys are registered, and everything is compiled and has its plans.
    for (const side of sides) for (let n = 0; n < 3; n += 1) await seen(side, side.on);
    for (const side of sides) await createAll(side);
    await sleep(settleMs);
    const idle = { two: await idleOf(two), eight: await idleOf(eight) };
    let alone = 0;
    let together = 0;
    let [few, many] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      for (const network of two.on) {
        const like = eight.on.filter((other) => networks[other].kind === networks[network].kind).length;
        alone += like * (await costOf(two, idle.two, [network]));
      }
      together += await costOf(eight, idle.eight, eight.on);
      few += await createAll(two);
      many += await createAll(eight);
    }
    const each = rounds * blocks * eight.on.length;
    reportRatio(eight, 'CPU of postgres for a payment that is seen in a block', together / each, alone / each);
    reportRatio(eight, 'CPU of api for a creation', many / (rounds * creations), few / (rounds * creations));
  } finally {
    await Promise.all(sides.map(({ world }) => world.stop()));
  }
}

async function start(some: readonly OptionalNetwork[]): Promise<Side> {
  const world = await World.start({
    ownPostgres: true,
    networks: some,
    env: { OPEN_PAYMENTS_QUOTA: '10000000', LOG_LEVEL: 'warn', DATABASE_WAIT_MS: '30000', POLL_INTERVAL_MS: '1000' },
  });
  const on = parseConfig(world.stack.env).networks;
  return { world, shop: await world.shop(), on };
}

/** A block on each of these networks, with one payment each, until all of them are seen. */
async function seen({ world, shop }: Side, on: readonly NetworkId[]): Promise<void> {
  const ids: string[] = [];
  for (const { native } of on.map((id) => networks[id])) {
    const invoice = await world.invoice(shop, { amount: 25, currency: native });
    await world.payer.pay(native, invoice.address, String(invoice.amount));
    await world.payer.mine(native, 1);
    ids.push(invoice.id);
  }
  const waiting = `SELECT FROM payment WHERE id = ANY($1) AND status = 'WAITING'`;
  await world.until('all are seen', async () => !(await world.db.query(waiting, [ids])).length, 120_000);
}

const postgresOf = ({ world }: Side): number => cpuOf(world, 'postgres');

/** CPU time a second of what nobody asks. */
async function idleOf(side: Side): Promise<number> {
  const before = postgresOf(side);
  await sleep(idleSeconds * 1000);
  return (postgresOf(side) - before) / idleSeconds;
}

/** CPU time of PostgreSQL for a turn on these networks, with all that follows from the payments. */
async function costOf(side: Side, idle: number, on: readonly NetworkId[]): Promise<number> {
  const before = postgresOf(side);
  const began = performance.now();
  for (let n = 0; n < blocks; n += 1) await seen(side, on);
  await sleep(settleMs);
  return postgresOf(side) - before - (idle * (performance.now() - began)) / 1000;
}

/** Milliseconds of the API. */
async function createAll({ world, shop }: Side): Promise<number> {
  const before = cpuOf(world, 'api-1');
  await times(creations, async () => {
    const answer = await world.call(shop, 'POST', '/api/v1/payments', { amount: 25, currency: 'BTC' });
    if (answer.status !== 201) throw new Error(`create: ${answer.status} ${JSON.stringify(answer.body)}`);
  });
  const used = cpuOf(world, 'api-1') - before;
  await dispatched(world);
  return used;
}

function reportRatio({ on }: Side, what: string, is: number, than: number): void {
  report({
    name: `${what}, ${on.length} networks ÷ two`,
    value: is / than,
    unit: '×',
    limit: '≤ 1.1',
    holds: is / than <= 1.1,
    detail: `${is.toFixed(2)} against ${than.toFixed(2)} ms, of as many of each family`,
  });
}
