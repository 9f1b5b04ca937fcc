import type { EntityManager } from 'typeorm';
import type { Queryable } from '../query';
import { blockedAfterSeconds, blockedWallets, laneOf } from '../treasury/lanes';

/** What holds up the treasury's wallets on account chains. */

/** A wallet, and the transaction of its lowest nonce, or one that expires, which is in no block; `intentId` null:
 *  nothing blocks it; `nonce` null: there is none, or it has none. Prices are native base units per gas. `behind`:
 *  signed transactions with later nonces. `lane`: used, dropped or neither. `isBlocked`: nothing new is planned from it
 *  while another lane is open. */
export type Lane = Readonly<{
  network: string;
  address: string;
  role: 'treasury' | 'gas';
  keyIndex: number;
  lane: 'used' | 'dropped' | null;
  isBlocked: boolean;
  nextNonce: number;
  frozenReason: string | null;
  nonce: number | null;
  intentId: string | null;
  kind: string | null;
  ref: string | null;
  txId: string | null;
  unitPrice: string | null;
  maxUnitPrice: string | null;
  isReplaced: boolean;
  signedAt: Date | null;
  behind: number;
}>;

export const lanesOf = (db: Queryable, networks: readonly string[]): Promise<Lane[]> =>
  db.query<Lane[]>(
    `SELECT own.network, own.address, own.role, own.key_index AS "keyIndex", ${laneOf('own')} AS lane,
            EXISTS (
              SELECT FROM (${blockedWallets('own.network', '($2::jsonb->>own.network)::integer')}) held
               WHERE held.from_address = own.address) AS "isBlocked",
            coalesce(w.next_nonce, 0) AS "nextNonce", w.frozen_reason AS "frozenReason", b.nonce,
            i.id::text AS "intentId", i.kind, i.ref, b.tx_id AS "txId", trim_scale(b.unit_price)::text AS "unitPrice",
            trim_scale(i.max_unit_price)::text AS "maxUnitPrice", coalesce(i.replaced_at IS NOT NULL, false)
              AS "isReplaced", first.created_at AS "signedAt",
            (SELECT count(DISTINCT l.nonce)::int FROM attempt l
              WHERE l.network = w.network AND l.from_address = w.address AND l.nonce > b.nonce
                AND l.status IN ('stored', 'sent')) AS behind
       FROM address own
       LEFT JOIN wallet_sequence w ON w.network = own.network AND w.address = own.address
       LEFT JOIN LATERAL (
         SELECT a.* FROM attempt a
          WHERE a.network = w.network AND a.from_address = w.address
            AND (a.nonce IS NOT NULL OR a.valid_from_height IS NOT NULL) AND a.status IN ('stored', 'sent')
            AND NOT EXISTS (SELECT FROM attempt m WHERE m.network = a.network AND m.from_address = a.from_address
                               AND m.nonce = a.nonce AND m.status IN ('mined', 'final'))
          ORDER BY a.nonce, a.n DESC LIMIT 1) b ON true
       LEFT JOIN intent i ON i.id = b.intent_id
       LEFT JOIN attempt first ON first.intent_id = i.id AND first.n = 1
      WHERE own.network = ANY($1) AND own.role IN ('treasury', 'gas')
        AND (w.address IS NOT NULL OR ${laneOf('own')} IS NOT NULL)
      ORDER BY own.network, own.role DESC, own.key_index`,
    [networks, JSON.stringify(Object.fromEntries(networks.map((network) => [network, blockedAfterSeconds(network)])))],
  );

/** From now on nothing is signed for the intent but transfers of its wallet to itself. A trigger refuses it without two
 *  confirmations of the request. */
export const markReplaced = (
  tx: EntityManager,
  intentId: string,
  by: Readonly<{ requestId: string; maxUnitPrice: string; feeBudget: string }>,
): Promise<unknown> =>
  tx.query(
    `UPDATE intent SET replaced_at = now(), replaced_by = $2, max_unit_price = greatest(max_unit_price, $3::numeric),
            fee_budget = greatest(fee_budget, $4::numeric), updated_at = now() WHERE id = $1`,
    [intentId, by.requestId, by.maxUnitPrice, by.feeBudget],
  );

/** Is an address one that the treasury pays from? */
export async function isTreasury(tx: EntityManager, network: string, address: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM address WHERE network = $1 AND address = $2 AND role = 'treasury'`,
    [network, address],
  );
  return rows.length > 0;
}
