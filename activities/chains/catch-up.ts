import { networks } from '../../domain/chains/assets';
import { applyBlock } from '../../db/chains/chain';
import { commonAncestor, isRemembered, readCursor, startCursor, type Cursor } from '../../db/chains/cursor';
import { noteTraces } from '../../db/chains/untraced';
import { failPoint } from '../../db/fail-point';
import { rollBack } from '../../txmanager/reorganise';
import type { FollowerDeps, GoOn } from './deps';

/** Steps back until the chain and our memory agree. */
async function stepBack({ db, adapter, log }: FollowerDeps, from: Cursor): Promise<Cursor> {
  const { network } = adapter;
  const ancestor = await commonAncestor(db.manager, network, from, (height) => adapter.blockHash(height));
  log.warn({ network, from: from.height, to: ancestor.height }, 'Reorganisation');
  await db.transaction((tx) => rollBack(tx, network, from, ancestor));
  await failPoint('follower.afterRewind');
  return ancestor;
}

/** Whether a node has our blocks up to its head and no other after it: it has lost its last ones, as nodes of account
 *  chains do after a crash, or fetches them. No reorganisation takes blocks there without giving others. A node with a
 *  mempool that gives a block up has its transactions in the pool again: a reorganisation without a new block. */
async function isBehind({ db, adapter }: FollowerDeps, cursor: Cursor, head: Cursor): Promise<boolean> {
  const { network } = adapter;
  if (networks[network].hasMempool || head.height >= cursor.height) return false;
  return isRemembered(db.manager, network, head);
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
  if ((await adapter.blockHash(cursor.height)) !== cursor.hash) cursor = await stepBack(deps, cursor);
  while (cursor.height < head.height) {
    goOn();
    const block = await adapter.readBlock(cursor.height + 1);
    if (!block) break;
    const from: Cursor = cursor;
    if (block.parentHash !== from.hash) {
      cursor = await stepBack(deps, from);
      continue;
    }
    await db.transaction(async (tx) => {
      await applyBlock(tx, network, from, block, networks[network].reorgWindow);
      await noteTraces(tx, network, block);
    });
    await failPoint('follower.afterCommit');
    cursor = { height: block.height, hash: block.hash };
  }
  return cursor;
}
