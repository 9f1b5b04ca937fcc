import { setTimeout as sleep } from 'node:timers/promises';
import { operate } from '../../api/operator';
import { createDataSource } from '../../db/data-source';
import { post } from '../../db/ledger/ledger';
import { parseConfig } from '../../domain/config';
import { Miner } from '../../sandbox/miner';
import { payIn } from '../../sandbox/seed';
import { RpcProxy } from '../faults/rpc-proxy';
import { World } from '../world';
import { adversariesOf, standStill, suspendedShop } from './adversaries';
import { kill, mislead, type Done } from './kills';
import { planOf, type Ask, type Node } from './plan';
import { reckon } from './reckoning';
import { reckonWeather } from './reckoning-weather';
import { weather, weatherOf } from './weather';
import { externalPairs } from './scenarios/conversion';
import { currencies, Stage } from './stage';
import { adjustment } from '../../domain/ledger/entry';

export type TortureOptions = Ask &
  Readonly<{ kills: boolean; weather: boolean; adversaries: boolean; say: (line: string) => void }>;
export type TortureReport = Readonly<{
  kills: Done;
  mischief: Done;
  weather: Done;
  problems: string[];
  seconds: number;
}>;

/** What is done with money, while every process is killed and started again and nodes answer wrongly, all drawn from
 *  the seed; then calm, and the reckoning. The same seed gives the same schedule, not the same interleaving. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { say } = options;
  const plan = planOf(options);
  const problems: string[] = [];
  const proxies: Partial<Record<Node, RpcProxy>> = {};
  const world = await World.start({
    ownPostgres: true,
    miner: false,
    swap: true,
    restartAfterMs: 500,
    env: { QUOTE_TTL_SECONDS: '600', PROXY_COUNT: '1', SWAP_POLL_SECONDS: '1' },
    between: async (stack) => {
      const db = createDataSource(stack.postgres.url, { pool: 1, name: 'pairs' });
      await db.initialize();
      for (const [from, to] of externalPairs)
        await operate(db, parseConfig(stack.env), ['pair', from, to, 'external', 'default', 'torture']);
      await db.destroy();
      const bitcoin = (proxies.bitcoin = await RpcProxy.before(stack.btcd.url));
      const ethereum = (proxies.ethereum = await RpcProxy.before(stack.anvil.url));
      return { BTC_RPC_URL: bitcoin.url, ETH_RPC_URL: ethereum.url };
    },
  });
  const miner = new Miner(world.chains, () => undefined); // nodes are killed on purpose here
  miner.start();
  let done: readonly Done[] = [];
  let sky: Done = {};
  let seconds = 0;
  let isBroken = true;
  try {
    const stage = new Stage(world, await world.shop(), options.weather);
    await fund(stage);
    const before: Record<string, string> = {};
    for (const currency of currencies) before[currency] = (await world.balance(stage.shop, currency)).balance;
    const began = Date.now();
    const meanwhile = options.kills
      ? Promise.all([
          kill(stage, miner, plan.kills, began, say),
          ...Object.entries(proxies).map(([node, proxy]) =>
            mislead(
              proxy,
              plan.mischief.filter((one) => one.node === node),
              began,
              say,
            ),
          ),
        ])
      : Promise.resolve([]);
    const outside = weather(
      stage,
      proxies.ethereum!,
      options.weather ? weatherOf(options.seed, options.minutes) : [],
      began,
      say,
    );
    const ill = options.adversaries ? adversariesOf(options.seed, options.minutes, options.runs / 7) : null;
    const still = standStill(miner, ill?.standing ?? [], began, say);
    const liftSuspension = ill ? await suspendedShop(stage, ill.suspended, began) : null;
    const runs = [...plan.runs, ...(ill?.runs ?? [])];
    let left = runs.length;
    const ends = Promise.all(
      runs.map(async ({ what, startAfterMs, live }) => {
        await sleep(startAfterMs);
        await live(stage).catch((error: Error) => void problems.push(`${what}: ${error.message}`));
        left -= 1;
        if (left % 10 === 0) say(`${Math.round((Date.now() - began) / 1000)} s: ${left} left`);
      }),
    );
    done = await meanwhile;
    const { done: seen, moves } = await outside;
    sky = { ...seen, ...(await still) };
    say('Calm: draining');
    await liftSuspension?.();
    await ends;
    problems.push(...stage.problems, ...(await reckon(stage, before)), ...(await reckonWeather(stage, moves)));
    seconds = Math.round((Date.now() - began) / 1000);
    isBroken = problems.length > 0;
  } finally {
    await miner.stop();
    await world.stop({ keep: isBroken });
    for (const proxy of Object.values(proxies)) await proxy.close();
    if (isBroken) say(`Logs and data are kept in ${world.dataDir}`);
  }
  const [kills = {}, ...misled] = done;
  const mischief: Done = {};
  for (const [what, n] of misled.flatMap((one) => Object.entries(one))) mischief[what] = (mischief[what] ?? 0) + n;
  return { kills, mischief, weather: sky, problems, seconds };
}

/** Coins of the platform's own, many small ones of Bitcoin so that none waits for the change of another; half of it is
 *  the merchant's. */
const capital = [
  ['BTC', 30, '0.2'],
  ['ETH', 1, '400'],
  ['USDT_ERC20', 1, '400000'],
] as const;
const ofTheMerchant = { BTC: '3', ETH: '100', USDT_ERC20: '100000' };

async function fund({ world, shop }: Stage): Promise<void> {
  for (const [currency, count, amount] of capital) {
    const txIds: string[] = [];
    for (let coin = 0; coin < count; coin += 1) {
      if (currency === 'BTC' && coin % 10 === 0) await world.payer.mine('BTC', 2);
      txIds.push(...(await payIn(world.db, world.payer, currency, amount)));
    }
    await world.until(
      `${currency} is ours`,
      async () =>
        (
          (await world.db.query(`SELECT FROM deposit WHERE tx_id = ANY($1) AND allocation = 'capital'`, [
            txIds,
          ])) as unknown[]
        ).length === txIds.length,
      90_000,
    );
    const credit = `L:available:${shop.id}` as const;
    await world.db.transaction((tx) =>
      post(tx, {
        key: `torture/${currency}`,
        entry: adjustment,
        postings: [{ debit: 'Q:capital', credit, asset: currency, amount: ofTheMerchant[currency] }],
      }),
    );
  }
  await world.until(
    'the swap provider is priced',
    async () => ((await world.db.query('SELECT FROM swap_rate')) as unknown[]).length >= externalPairs.length,
    60_000,
  );
}
