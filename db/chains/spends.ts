import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Block } from '../../domain/chains/chain';
import { openIncident } from '../incidents';
import { freeze } from '../limits/outbound';
import { changedRows } from '../query';
import { notifyOwners } from './notify';

/** Coins that are spent, by us or by others. */

/** UTXO: which of our coins the block spends, and which unconfirmed deposits can no longer come. */
export async function applySpends(tx: EntityManager, network: NetworkId, block: Block): Promise<void> {
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
export async function ourCoins(
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
export async function noteForeignSpend(
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
export async function replaceConflicting(
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
