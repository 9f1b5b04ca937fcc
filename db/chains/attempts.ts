import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { SignedMoves } from '../../domain/txmanager/outcome';
import { changedRows } from '../query';

/** `booked`: its end is in the ledger. */
export type FinalAttempt = {
  txId: string;
  blockHash: string;
  success: boolean;
  intentId: string;
  kind: string;
  booked: boolean;
};
/** Our transactions that are final in a block above `height`. */
export const finalAbove = (tx: EntityManager, network: NetworkId, height: number): Promise<FinalAttempt[]> =>
  tx.query(
    `SELECT a.tx_id AS "txId", a.block_hash AS "blockHash", a.success, i.id::text AS "intentId", i.kind, i.booked
       FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.network = $1 AND a.height > $2 AND a.status = 'final'
         ORDER BY a.id`,
    [network, height],
  );
export type OpenAttempt = SignedMoves & {
  id: string;
  intent_id: string;
  tx_id: string;
  block_hash: string;
  height: number;
  is_noted: boolean;
};
/** Our transactions that are deep enough and not final yet. Those without an outcome come first: that none of them
 *  waits behind many that only finality is missing for, or that operators have to decide about. */
export const maturingAttempts = (tx: EntityManager, network: NetworkId, height: number): Promise<OpenAttempt[]> =>
  tx.query<OpenAttempt[]>(
    `SELECT a.id, a.intent_id, a.tx_id, a.block_hash, a.height::int AS height,
            i.currency, a.from_address AS "from", a.outputs, a.fee_units IS NOT NULL AS is_noted,
            coalesce((SELECT jsonb_agg(jsonb_build_object('address', c.address, 'units', c.units::text))
                        FROM attempt_account c WHERE c.attempt_id = a.id), '[]') AS accounts
       FROM attempt a JOIN intent i ON i.id = a.intent_id
      WHERE a.network = $1 AND a.status = 'mined' AND a.height <= $2
      ORDER BY a.differs_at IS NOT NULL, a.fee_units IS NOT NULL, a.id LIMIT 500`,
    [network, height],
  );

/** How a transaction of ours went, as its block says. */
export type Outcome = Readonly<{ attempt: OpenAttempt; success: boolean; feeUnits: bigint }>;

/** Rows of outcomes, locked in the order of their ids, but for transactions that are in another block by now. One that
 *  replaces a payment has moved nothing, and is no success. */
const minedSql = `SELECT one.id, o.success AND NOT one.is_replacement AS success, o.fee_units
   FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::numeric[]) AS o (id, block_hash, success, fee_units)
   JOIN attempt one ON one.id = o.id
  WHERE one.status = 'mined' AND one.block_hash = o.block_hash ORDER BY one.id FOR UPDATE OF one`;
const columnsOf = (outcomes: readonly Outcome[]): unknown[] => [
  outcomes.map(({ attempt }) => attempt.id),
  outcomes.map(({ attempt }) => attempt.block_hash),
  outcomes.map(({ success }) => success),
  outcomes.map(({ feeUnits }) => feeUnits.toString()),
];

/** Notes what transactions of ours took that are deep enough, while only finality is missing: the books are compared
 *  with the chain meanwhile. */
export async function noteOutcomes(tx: EntityManager, outcomes: readonly Outcome[]): Promise<void> {
  if (!outcomes.length) return;
  await tx.query(
    `UPDATE attempt a SET success = o.success, fee_units = o.fee_units FROM (${minedSql}) o WHERE a.id = o.id`,
    columnsOf(outcomes),
  );
}

/** These transactions of ours are in a final block and moved something else than was signed: what they paid is not
 *  decided, and their wallets may sign others. */
export async function noteDiffering(tx: EntityManager, ids: readonly string[]): Promise<void> {
  if (!ids.length) return;
  await tx.query(
    `UPDATE attempt SET differs_at = now() WHERE id = ANY($1::bigint[]) AND status = 'mined' AND differs_at IS NULL`,
    [ids],
  );
}

/** These transactions of ours are final. Their siblings on the same nonces or inputs never will be. Returns the intents
 *  of those that are still in this block: whoever sent them is the caller's to tell. */
export async function finalizeAttempts(tx: EntityManager, outcomes: readonly Outcome[]): Promise<string[]> {
  if (!outcomes.length) return [];
  const final = await changedRows<{ id: string; intent_id: string; success: boolean }>(
    tx,
    `UPDATE attempt a SET status = 'final', success = o.success, fee_units = o.fee_units, final_at = clock_timestamp()
       FROM (${minedSql}) o WHERE a.id = o.id RETURNING a.id, a.intent_id, a.success`,
    columnsOf(outcomes),
  );
  const intents = final.map((one) => one.intent_id);
  await tx.query(
    `UPDATE attempt SET status = 'replaced' WHERE intent_id = ANY($1::bigint[]) AND NOT id = ANY($2::bigint[])
       AND status IN ('stored', 'sent')`,
    [intents, final.map((one) => one.id)],
  );
  await tx.query(
    `UPDATE intent i SET status = e.status, updated_at = now() FROM (
       SELECT one.id, CASE WHEN e.success THEN 'final' ELSE 'failed' END AS status
         FROM unnest($1::bigint[], $2::boolean[]) AS e (id, success)
         JOIN intent one ON one.id = e.id ORDER BY one.id FOR UPDATE OF one) e
      WHERE i.id = e.id`,
    [intents, final.map((one) => one.success)],
  );
  return intents;
}
