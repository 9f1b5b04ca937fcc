import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { SignedMoves } from '../../domain/txmanager/outcome';
import { changedRows } from '../query';

/** Our transactions that are final in a block above `height`. `booked`: their end is in the ledger. */

export type FinalAttempt = {
  txId: string;
  blockHash: string;
  success: boolean;
  intentId: string;
  kind: string;
  booked: boolean;
};
export const finalAbove = (tx: EntityManager, network: NetworkId, height: number): Promise<FinalAttempt[]> =>
  tx.query(
    `SELECT a.tx_id AS "txId", a.block_hash AS "blockHash", a.success, i.id::text AS "intentId", i.kind, i.booked
       FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' ORDER BY a.id`,
    [network, height],
  );
export type OpenAttempt = SignedMoves & {
  id: string;
  intent_id: string;
  tx_id: string;
  block_hash: string;
  height: number;
};
/** Our transactions that have just become deep enough. */

export const maturingAttempts = (tx: EntityManager, network: NetworkId, height: number): Promise<OpenAttempt[]> =>
  tx.query<OpenAttempt[]>(
    `SELECT a.id, a.intent_id, a.tx_id, a.block_hash, a.height::int AS height,
            i.currency, a.from_address AS "from", a.outputs,
            coalesce((SELECT jsonb_agg(jsonb_build_object('address', c.address, 'units', c.units::text))
                        FROM attempt_account c WHERE c.attempt_id = a.id), '[]') AS accounts
       FROM attempt a JOIN intent i ON i.id = a.intent_id
      WHERE a.network = $1 AND a.status = 'mined' AND a.height <= $2 ORDER BY a.id LIMIT 500`,
    [network, height],
  );
/** These transactions of ours are final. One that replaces a payment has moved nothing, and is no success. Their
 *  siblings on the same nonces or inputs never will be final. Those that are in another block by
 *  now stay as they are. Returns the intents of the others: whoever sent them is the caller's to tell. */

export async function finalizeAttempts(
  tx: EntityManager,
  ends: ReadonlyArray<Readonly<{ attempt: OpenAttempt; success: boolean; feeUnits: bigint }>>,
): Promise<string[]> {
  if (!ends.length) return [];
  const final = await changedRows<{ id: string; intent_id: string; success: boolean }>(
    tx,
    `UPDATE attempt a SET status = 'final', success = e.success AND NOT a.is_replacement,
            fee_units = e.fee_units, final_at = clock_timestamp()
       FROM (SELECT one.id, e.success, e.fee_units FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::numeric[]) AS e (id, block_hash, success, fee_units)
               JOIN attempt one ON one.id = e.id WHERE one.status = 'mined' AND one.block_hash = e.block_hash ORDER BY one.id FOR UPDATE OF one) e
      WHERE a.id = e.id RETURNING a.id, a.intent_id, a.success`,
    [
      ends.map(({ attempt }) => attempt.id),
      ends.map(({ attempt }) => attempt.block_hash),
      ends.map(({ success }) => success),
      ends.map(({ feeUnits }) => feeUnits.toString()),
    ],
  );
  const intents = final.map((one) => one.intent_id);
  await tx.query(
    `UPDATE attempt SET status = 'replaced' WHERE intent_id = ANY($1::bigint[]) AND NOT id = ANY($2::bigint[]) AND status IN ('stored', 'sent')`,
    [intents, final.map((one) => one.id)],
  );
  await tx.query(
    `UPDATE intent i SET status = e.status, updated_at = now() FROM (
       SELECT one.id, CASE WHEN e.success THEN 'final' ELSE 'failed' END AS status FROM unnest($1::bigint[], $2::boolean[]) AS e (id, success)
         JOIN intent one ON one.id = e.id ORDER BY one.id FOR UPDATE OF one) e
      WHERE i.id = e.id`,
    [intents, final.map((one) => one.success)],
  );
  return intents;
}
