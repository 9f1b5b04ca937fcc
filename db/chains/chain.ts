import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Block, Transfer } from '../../domain/chains/chain';
import { freeze } from '../limits/outbound';
import { failPoint } from '../fail-point';
import type { Queryable } from '../pricing/pricing';
import { changedRows } from '../query';
import { ourReceivers, storeArrivals } from './arrivals';
import { type Cursor, moveCursor } from './cursor';
import { identify, lookAgain } from './found-by-balance';
import { notifyOwners, notifyPayouts, notifySenders } from './notify';
import { openIncident, resolveUnverified } from '../incidents';
import { freezeWallet } from '../txmanager/frozen-wallets';
import { rememberBlocks } from './remembered';
import { rewindLooks } from './untraced';

/** Ids of the transactions among these that pay an address of ours. */
export async function payingUs(db: Queryable, network: NetworkId, transfers: readonly Transfer[]): Promise<string[]> {
  const receiverAt = await ourReceivers(db, network, transfers);
  return [...new Set(transfers.filter((transfer) => receiverAt(transfer)).map((transfer) => transfer.txId))];
}

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

/** UTXO: which of our coins the block spends, and which unconfirmed deposits can no longer come. */
async function applySpends(tx: EntityManager, network: NetworkId, block: Block): Promise<void> {
  if (!block.spent.size) return;
  for (const { coin, spender } of await ourCoins(tx, network, block.spent)) {
    await tx.query('UPDATE deposit SET spent_by_tx = $2, spent_height = $3 WHERE id = $1', [
      coin.id,
      spender,
      block.height,
    ]);
    await noteForeignSpend(tx, network, coin, spender, block.height);
  }
  await replaceConflicting(tx, network, block.spent);
}

type SpentCoin = { id: string; outpoint: string; currency: string };

/** Which of these outpoints are coins of ours, and who spends them. */
async function ourCoins(
  tx: EntityManager,
  network: NetworkId,
  spent: ReadonlyMap<string, string>,
): Promise<Array<{ coin: SpentCoin; spender: string }>> {
  const txIds = new Set([...spent.keys()].map((outpoint) => outpoint.slice(0, outpoint.lastIndexOf(':'))));
  const coins = await tx.query<SpentCoin[]>(
    `SELECT id, tx_id || ':' || out_index AS outpoint, currency FROM deposit WHERE network = $1 AND tx_id = ANY($2)`,
    [network, [...txIds]],
  );
  return coins.flatMap((coin) => {
    const spender = spent.get(coin.outpoint);
    return spender ? [{ coin, spender }] : [];
  });
}

/** A transaction that we know nothing of spends a coin of ours: somebody else has the key, or this database is an old
 *  one. */
async function noteForeignSpend(
  tx: EntityManager,
  network: NetworkId,
  coin: SpentCoin,
  spender: string,
  height: number | null,
): Promise<void> {
  const [known] = await tx.query<unknown[]>('SELECT 1 FROM attempt WHERE network = $1 AND tx_id = $2', [
    network,
    spender,
  ]);
  if (known) return;
  await openIncident(tx, {
    kind: 'foreign-spend',
    subject: { kind: 'deposit', id: coin.id },
    details: { depositId: coin.id, spender, height },
  });
  await freeze(tx, coin.currency, `Coin ${coin.outpoint} was spent by ${spender}, which is not ours`);
}

/** Unconfirmed deposits that spend an outpoint which another transaction has taken are gone. `spent`: outpoints, and
 *  what takes them. */
async function replaceConflicting(
  tx: EntityManager,
  network: NetworkId,
  spent: ReadonlyMap<string, string>,
): Promise<void> {
  const gone = await changedRows<{ id: string }>(
    tx,
    `UPDATE deposit SET status = 'replaced', block_hash = NULL, height = NULL
      WHERE network = $1 AND status IN ('pool', 'orphaned') AND inputs && $2::text[]
        AND EXISTS (SELECT FROM unnest($2::text[], $3::text[]) AS s (input, spender)
                     WHERE s.input = ANY (inputs) AND s.spender <> tx_id) RETURNING id`,
    [network, [...spent.keys()], [...spent.values()]],
  );
  await notifyOwners(
    tx,
    gone.map((row) => row.id),
  );
}

/** Goes back to the last block that both we and the chain know; what was above it is orphaned. Returns the journals'
 *  deposits that must be reversed by the caller: own money that had been booked as capital. */
