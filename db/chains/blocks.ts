import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Block, Transfer } from '../../domain/chains/chain';
import { failPoint } from '../fail-point';
import { changedRows } from '../query';
import { freezeWallet } from '../txmanager/frozen-wallets';
import { ourReceivers, storeArrivals } from './arrivals';
import { type Cursor, moveCursor } from './cursor';
import { identify } from './found-by-balance';
import { notifyPayouts } from './notify';
import { rememberBlocks } from './remembered';
import { applySpends } from './spends';

/** Takes the next block: deposits, our own transactions, spent coins and conflicts, with the cursor, in the caller's
 *  transaction. */
export async function applyBlock(
  tx: EntityManager,
  network: NetworkId,
  from: Cursor,
  block: Block,
  reorgWindow: number,
): Promise<void> {
  await moveCursor(tx, network, from, { height: block.height, hash: block.hash });
  await rememberBlocks(tx, network, [block], reorgWindow);
  await storeArrivals(tx, network, block.transfers, {
    status: 'mined',
    blockHash: block.hash,
    height: block.height,
    time: block.time,
  });
  if (block.txIds.length) {
    const mined = await changedRows<{ id: string }>(
      tx,
      `WITH taken AS (
         UPDATE attempt SET status = 'mined', block_hash = $3, height = $4, missing_at_height = NULL
          WHERE network = $1 AND tx_id = ANY($2) AND status IN ('stored', 'sent', 'replaced') RETURNING intent_id)
       UPDATE intent SET status = 'mined', updated_at = now() WHERE id IN (SELECT intent_id FROM taken)
         AND status IN ('planned', 'stored', 'sent', 'dead')
        RETURNING id`,
      [network, block.txIds, block.hash, block.height],
    );
    await notifyPayouts(
      tx,
      mined.map((one) => one.id),
    );
    await noteContradictions(tx, network, block);
  }
  await applySpends(tx, network, block);
  await failPoint('follower.beforeCommit');
}

/** A block has what was proven void: one of two final blocks was none, or who told of them was wrong. Something else
 *  may be signed for its intent by now. The rows stay; its wallet signs no more, operators look, and the signer's node
 *  must prove it once more before anything of its intent is signed or goes back. Of a block that is not final too: who
 *  looks in vain has lost less. */
async function noteContradictions(tx: EntityManager, network: NetworkId, block: Block): Promise<void> {
  const found = await tx.query<Array<{ txId: string; intentId: string; from: string; through: string }>>(
    `SELECT tx_id AS "txId", intent_id::text AS "intentId", from_address AS "from",
            coalesce(absence->'through'->>'height', '') AS through
       FROM attempt WHERE network = $1 AND tx_id = ANY($2) AND status = 'expired' ORDER BY id`,
    [network, block.txIds],
  );
  if (found.length) await tx.query('SELECT withdraw_absence($1, $2)', [network, found.map(({ txId }) => txId)]);
  for (const { txId, intentId, from, through } of found) {
    const reason = `${txId} is void by block ${through}, and block ${block.height} has it`;
    await freezeWallet(tx, { network, address: from }, { intentId, reason });
  }
}

/** Takes what the trace of a block told later. What was found by balance meanwhile is known: it only gets its name. */
export async function applyTraced(
  tx: EntityManager,
  network: NetworkId,
  block: Readonly<{ height: number; hash: string }>,
  time: number,
  transfers: readonly Transfer[],
): Promise<void> {
  const receiverAt = await ourReceivers(tx, network, transfers);
  const stored = await tx.query<Array<{ key: string }>>(
    `SELECT tx_id || ':' || out_index AS key FROM deposit
      WHERE network = $1 AND block_hash = $2 AND height = $3 AND status IN ('mined', 'confirmed')`,
    [network, block.hash, block.height],
  );
  const isStored = new Set(stored.map(({ key }) => key));
  const fresh: Transfer[] = [];
  for (const transfer of transfers.filter((one) => receiverAt(one) && !isStored.has(`${one.txId}:${one.index}`)))
    if (!(await identify(tx, network, transfer, block.height))) fresh.push(transfer);
  await storeArrivals(tx, network, fresh, { status: 'mined', blockHash: block.hash, height: block.height, time });
}
