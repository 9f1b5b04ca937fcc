import type { Queryable } from '../query';
import type { NetworkId } from '../../domain/chains/assets';

/** What our own addresses must hold and cannot send. */

/** Those that pay on a network. */
export const payingAddresses = async (db: Queryable, network: NetworkId): Promise<string[]> =>
  (
    await db.query<Array<{ address: string }>>(
      `SELECT address FROM address WHERE network = $1 AND role IN ('treasury', 'gas') ORDER BY address`,
      [network],
    )
  ).map(({ address }) => address);

/** `units`: of the native coin, as the node says now. */
export const storeReserve = (
  db: Queryable,
  { network, address, units }: Readonly<{ network: NetworkId; address: string; units: bigint }>,
): Promise<unknown> =>
  db.query(
    `INSERT INTO address_reserve (network, address, units, taken_at) VALUES ($1, $2, $3, clock_timestamp())
     ON CONFLICT (network, address) DO UPDATE SET units = EXCLUDED.units, taken_at = EXCLUDED.taken_at`,
    [network, address, units.toString()],
  );