export async function rewind(tx: EntityManager, network: NetworkId, from: Cursor, ancestor: Cursor): Promise<string[]> {
  await moveCursor(tx, network, from, ancestor);
  await tx.query('UPDATE chain_cursor SET head_height = $2 WHERE network = $1', [network, ancestor.height]);
  await tx.query('DELETE FROM chain_block WHERE network = $1 AND height > $2', [network, ancestor.height]);
  await rewindLooks(tx, network, ancestor.height);
  const orphans = await changedRows<{ id: string; allocation: string | null }>(
    tx,
    `UPDATE deposit SET status = 'orphaned', block_hash = NULL, height = NULL, confirmed_at = NULL,
            verify_tries = 0, verify_after = NULL
      WHERE network = $1 AND height > $2 AND status IN ('mined', 'confirmed') RETURNING id, allocation`,
    [network, ancestor.height],
  );
  const orphanIds = orphans.map((row) => row.id);
  await lookAgain(tx, network, orphanIds);
  await resolveUnverified(tx, orphanIds);
  await tx.query(
    'UPDATE deposit SET spent_by_tx = NULL, spent_height = NULL WHERE network = $1 AND spent_height > $2',
    [network, ancestor.height],
  );
  const dropped = await changedRows<{ intent_id: string }>(
    tx,
    `UPDATE attempt SET status = 'sent', block_hash = NULL, height = NULL, success = NULL, fee_units = NULL,
       final_at = NULL
      WHERE network = $1 AND height > $2 AND status IN ('mined', 'final') RETURNING intent_id`,
    [network, ancestor.height],
  );
  const intentIds = dropped.map((row) => row.intent_id);
  await tx.query(`UPDATE intent SET status = 'sent', booked = false, updated_at = now() WHERE id = ANY($1::bigint[])`, [
    intentIds,
  ]);
  await notifyOwners(tx, orphanIds);
  const waiting = await tx.query<Array<{ id: string }>>(
    `SELECT id FROM intent WHERE network = $1 AND status NOT IN ('final', 'failed', 'dead')
       AND deposit_ids && $2::bigint[]`,
    [network, orphanIds],
  );
  await notifySenders(tx, [...intentIds, ...waiting.map((row) => row.id)]);
  return orphans.filter((row) => row.allocation === 'capital').map((row) => row.id);
}

/** Takes a look at the mempool: new money, and unconfirmed money that is gone or replaced. `transfers`: of transactions
 *  that may concern us; `ids`: all that are there. */
export async function applyMempool(
  tx: EntityManager,
  network: NetworkId,
  pool: Readonly<{ ids: ReadonlySet<string>; transfers: readonly Transfer[]; since: ReadonlyMap<string, number> }>,
  missingLimitSeconds: number,
): Promise<void> {
  await storeArrivals(tx, network, pool.transfers, { status: 'pool', since: pool.since });
  const spent = new Map(pool.transfers.flatMap(({ txId, inputs }) => inputs.map((input) => [input, txId] as const)));
  if (spent.size) {
    for (const { coin, spender } of await ourCoins(tx, network, spent))
      await noteForeignSpend(tx, network, coin, spender, null);
    await replaceConflicting(tx, network, spent);
  }
  await noteMissing(tx, network, pool.ids, missingLimitSeconds);
}

/** Unconfirmed deposits that the mempool shows no more are gone after a while. */
async function noteMissing(
  tx: EntityManager,
  network: NetworkId,
  ids: ReadonlySet<string>,
  limitSeconds: number,
): Promise<void> {
  const pooled = await tx.query<Array<{ id: string; txId: string; isMissing: boolean; isGone: boolean }>>(
    `SELECT id, tx_id AS "txId", missing_since IS NOT NULL AS "isMissing",
            coalesce(missing_since < now() - make_interval(secs => $2), false) AS "isGone"
       FROM deposit WHERE network = $1 AND status = 'pool'`,
    [network, limitSeconds],
  );
  const changed = pooled.filter(({ txId, isMissing }) => isMissing === ids.has(txId));
  if (changed.length)
    await tx.query(
      `UPDATE deposit SET missing_since = CASE WHEN missing_since IS NULL THEN now() END WHERE id = ANY($1::bigint[])`,
      [changed.map(({ id }) => id)],
    );
  const gone = pooled.filter(({ txId, isGone }) => isGone && !ids.has(txId)).map(({ id }) => id);
  if (!gone.length) return;
  await tx.query(`UPDATE deposit SET status = 'replaced' WHERE id = ANY($1::bigint[])`, [gone]);
  await notifyOwners(tx, gone);
}
