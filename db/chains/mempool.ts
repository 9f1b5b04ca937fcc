import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Transfer } from '../../domain/chains/chain';
import type { Queryable } from '../query';
import { ourReceivers, storeArrivals } from './arrivals';
import { notifyOwners } from './notify';
import { noteForeignSpend, ourCoins, replaceConflicting } from './spends';

/** Ids of the transactions among these that pay an address of ours. */
export async function payingUs(db: Queryable, network: NetworkId, transfers: readonly Transfer[]): Promise<string[]> {
  const receiverAt = await ourReceivers(db, network, transfers);
  return [...new Set(transfers.filter((transfer) => receiverAt(transfer)).map((transfer) => transfer.txId))];
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
