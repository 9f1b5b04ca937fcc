import { ApplicationFailure, Context } from '@temporalio/activity';
import { networks } from '../../domain/chains/assets';
import { NoCommonBlock } from '../../db/chains/cursor';
import { storeFee } from '../../db/chains/fees';
import { databaseNow } from '../../db/payments/payments';
import { mayFollow } from '../../db/recovery/epoch';
import { lookAtLost } from '../../txmanager/send/lost';
import { restUntil } from '../rest';
import { lookAtBalances } from './balances';
import { catchUp } from './catch-up';
import type { FollowerDeps, GoOn } from './deps';
import { noteScanned, noteStale } from './freshness';
import { mature } from './mature';
import { lookAtMempool, newPoolMemory, type PoolMemory } from './mempool';
import { noteReserves } from './reserves';
import { readTracesAgain, type Retracing } from './retrace';

const feeEveryMs = 10_000;
const lostEveryMs = 60_000;

/** What a follower knows from its last look. */
type Memory = Retracing & { pool: PoolMemory; feeTakenAt: number; lostSeenAt: number };

/** One look at a network: blocks, mempool, what has become deep enough, and the price of a transaction. */
async function lookOnce(deps: FollowerDeps, memory: Memory, goOn: GoOn): Promise<void> {
  const { db, adapter } = deps;
  const { network } = adapter;
  const lookedAt = await databaseNow(db.manager);
  const head = await adapter.head();
  const cursor = await catchUp(deps, head, goOn).catch((error: unknown) => {
    if (!(error instanceof NoCommonBlock)) throw error;
    return error;
  });
  if (cursor instanceof NoCommonBlock) return noteStale(deps, head, cursor.message);
  // What such a node says of its pool, balances and transactions is of before.
  if (cursor.height > head.height) return noteScanned(deps, cursor, { lookedAt, head, poolReadAt: null });
  if (networks[network].hasMempool) await lookAtMempool(deps, memory.pool, lookedAt);
  await readTracesAgain(deps, memory);
  await lookAtBalances(deps, cursor, goOn);
  await mature(deps, cursor, goOn);
  if (Date.now() - memory.lostSeenAt > lostEveryMs) {
    await lookAtLost(deps);
    memory.lostSeenAt = Date.now();
  }
  if (Date.now() - memory.feeTakenAt > feeEveryMs) {
    const fee = await adapter.estimateFee();
    // Without one the last counts on, for a bounded time: see maintainTreasury.
    if (fee) await storeFee(db.manager, network, fee);
    await noteReserves(deps);
    memory.feeTakenAt = Date.now();
  }
  await noteScanned(deps, cursor, { lookedAt, head, poolReadAt: memory.pool.readAt });
}

/** A follower of one network: each call is one look at it, and it remembers from one to the next. */
export function createFollower(deps: FollowerDeps): (goOn?: GoOn) => Promise<void> {
  const memory: Memory = { retraceAt: 0, pool: newPoolMemory(deps.adapter.network), feeTakenAt: 0, lostSeenAt: 0 };
  return (goOn = () => undefined) => lookOnce(deps, memory, goOn);
}

/** Follows one network for as long as its worker lives. Cursor and deposits move in one transaction, and the cursor
 *  moves only from where this follower left it, so that a second one running by accident stops at its first block. */
export function followerActivities(deps: FollowerDeps) {
  return {
    /** Never returns while its worker lives. Its worker beats for it; Temporal starts it elsewhere when the beats
     *  stop. */
    async followChain(): Promise<void> {
      const context = Context.current();
      const goOn = (): void => {
        if (context.cancellationSignal.aborted)
          throw ApplicationFailure.retryable('Its worker ends, or Temporal has given it to another', 'FOLLOWER_MOVES');
      };
      let look = createFollower(deps);
      for (;;) {
        goOn();
        if (await mayFollow(deps.db, deps.adapter.network)) await look(goOn);
        // What it remembers may be of a database that this one has replaced.
        else look = createFollower(deps);
        await restUntil(deps.config.POLL_INTERVAL_MS, context.cancellationSignal);
      }
    },
  };
}
