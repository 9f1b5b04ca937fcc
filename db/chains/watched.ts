import type { NetworkId } from '../../domain/chains/assets';
import type { Queryable } from '../query';

/** What a follower looks for in a mempool: our addresses, our coins, and the coins that unconfirmed deposits spend.
 *  Read in pages at first, and then what is new. */

/** An address is told to nobody before its transaction has ended, which takes seconds; one that took longer is found in
 *  its blocks alone. */
const lateSeconds = 60;

export const watchedAddresses = (
  db: Queryable,
  network: NetworkId,
  after: string,
  most: number,
): Promise<Array<{ address: string }>> =>
  db.query(`SELECT address FROM address WHERE network = $1 AND address > $2 AND tag = '' ORDER BY address LIMIT $3`, [
    network,
    after,
    most,
  ]);

/** Addresses that may be new since `since`, by the database's clock. */
export const newAddresses = (
  db: Queryable,
  network: NetworkId,
  since: Date,
): Promise<Array<{ address: string; createdAt: Date }>> =>
  db.query(
    `SELECT address, created_at AS "createdAt" FROM address
      WHERE network = $1 AND tag = '' AND created_at > $2::timestamptz - make_interval(secs => $3)`,
    [network, since, lateSeconds],
  );

/** A deposit's own outpoint, and those that it spends. */
export type WatchedDeposit = Readonly<{ id: string; outpoint: string; inputs: string[] }>;

/** Deposits from one on that may still be spent, replaced or orphaned. */
export const watchedDeposits = (
  db: Queryable,
  network: NetworkId,
  afterId: string,
  reorgWindow: number,
  most: number,
): Promise<WatchedDeposit[]> =>
  db.query(
    `SELECT d.id, d.tx_id || ':' || d.out_index AS outpoint,
            CASE WHEN d.height IS NULL OR d.height > c.height - $3 THEN d.inputs ELSE '{}' END AS inputs
       FROM deposit d JOIN chain_cursor c ON c.network = d.network
      WHERE d.network = $1 AND d.id > $2
        AND (d.spent_height IS NULL OR d.spent_height > c.height - $3) ORDER BY d.id LIMIT $4`,
    [network, afterId, reorgWindow, most],
  );
