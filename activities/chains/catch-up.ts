import { networks } from '../../domain/chains/assets';
import { applyBlock } from '../../db/chains/blocks';
import { commonAncestor, noteReorganisation, readCursor, startCursor, type Cursor } from '../../db/chains/cursor';
import { passQuietBlocks, type Memory } from '../../db/chains/quiet-blocks';
import { rememberedAt } from '../../db/chains/remembered';
import { noteTraces } from '../../db/chains/untraced';
import { failPoint } from '../../db/fail-point';
import { requiredDepth } from '../../db/payments/payments';
import type { Block } from '../../domain/chains/chain';
import { blockedAfterBlocks } from '../../domain/treasury/lanes';
import { rollBack } from '../../txmanager/reorganise';
import { firstRun, nextRun, readRun } from './block-run';
import type { FollowerDeps, GoOn } from './deps';

/** Rolls back to the newest block that the chain and our memory share. */
async function rollBackToAncestor({ db, adapter, log }: FollowerDeps, from: Cursor): Promise<Cursor> {
  const { network } = adapter;
  const ancestor = await commonAncestor(db.manager, network, from, (height) => adapter.blockHash(height));
  log.warn({ network, from: from.height, to: ancestor.height }, 'Reorganisation');
  await db.transaction(async (tx) => {
    await rollBack(tx, network, from, ancestor);
    await noteReorganisation(tx, network, from.height - ancestor.height);
  });
  await failPoint('follower.afterRewind');
  return ancestor;
}

/** Whether a node has our blocks up to its head and no other after it: it has lost its last ones, as nodes of account
 *  chains do after a crash, or fetches them. No reorganisation takes blocks there without giving others. Where the head
 *  of the node is a block that we do not remember, the newest remembered one below it decides: a reorganisation shows
 *  once the node has as many blocks as we do. A node with a mempool that gives a block up has its transactions in the
 *  pool again: a reorganisation without a new block. */
async function isBehind({ db, adapter }: FollowerDeps, cursor: Cursor, head: Cursor): Promise<boolean> {
  const { network } = adapter;
  if (networks[network].hasMempool || head.height >= cursor.height) return false;
  const known = await rememberedAt(db.manager, network, head.height);
  if (!known) return false;
  return known.hash === (known.height === head.height ? head.hash : await adapter.blockHash(known.height));
}

/** The blocks just below the head are all remembered: the audit compares at the required depth, and a transaction of
 *  ours counts as blocked after so many blocks without it. */
function memoryBelow({ adapter, config }: FollowerDeps, head: Pick<Cursor, 'height'>): Memory {
  const { network } = adapter;
  const near = Math.max(blockedAfterBlocks, requiredDepth(network, config.confirmations));
  return { allAbove: head.height - near, reorgWindow: networks[network].reorgWindow };
}

/** Takes a block that concerns us. */
async function takeBlock(
  { db, adapter }: FollowerDeps,
  from: Cursor,
  block: Block,
  { reorgWindow }: Memory,
): Promise<void> {
  const { network } = adapter;
  await db.transaction(async (tx) => {
    await applyBlock(tx, network, from, block, reorgWindow);
    await noteTraces(tx, network, block);
  });
}

/** Takes the blocks after `from` in their order: each block that concerns us in a transaction of its own, and the quiet
 *  ones between two of them in one. Returns where it stands. */
async function takeRun(
  deps: FollowerDeps,
  from: Cursor,
  blocks: readonly Block[],
  memory: Memory,
  goOn: GoOn,
): Promise<Cursor> {
  const { db, adapter } = deps;
  const concerning = new Set<number>();
  let cursor = from;
  for (let rest = blocks; rest.length;) {
    goOn();
    const next = rest.findIndex(({ height }) => concerning.has(height));
    const some = next < 0 ? rest : rest.slice(0, next);
    let taken = 1;
    if (some.length) {
      const at = cursor;
      // Looked at again for each stretch: a coin that one block brings may be spent in a later one.
      const found = await db.transaction((tx) => passQuietBlocks(tx, adapter.network, at, some, memory));
      for (const height of found) concerning.add(height);
      const first = some.findIndex(({ height }) => found.has(height));
      taken = first < 0 ? some.length : first;
    } else await takeBlock(deps, cursor, rest[0]!, memory);
    if (!taken) continue;
    await failPoint('follower.afterCommit');
    const { height, hash } = rest[taken - 1]!;
    cursor = { height, hash };
    rest = rest.slice(taken);
  }
  return cursor;
}

/** Takes every block up to the head; returns where it stands. For a node that is behind nothing is taken back. Throws
 *  NoCommonBlock. */
export async function catchUp(
  deps: FollowerDeps,
  head: Readonly<{ height: number; hash: string }>,
  goOn: GoOn,
): Promise<Cursor> {
  const { db, adapter } = deps;
  const { network } = adapter;
  let cursor = await readCursor(db.manager, network);
  if (!cursor) {
    await startCursor(db.manager, network, head);
    return head;
  }
  if (await isBehind(deps, cursor, head)) return cursor;
  if ((await adapter.blockHash(cursor.height)) !== cursor.hash) cursor = await rollBackToAncestor(deps, cursor);
  const memory = memoryBelow(deps, head);
  for (let most = firstRun; cursor.height < head.height; most = nextRun(most)) {
    goOn();
    const { blocks, isForked } = await readRun(adapter, cursor, head.height, most, goOn);
    if (blocks.length) cursor = await takeRun(deps, cursor, blocks, memory, goOn);
    else if (isForked) cursor = await rollBackToAncestor(deps, cursor);
    else break;
  }
  return cursor;
}
