import type { NetworkId } from '../../domain/chains/assets';
import { applyMempool, payingUs } from '../../db/chains/mempool';
import type { FollowerDeps } from './deps';
import { Watched } from './watched';

/** For so long a look reads transactions of a mempool; the rest is left to the next. Blocks wait no longer. */
const readingMs = 2000;
/** An unconfirmed deposit that no mempool has shown for this long counts as gone. */
const missingLimitSeconds = 600;
/** A transaction that could not be read this often holds nothing up any more; its block will show it. */
const patience = 5;
const mostPauseMs = 60_000;

type Failure = Readonly<{ tries: number; againAt: number }>;

/** What a follower knows of a mempool. `readAt`: when the last look that left nothing unread began. */
export type PoolMemory = {
  readonly watched: Watched;
  known: ReadonlySet<string>;
  failed: ReadonlyMap<string, Failure>;
  readAt: Date | null;
};

export const newPoolMemory = (network: NetworkId): PoolMemory => ({
  watched: new Watched(network),
  known: new Set(),
  failed: new Map(),
  readAt: null,
});

/** One look at the mempool. What strangers send is read once and costs the database nothing; a transaction that cannot
 *  be read is read again by itself. */
export async function lookAtMempool(
  { db, adapter, log }: FollowerDeps,
  memory: PoolMemory,
  lookedAt: Date,
): Promise<void> {
  const { network } = adapter;
  const now = Date.now();
  const isLeftAlone = (id: string): boolean => memory.known.has(id) || (memory.failed.get(id)?.againAt ?? 0) > now;
  const pool = await adapter.readMempool({ has: isLeftAlone }, readingMs);
  await memory.watched.refresh(db.manager);
  const transfers = memory.watched.concerning(pool.transfers);
  // A payer who was in time is in time, also where nobody looked just then.
  const since = await adapter.pooledSince(await payingUs(db, network, transfers));
  await db.transaction((tx) => applyMempool(tx, network, { ids: pool.ids, transfers, since }, missingLimitSeconds));

  const ids = [...pool.ids];
  memory.known = new Set(ids.filter((id) => memory.known.has(id) || pool.read.has(id)));
  const failed = new Map<string, Failure>();
  for (const id of ids.filter((one) => !memory.known.has(one))) {
    const before = memory.failed.get(id);
    const reason = pool.failed.get(id);
    if (reason === undefined) {
      if (before) failed.set(id, before);
      continue;
    }
    const tries = (before?.tries ?? 0) + 1;
    failed.set(id, { tries, againAt: now + Math.min(mostPauseMs, 1000 * 2 ** tries) });
    if (tries === patience) log.warn({ network, txId: id, reason }, 'A transaction of the mempool cannot be read');
  }
  memory.failed = failed;
  const isDone = (id: string): boolean => memory.known.has(id) || (failed.get(id)?.tries ?? 0) >= patience;
  if (ids.every(isDone)) memory.readAt = lookedAt;
}
