import type { EntityManager } from 'typeorm';
import { networks, type NetworkId } from '../../domain/chains/assets';
import { blockedAfterBlocks, mostLanes } from '../../domain/treasury/lanes';
import type { Queryable } from '../query';

/** Hot wallets of account chains. The signer says which of our addresses are lanes; everybody else reads it. */

/** SQL: what an address is as a lane: `used`, `dropped` or null. Index 0 of the treasury is always used. */
export const laneOf = (address: string): string =>
  `CASE WHEN ${address}.role = 'treasury' AND ${address}.key_index = 0 THEN 'used' ELSE ${address}.lane END`;

/** SQL: addresses, as `from_address`, whose lowest open nonce has been in no block for long, while others were made.
 *  `network`, `seconds`: expressions. */
export const blockedWallets = (network: string, seconds: string): string =>
  `SELECT low.from_address FROM (
     SELECT DISTINCT ON (a.from_address) a.from_address, a.intent_id FROM attempt a
      WHERE a.network = ${network} AND a.nonce IS NOT NULL AND a.status IN ('stored', 'sent')
        AND EXISTS (SELECT FROM address o WHERE o.network = a.network AND o.address = a.from_address
                       AND o.role = 'treasury')
        AND NOT EXISTS (SELECT FROM attempt m WHERE m.network = a.network AND m.from_address = a.from_address
                           AND m.nonce = a.nonce AND m.status IN ('mined', 'final'))
      ORDER BY a.from_address, a.nonce) low
     JOIN attempt first ON first.intent_id = low.intent_id AND first.n = 1
    WHERE coalesce(first.sent_at, first.created_at) < now() - make_interval(secs => ${seconds})
      AND (SELECT count(*) FROM chain_block c
            WHERE c.network = ${network} AND c.block_time > coalesce(first.sent_at, first.created_at))
          >= ${blockedAfterBlocks}`;

/** After so many seconds in no block a transaction blocks its lane. */
export const blockedAfterSeconds = (network: string): number =>
  blockedAfterBlocks * networks[network as NetworkId].blockSeconds;

/** The treasury's addresses that nothing should wait for: frozen, or blocked. Empty where every lane is. */
export async function heldUpWallets(tx: Queryable, network: string): Promise<string[]> {
  const rows = await tx.query<Array<{ address: string; lane: string | null; isHeldUp: boolean }>>(
    `SELECT t.address, ${laneOf('t')} AS lane,
            s.frozen_reason IS NOT NULL OR b.from_address IS NOT NULL AS "isHeldUp"
       FROM address t
       LEFT JOIN wallet_sequence s ON s.network = t.network AND s.address = t.address
       LEFT JOIN (${blockedWallets('$1', '$2')}) b ON b.from_address = t.address
      WHERE t.network = $1 AND t.role = 'treasury'
        AND (t.key_index = 0 OR t.lane IS NOT NULL OR s.frozen_reason IS NOT NULL OR b.from_address IS NOT NULL)`,
    [network, blockedAfterSeconds(network)],
  );
  if (!rows.some(({ lane, isHeldUp }) => lane === 'used' && !isHeldUp)) return [];
  return rows.filter(({ isHeldUp }) => isHeldUp).map(({ address }) => address);
}

/** How many addresses of a network are lanes, and how many were. */
export async function countLanes(tx: Queryable, network: string): Promise<{ used: number; dropped: number }> {
  const [row] = await tx.query<Array<{ used: number; dropped: number }>>(
    `SELECT count(*) FILTER (WHERE lane = 'used')::int AS used, count(*) FILTER (WHERE lane = 'dropped')::int AS dropped
       FROM (SELECT ${laneOf('t')} AS lane FROM address t
              WHERE t.network = $1 AND t.role = 'treasury' AND (t.key_index = 0 OR t.lane IS NOT NULL)) one`,
    [network],
  );
  return row!;
}

/** Makes the first treasury addresses that no merchant has, up to `count`, lanes; an address that is none of them any
 *  more is dropped. Returns how many there are. Safe to repeat. */
export async function registerLanes(
  tx: EntityManager,
  network: NetworkId,
  count: number,
  derive: (index: number) => string,
): Promise<number> {
  const lanes: string[] = [];
  for (let index = 0; index < mostLanes && lanes.length < count; index += 1) {
    const address = derive(index);
    await tx.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'treasury', $3) ON CONFLICT DO NOTHING`,
      [network, address, index],
    );
    const free = await tx.query<unknown[]>(
      `SELECT FROM address WHERE network = $1 AND address = $2 AND merchant_id IS NULL AND conversion_id IS NULL`,
      [network, address],
    );
    if (free.length) lanes.push(address);
  }
  await tx.query(
    `UPDATE address SET lane = CASE WHEN address = ANY($2) THEN 'used' ELSE 'dropped' END
      WHERE network = $1 AND role = 'treasury'
        AND (address = ANY($2) AND lane IS DISTINCT FROM 'used' OR lane = 'used' AND NOT address = ANY($2))`,
    [network, lanes],
  );
  return lanes.length;
}
