import { setTimeout as sleep } from 'node:timers/promises';
import { operate } from '../../api/operator';
import { createDataSource } from '../../db/data-source';
import { networks as networksById } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { lightningCurrency } from '../../domain/lightning/currency';
import { Miner } from '../../sandbox/miner';
import { RpcProxy } from '../faults/rpc-proxy';
import { World } from '../world';
import { adversariesOf, standStill, suspendedShop } from './adversaries';
import { fund } from './funding';
import { kill, mislead, type Done } from './kills';
import { beginLightning, lightningDoors, mendChannel, type LightningDoors } from './lightning';
import { currenciesWith, nodesWith, type Misled } from './networks';
import { planOf, type Ask } from './plan';
import { reckon } from './reckoning';
import { reckonWeather } from './reckoning-weather';
import { simulatorWeather, simulatorWeatherOf } from './simulator-weather';
import { weather, weatherOf } from './weather';
import { externalPairs } from './scenarios/conversion';
import { Stage } from './stage';

export type TortureOptions = Ask &
  Readonly<{ kills: boolean; weather: boolean; adversaries: boolean; say: (line: string) => void }>;
export type TortureReport = Readonly<{
  kills: Done;
  mischief: Done;
  weather: Done;
  problems: string[];
  seconds: number;
}>;

type Proxies = Partial<Record<Misled, RpcProxy>>;
/** Conversions that an operator lets be. */
const pairsWith = (byLightning: boolean): ReadonlyArray<readonly [from: string, to: string, mode: string]> => [
  ...externalPairs.map(([from, to]) => [from, to, 'external'] as const),
  ...(byLightning ? [[lightningCurrency, 'BTC', 'internal'] as const] : []),
];
/** Slower where there is Lightning: money that is held there goes back after so many blocks. */
const blockEveryMs = (byLightning: boolean): number => (byLightning ? 2000 : 500);

/** What is done with money, while every process is killed and started again and nodes answer wrongly, all drawn from
 *  the seed; then calm, and the reckoning. The same seed gives the same schedule, not the same interleaving. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { say, networks } = options;
  const plan = planOf(options);
  const problems: string[] = [];
  const proxies: Proxies = {};
  let doors: LightningDoors | null = null;
  const world = await World.start({
    ownPostgres: true,
    miner: false,
    swap: true,
    networks,
    lightning: options.lightning,
    simulatedBlockMs: 1000, // also while nothing waits: what expires does so by the time of blocks
    restartAfterMs: 500,
    env: { QUOTE_TTL_SECONDS: '600', PROXY_COUNT: '1', SWAP_POLL_SECONDS: '1' },
    between: async (stack) => {
      const db = createDataSource(stack.postgres.url, { pool: 1, name: 'pairs' });
      await db.initialize();
      for (const [from, to, mode] of pairsWith(options.lightning))
        await operate(db, parseConfig(stack.env), ['pair', from, to, mode, 'default', 'torture']);
      await db.destroy();
      const urls: Record<string, string> = {};
      for (const [node, id] of nodesWith(networks)) {
        const proxy = (proxies[id] = await RpcProxy.before(stack.part(node).url));
        urls[`${networksById[id].settings.prefix}_RPC_URL`] = proxy.url;
      }
      doors = options.lightning ? await lightningDoors(stack) : null;
      if (doors) proxies.lightning = doors.proxy;
      return { ...urls, ...doors?.env };
    },
  });
  const silent = (): void => undefined; // nodes are killed on purpose here
  const miner = new Miner(world.chains, silent, blockEveryMs(options.lightning));
  miner.start();
  let done: readonly Done[] = [];
  let sky: Done = {};
  let seconds = 0;
  let isBroken = true;
  try {
    const shop = await world.shop();
    const lightning = doors ? await beginLightning(world, shop, doors) : null;
    const stage = new Stage(world, shop, currenciesWith(networks), options.weather, lightning);
    await fund(stage);
    const before: Record<string, string> = {};
    for (const currency of [...stage.currencies, ...(lightning ? [lightningCurrency] : [])])
      before[currency] = (await world.balance(stage.shop, currency)).balance;
    const began = Date.now();
    const misled = Object.entries(proxies).map(([node, proxy]) => {
      const planned = plan.mischief.filter((one) => options.kills && one.node === node);
      return mislead(proxy, planned, began, say);
    });
    const killed = kill(stage, miner, options.kills ? plan.kills : [], nodesWith(networks), began, say);
    const meanwhile = Promise.all([killed, ...misled]);
    const outside = weather(
      stage,
      proxies.ethereum!,
      options.weather ? weatherOf(options.seed, options.minutes) : [],
      began,
      say,
    );
    const simulated = simulatorWeather(
      stage,
      options.weather ? simulatorWeatherOf(options.seed, options.minutes, networks) : [],
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
    const { done: seen, moves, calmFees } = await outside;
    sky = { ...seen, ...(await simulated), ...(await still) };
    await calmFees();
    if (lightning) {
      await mendChannel(world, lightning);
      if (lightning.channels > 1) sky['channel refused by lnd'] = lightning.channels - 1;
    }
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
    await (doors as LightningDoors | null)?.close();
    if (isBroken) say(`Logs and data are kept in ${world.dataDir}`);
  }
  const [kills = {}, ...misled] = done;
  const mischief: Done = {};
  for (const [what, n] of misled.flatMap((one) => Object.entries(one))) mischief[what] = (mischief[what] ?? 0) + n;
  return { kills, mischief, weather: sky, problems, seconds };
}
