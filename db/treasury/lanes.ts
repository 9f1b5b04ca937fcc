import type { EntityManager } from 'typeorm';
import { networks, type NetworkId } from '../../domain/chains/assets';
import { blockedAfterBlocks, mostLanes } from '../../domain/treasury/lanes';
import type { Queryable } from '../query';

/** Hot wallets of account chains: the lanes, and the gas wallet of each. The signer says which of our addresses they
 *  are; everybody else reads it. */

/** SQL: what an address is as a lane or the gas wallet of one: `used`, `dropped` or null. Index 0 is used until the
 *  signer says that it is dropped: a newer seed has another. */
export const laneOf = (address: string): string =>
  `CASE WHEN ${address}.role IN ('treasury', 'gas') AND ${address}.key_index = 0 THEN coalesce(${address}.lane, 'used')
        ELSE ${address}.lane END`;

/** SQL: addresses, as `from_address`, whose lowest open nonce, or what expires, has been in no block for long, while
 *  others were made. What is signed anew of one intent has been waiting since its first attempt. `network`, `seconds`:
 *  expressions. */
export const blockedWallets = (network: string, seconds: string): string =>
  `SELECT low.from_address FROM (
     SELECT DISTINCT ON (a.from_address) a.from_address, a.intent_id FROM attempt a
      WHERE a.network = ${network} AND (a.nonce IS NOT NULL OR a.valid_from_height IS NOT NULL)
        AND a.status IN ('stored', 'sent')
        AND EXISTS (SELECT FROM address o WHERE o.network = a.network AND o.address = a.from_address
                       AND o.role IN ('treasury', 'gas'))
        AND NOT EXISTS (SELECT FROM attempt m WHERE m.network = a.network AND m.from_address = a.from_address
                           AND m.nonce = a.nonce AND m.status IN ('mined', 'final'))
      ORDER BY a.from_address, a.nonce) low
     JOIN attempt first ON first.intent_id = low.intent_id AND first.n = 1
    WHERE coalesce(first.sent_at, first.created_at) < now() - make_interval(secs => ${seconds})
      AND (SELECT count(*) FROM chain_block c
            WHERE c.network = ${network} AND c.block_time > coalesce(first.sent_at, first.created_at))
          >= ${blockedAfterBlocks}`;

/** SQL: whether something should wait for an address, as `"heldUp"`, with the joins that it reads. */
export const heldUpColumn = `CASE WHEN s.frozen_reason IS NOT NULL THEN 'frozen'
                 WHEN b.from_address IS NOT NULL THEN 'blocked' END AS "heldUp"`;
/** `network`, `seconds`: expressions, as in `blockedWallets`. The address is `t`. */
export const heldUpJoins = (network: string, seconds: string): string =>
  `LEFT JOIN wallet_sequence s ON s.network = t.network AND s.address = t.address
       LEFT JOIN (${blockedWallets(network, seconds)}) b ON b.from_address = t.address`;

/** After so many seconds in no block a transaction blocks its lane. */
export const blockedAfterSeconds = (network: string): number =>
  blockedAfterBlocks * networks[network as NetworkId].blockSeconds;

/** Addresses of the treasury, or gas wallets, that nothing should wait for: frozen, or blocked. Empty where all that
 *  are in use are. */
export async function heldUpWallets(
  tx: Queryable,
  network: string,
  role: 'treasury' | 'gas' = 'treasury',
): Promise<string[]> {
  const rows = await tx.query<Array<{ address: string; lane: string | null; isHeldUp: boolean }>>(
    `SELECT t.address, ${laneOf('t')} AS lane,
            s.frozen_reason IS NOT NULL OR b.from_address IS NOT NULL AS "isHeldUp"
       FROM address t
       ${heldUpJoins('$1', '$2')}
      WHERE t.network = $1 AND t.role = $3
        AND (t.key_index = 0 OR t.lane IS NOT NULL OR s.frozen_reason IS NOT NULL OR b.from_address IS NOT NULL)`,
    [network, blockedAfterSeconds(network), role],
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

/** Makes the first treasury addresses of a branch that no merchant has, up to `count`, lanes, and the gas addresses of
 *  the same indexes their gas wallets; what is none of them any more is dropped, as all of an earlier seed are. Returns
 *  how many lanes there are. Safe to repeat. */
export async function registerLanes(
  tx: EntityManager,
  network: NetworkId,
  count: number,
  derive: (role: 'treasury' | 'gas', index: number) => string,
  branch: number,
): Promise<number> {
  const lanes: number[] = [];
  for (let index = 0; index < mostLanes && lanes.length < count; index += 1) {
    const address = derive('treasury', index);
    await registerOwn(tx, { network, address, role: 'treasury', branch, index });
    const free = await tx.query<unknown[]>(
      `SELECT FROM address WHERE network = $1 AND address = $2 AND merchant_id IS NULL AND conversion_id IS NULL`,
      [network, address],
    );
    if (free.length) lanes.push(index);
  }
  for (const role of ['treasury', 'gas'] as const) {
    const addresses = lanes.map((index) => derive(role, index));
    if (role === 'gas')
      for (const [n, index] of lanes.entries())
        await registerOwn(tx, { network, address: addresses[n]!, role, branch, index });
    await tx.query(
      `UPDATE address SET lane = CASE WHEN address = ANY($2) THEN 'used' ELSE 'dropped' END
        WHERE network = $1 AND role = $3
          AND (address = ANY($2) AND lane IS DISTINCT FROM 'used'
            OR (lane = 'used' OR lane IS NULL AND key_index = 0 AND branch < $4) AND NOT address = ANY($2))`,
      [network, addresses, role, branch],
    );
  }
  return lanes.length;
}

const registerOwn = (
  tx: EntityManager,
  own: Readonly<{ network: string; address: string; role: 'treasury' | 'gas'; branch: number; index: number }>,
): Promise<unknown> =>
  tx.query(
    `INSERT INTO address (network, address, role, branch, key_index) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING`,
    [own.network, own.address, own.role, own.branch, own.index],
  );
