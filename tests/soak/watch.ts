import { cpuOf } from '../bench/cpu-time';
import type { Shop, World } from '../world';
import type { End } from './end';
import type { Sample } from './growth';
import { bytesOf, others, ours, type Part } from './memory';

/** What is looked at while the service is at work. */

const everyMs = 5000;
/** Tables whose rows go once what they ask for is done, or once they are old enough. */
export const prunedTables = ['temporal_request', 'delivery_queue', 'rate_limit', 'chain_block', 'coin_lock'] as const;
/** Reads of a merchant, each answered as fast at the end as at the beginning. */
export const reads = ['/api/v1/payments?limit=25', '/api/v1/ledger/balances', '/api/v1/events?limit=25'] as const;

export type Watched = Readonly<{
  memory: Readonly<Record<Part, Sample[]>>;
  rows: Readonly<Record<(typeof prunedTables)[number], Sample[]>>;
  times: Readonly<Record<(typeof reads)[number], Sample[]>>;
  /** How long a request took that reads nothing: what the machine makes of any other. */
  bare: Sample[];
  /** Milliseconds of CPU since each part has started. */
  cpu: Readonly<Record<Part, Sample[]>>;
}>;

const listsFor = <Key extends string>(keys: readonly Key[]): Record<Key, Sample[]> =>
  Object.fromEntries(keys.map((key) => [key, [] as Sample[]])) as Record<Key, Sample[]>;

export async function watch(world: World, shop: Shop, end: End): Promise<Watched> {
  const parts = [...ours, ...others];
  const watched = {
    ...{ memory: listsFor(parts), cpu: listsFor(parts) },
    ...{ rows: listsFor(prunedTables), times: listsFor(reads), bare: [] as Sample[] },
  };
  while (!end.isOver()) {
    const atMs = performance.now();
    for (const part of parts) {
      watched.memory[part].push({ atMs, value: bytesOf(world, part) });
      watched.cpu[part].push({ atMs, value: cpuOf(world, part) });
    }
    for (const table of prunedTables) {
      const [row] = (await world.db.query(`SELECT count(*)::int AS n FROM ${table}`)) as Array<{ n: number }>;
      watched.rows[table].push({ atMs, value: row!.n });
    }
    const asked = performance.now();
    await world.call(null, 'GET', '/healthz');
    watched.bare.push({ atMs: asked, value: performance.now() - asked });
    for (const path of reads) {
      const began = performance.now();
      const { status } = await world.call(shop, 'GET', path);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      watched.times[path].push({ atMs: began, value: performance.now() - began });
    }
    await end.orAt(atMs + everyMs);
  }
  return watched;
}
