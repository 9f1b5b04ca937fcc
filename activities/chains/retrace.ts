import { applyTraced } from '../../db/chains/blocks';
import { dueBlock, forgetUntraced, noteFailedAgain } from '../../db/chains/untraced';
import type { FollowerDeps } from './deps';

/** After a trace that failed again, so long none is asked for: what a block costs must not be paid at every look. */
const pauseMs = 60_000;

/** When the next trace may be asked for again; a follower remembers it from one look to the next. */
export type Retracing = { retraceAt: number };

/** Asks for the trace of one block again that failed. What it tells is stored as if it had been told at once. */
export async function readTracesAgain({ db, adapter, log }: FollowerDeps, memory: Retracing): Promise<void> {
  const { network } = adapter;
  if (Date.now() < memory.retraceAt) return;
  const block = await dueBlock(db, network);
  if (!block) return;
  if ((await adapter.blockHash(block.height)) !== block.hash) {
    await db.transaction((tx) => forgetUntraced(tx, network, block.hash));
    return;
  }
  const traced = await adapter.readTraces(block.hash);
  if (traced.state === 'failed') {
    memory.retraceAt = Date.now() + pauseMs;
    await noteFailedAgain(db, network, block.hash, traced.reason);
    log.warn({ network, height: block.height, reason: traced.reason }, 'The trace of a block failed again');
    return;
  }
  await db.transaction(async (tx) => {
    await applyTraced(tx, network, block, traced.time, traced.transfers);
    await forgetUntraced(tx, network, block.hash);
  });
}
