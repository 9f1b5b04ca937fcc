import { setTimeout as sleep } from 'node:timers/promises';
import { post } from '../../db/ledger/ledger';
import { setMerchantStatus } from '../../db/access/merchants';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { readWithdrawal } from '../../db/withdrawals/withdrawals';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { adjustment } from '../../domain/ledger/entry';
import type { Miner } from '../../sandbox/miner';
import { byTwoOperators } from '../operators';
import type { Done } from './kills';
import { usualCurrencies } from './networks';
import { Random } from './random';
import { scenario as contracts } from './scenarios/contracts';
import { scenario as ownAddress } from './scenarios/own-address';
import { scenario as replacing } from './scenarios/replacing';
import type { Scenario, Stage } from './stage';

/** People and nodes that mean ill, beside what is killed: nobody may gain by it, and nothing may be stuck at the
 *  end. */

export type Adversaries = Readonly<{
  runs: ReadonlyArray<Readonly<{ what: string; startAfterMs: number; live: (stage: Stage) => Promise<void> }>>;
  standing: ReadonlyArray<Readonly<{ atMs: number; forMs: number }>>;
  /** When the other merchant asks for money, and when he is suspended. */
  suspended: Readonly<{ askMs: readonly number[]; atMs: number }>;
}>;

/** Drawn apart, so that a seed draws the same runs with it and without. `count`: scenarios of each sort. */
export function adversariesOf(seed: number, minutes: number, count: number): Adversaries {
  const random = new Random(seed ^ 0x61_64_76);
  const span = minutes * 60_000;
  const each = Math.max(1, Math.round(count));
  const draw = (of: Random, scenario: Scenario, name: string, n: number) => {
    const startAfterMs = of.whole(0, Math.round(span * 0.6));
    return { startAfterMs, ...scenario(of, `${seed}/${name}/${n}`, usualCurrencies) };
  };
  const runs = Array.from({ length: 2 * each }, (_, n) =>
    n % 2 ? draw(random, contracts, 'contracts', n) : draw(random, replacing, 'replacing', n),
  );
  const standing = Array.from({ length: Math.max(1, Math.round(minutes / 2)) }, (_, n) => ({
    atMs: Math.round((span * (n + 0.3)) / Math.max(1, Math.round(minutes / 2))),
    forMs: random.whole(4000, 12_000),
  }));
  const askMs = Array.from({ length: 4 }, () => random.whole(0, Math.round(span * 0.6)));
  const own = new Random(seed ^ 0x6f_77_6e);
  runs.push(...Array.from({ length: each }, (_, n) => draw(own, ownAddress, 'own-address', n)));
  return { runs, standing, suspended: { askMs, atMs: Math.round(span * 0.3) } };
}

/** For a while no block comes: the heads of both nodes stand still. What a node does that lags behind the others, or
 *  contradicts itself, is the matter of tests/activities/stale-node. */
export async function standStill(
  miner: Miner,
  planned: Adversaries['standing'],
  began: number,
  say: (line: string) => void,
): Promise<Done> {
  const done: Done = {};
  for (const { atMs, forMs } of planned) {
    await sleep(Math.max(0, began + atMs - Date.now()));
    say(`${Math.round((Date.now() - began) / 1000)} s: the chains stand still for ${forMs} ms`);
    await miner.stop();
    await sleep(forMs);
    miner.start();
    done['standing chains'] = (done['standing chains'] ?? 0) + 1;
  }
  return done;
}

const each = '0.01';

/** Another merchant, who is suspended while his withdrawals are on their way. Resolves to how to end it: his money is
 *  released by two operators, and all of it arrives. */
export async function suspendedShop(
  stage: Stage,
  { askMs, atMs }: Adversaries['suspended'],
  began: number,
): Promise<() => Promise<void>> {
  const { world } = stage;
  const shop = await world.shop();
  const credit = `L:available:${shop.id}` as const;
  const postings = [{ debit: 'Q:capital', credit, asset: 'ETH', amount: '1' }] as const;
  await stage.surely((tx) => post(tx, { key: `torture/suspended/${shop.id}`, entry: adjustment, postings }));
  const ids: string[] = [];
  const ask = async (ms: number, n: number): Promise<void> => {
    await sleep(Math.max(0, began + ms - Date.now()));
    const name = `suspended/${shop.id}/${n}`;
    const address = stage.address('ETH', name);
    const entry = { type: 'wallet' as const, currency: 'ETH', address, destinationTag: null };
    await stage.ifInTime((tx) => addToWhitelist(tx, shop.id, stage.by, entry), 'ALREADY_WHITELISTED');
    const terms = { currency: 'ETH', address, feeMode: 'add' as const, amount: each };
    const { row } = await stage.surely((tx) => openWithdrawal(tx, stage.deps, shop.id, terms, stage.by, name));
    ids.push(row.id);
    stage.recipients.push({
      what: `withdrawal ${row.id} of a suspended merchant`,
      currency: 'ETH',
      address,
      expected: each,
    });
  };
  const suspend = async (): Promise<void> => {
    await sleep(Math.max(0, began + atMs - Date.now()));
    await stage.surely((tx) => setMerchantStatus(tx, shop.id, 'suspended', 'torture'));
  };
  const all = Promise.all([suspend(), ...askMs.map(ask)]);
  return async () => {
    await all;
    const signedLate = await stage.read<{ id: string }>(
      `SELECT w.id FROM withdrawal w JOIN intent i ON i.kind = 'withdrawal' AND i.ref = w.id
         JOIN attempt a ON a.intent_id = i.id JOIN merchant m ON m.id = w.merchant_id
        WHERE w.merchant_id = $1 AND a.n = 1 AND a.created_at > m.updated_at + interval '1 second'`,
      [shop.id],
    );
    for (const { id } of signedLate)
      stage.problems.push(`withdrawal ${id} was signed while its merchant was suspended`);
    await stage.surely((tx) => setMerchantStatus(tx, shop.id, 'active', 'torture'));
    await byTwoOperators(world.db, 'lift-hold', { merchantId: shop.id });
    for (const id of ids) {
      const last = await stage.ended(`withdrawal ${id}`, ['completed', 'cancelled', 'failed'], () =>
        readWithdrawal(world.db, shop.id, id),
      );
      if (last.status !== 'completed')
        stage.problems.push(`withdrawal ${id} of a suspended merchant is ${last.status}`);
    }
  };
}
