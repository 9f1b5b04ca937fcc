import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { times } from '../../domain/money';
import { mineEthereum } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import type { RpcProxy } from '../faults/rpc-proxy';
import type { Done } from './kills';
import { Random } from './random';
import type { Stage } from './stage';

/** Markets and fees as they are outside: none of it is anybody's fault, and nobody may lose or gain by it. */
const kinds = ['prices', 'base fee', 'no traces', 'crowd'] as const;
export type Weather = Readonly<{
  atMs: number;
  forMs: number;
  kind: (typeof kinds)[number];
  /** By how much each coin's price changes, from 0.7 to 1.3 of the first one. */
  prices: Readonly<{ BTC: string; ETH: string }>;
}>;

/** US dollars of one coin from `at` on. `others`: of those whose prices stand still. */
export type PriceMove = Readonly<{ at: Date; BTC: string; ETH: string; others: Readonly<Record<string, string>> }>;

const baseFeeFactor = 20n;
/** Transfers between strangers in one crowd. */
const crowdSize = 200;

/** Each kind at least once where there is time for it, then by chance; one at a time. */
export function weatherOf(seed: number, minutes: number): readonly Weather[] {
  // Numbers of its own, so that a seed draws the same runs with it and without.
  const random = new Random(seed ^ 0x77_65_61);
  const span = minutes * 60_000;
  const weather: Weather[] = [];
  for (let at = 1500; at < span * 0.85; at += random.whole(500, 4000)) {
    const forMs = random.whole(4000, 15_000);
    const move = (): string => `${random.whole(70, 130) / 100}`;
    const kind = kinds[weather.length] ?? random.pick(kinds);
    weather.push({ atMs: at, forMs, kind, prices: { BTC: move(), ETH: move() } });
    at += forMs;
  }
  return weather;
}

type Prices = { USD: Record<string, string> };

/** Lets the weather happen, when it says so. Resolves to how often each kind was seen, how prices moved, and what
 *  brings the base fee down again, for when nothing is killed any more: an idle chain has no blocks by which it would
 *  fall. */
export async function weather(
  { world }: Stage,
  ethereum: RpcProxy,
  planned: readonly Weather[],
  began: number,
  say: (line: string) => void,
): Promise<{ done: Done; moves: PriceMove[]; calmFees: () => Promise<void> }> {
  const { ethRpcUrl } = world.chains;
  const usual = await baseFee(ethRpcUrl);
  const setBaseFee = (fee: bigint): Promise<unknown> =>
    call(ethRpcUrl, 'anvil_setNextBlockBaseFeePerGas', [`0x${fee.toString(16)}`]);
  const file = join(world.dataDir, 'prices.json');
  const first = JSON.parse(readFileSync(file, 'utf8')) as Prices;
  const others = first.USD;
  const moves: PriceMove[] = [{ at: new Date(0), BTC: others.BTC!, ETH: others.ETH!, others }];
  const done: Done = {};

  const act: Record<Weather['kind'], (one: Weather) => Promise<void>> = {
    async prices({ prices, forMs }) {
      const BTC = times(first.USD.BTC!, prices.BTC, 2, 'down');
      const ETH = times(first.USD.ETH!, prices.ETH, 2, 'down');
      moves.push({ at: new Date(), BTC, ETH, others });
      writeFileSync(file, JSON.stringify({ ...first, USD: { ...first.USD, BTC, ETH } }));
      await sleep(forMs);
    },
    async 'base fee'({ forMs }) {
      for (const end = Date.now() + forMs; Date.now() < end; await sleep(250))
        await setBaseFee(usual * baseFeeFactor).catch(() => undefined); // the node is down for a moment
    },
    async 'no traces'({ forMs }) {
      const error = { code: -32000, message: 'required historical state unavailable' };
      const answer = (body: unknown): object => ({ jsonrpc: '2.0', id: (body as { id: number }).id, error });
      const healed = ethereum.arm({ kind: 'rewrite', answer }, ['debug_traceBlockByHash', 'debug_traceTransaction']);
      await sleep(forMs);
      healed();
    },
    async crowd({ forMs }) {
      const accounts = await call<string[]>(ethRpcUrl, 'eth_accounts', []).catch(() => []);
      const [from, to] = accounts.slice(-2);
      for (let n = 0; n < crowdSize && from; n += 1)
        await call(ethRpcUrl, 'eth_sendTransaction', [{ from, to, value: '0x1' }]).catch(() => undefined);
      await sleep(forMs);
    },
  };

  for (const one of planned) {
    await sleep(Math.max(0, began + one.atMs - Date.now()));
    say(`${Math.round((Date.now() - began) / 1000)} s: ${one.kind} for ${one.forMs} ms`);
    done[one.kind] = (done[one.kind] ?? 0) + 1;
    await act[one.kind](one);
  }
  const calmFees = async (): Promise<void> => {
    if (!planned.length) return;
    await setBaseFee(usual);
    await mineEthereum(ethRpcUrl);
  };
  return { done, moves, calmFees };
}

async function baseFee(ethRpcUrl: string): Promise<bigint> {
  for (;;) {
    const head = await call<{ baseFeePerGas: string }>(ethRpcUrl, 'eth_getBlockByNumber', ['latest', false]).catch(
      () => null,
    );
    if (head) return BigInt(head.baseFeePerGas);
    await sleep(250);
  }
}
