import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Decision, Moved } from '../../domain/txmanager/differing';
import type { Kind } from '../../domain/txmanager/kinds';
import type { SignedMoves } from '../../domain/txmanager/outcome';
import { changedRows } from '../query';

/** `booked`: its end is in the ledger. */
export type FinalAttempt = {
  txId: string;
  blockHash: string;
  decision: Decision | null;
  success: boolean;
  intentId: string;
  kind: string;
  booked: boolean;
};
/** Our transactions that are final in a block above `height`. */
export const finalAbove = (tx: EntityManager, network: NetworkId, height: number): Promise<FinalAttempt[]> =>
  tx.query(
    `SELECT a.tx_id AS "txId", a.block_hash AS "blockHash", a.decision, a.success,
            i.id::text AS "intentId", i.kind, i.booked
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
  kind: Kind;
  is_noted: boolean;
  /** What a final block says that it moved beside what was signed, and what operators have said of that. */
  differs: boolean;
  decision: Decision | null;
};
/** Our transactions that are deep enough and not final yet. Those without an outcome come first: that none of them
 *  waits behind many that only finality is missing for, or that operators have to decide about. */
export const maturingAttempts = (tx: EntityManager, network: NetworkId, height: number): Promise<OpenAttempt[]> =>
  tx.query<OpenAttempt[]>(
    `SELECT a.id, a.intent_id, a.tx_id, a.block_hash, a.height::int AS height,
            i.kind, i.currency, a.from_address AS "from", a.outputs, a.fee_units IS NOT NULL AS is_noted,
            a.moves IS NOT NULL AS differs, a.decision,
            coalesce((SELECT jsonb_agg(jsonb_build_object('address', c.address, 'units', c.units::text))
                        FROM attempt_account c WHERE c.attempt_id = a.id), '[]') AS accounts
       FROM attempt a JOIN intent i ON i.id = a.intent_id
      WHERE a.network = $1 AND a.status = 'mined' AND a.height <= $2
      ORDER BY a.differs_at IS NOT NULL AND a.decision IS NULL, a.fee_units IS NOT NULL, a.id LIMIT 500`,
    [network, height],
  );

/** How a transaction of ours went, as its block says. */
export type Outcome = Readonly<{ attempt: OpenAttempt; success: boolean; feeUnits: bigint }>;

/** Rows of outcomes, locked in the order of their ids, but for transactions that are in another block by now, or that
 *  operators have decided about meanwhile. One that replaces a payment has moved nothing, and is no success. Where a
 *  node does not say any more that one differs, it does not. */
const minedSql = `SELECT one.id, o.success AND NOT one.is_replacement AS success, o.fee_units,
       CASE WHEN o.decision IS NOT NULL THEN one.moves END AS moves,
       CASE WHEN o.decision IS NOT NULL THEN one.differs_at END AS differs_at
   FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::numeric[], $5::text[])
          AS o (id, block_hash, success, fee_units, decision)
   JOIN attempt one ON one.id = o.id
  WHERE one.status = 'mined' AND one.block_hash = o.block_hash AND one.decision IS NOT DISTINCT FROM o.decision
  ORDER BY one.id FOR UPDATE OF one`;
const columnsOf = (outcomes: readonly Outcome[]): unknown[] => [
  outcomes.map(({ attempt }) => attempt.id),
  outcomes.map(({ attempt }) => attempt.block_hash),
  outcomes.map(({ success }) => success),
  outcomes.map(({ feeUnits }) => feeUnits.toString()),
  outcomes.map(({ attempt }) => attempt.decision),
];

/** Notes what transactions of ours took that are deep enough, while only finality is missing: the books are compared
 *  with the chain meanwhile. */
export async function noteOutcomes(tx: EntityManager, outcomes: readonly Outcome[]): Promise<void> {
  if (!outcomes.length) return;
  await tx.query(
    `UPDATE attempt a SET success = o.success, fee_units = o.fee_units, moves = o.moves, differs_at = o.differs_at
       FROM (${minedSql}) o WHERE a.id = o.id`,
    columnsOf(outcomes),
  );
}

/** What a transaction of ours moved that is not what was signed. `isFinal`: a final block has it. */
export type Difference = Readonly<{
  attempt: OpenAttempt;
  moves: readonly Moved[];
  feeUnits: bigint;
  isFinal: boolean;
}>;

/** Notes what these transactions of ours moved and took: the books are compared with the chain by that. In a final
 *  block they are over for their wallets, whatever operators say of them. Nothing where operators have said it. */
export async function noteDiffering(tx: EntityManager, differences: readonly Difference[]): Promise<void> {
  if (!differences.length) return;
  await tx.query(
    `UPDATE attempt a SET success = NULL, fee_units = o.fee_units, moves = o.moves, differs_at = o.differs_at
       FROM (SELECT one.id, d.fee_units, d.moves,
                    CASE WHEN d.is_final THEN coalesce(one.differs_at, now()) END AS differs_at
               FROM jsonb_to_recordset($1::jsonb)
                      AS d (id bigint, block_hash text, fee_units numeric, moves jsonb, is_final boolean)
               JOIN attempt one ON one.id = d.id
              WHERE one.status = 'mined' AND one.block_hash = d.block_hash AND one.decision IS NULL
                AND (one.fee_units, one.moves, one.differs_at IS NOT NULL)
                      IS DISTINCT FROM (d.fee_units, d.moves, d.is_final)
              ORDER BY one.id FOR UPDATE OF one) o WHERE a.id = o.id`,
    [
      JSON.stringify(
        differences.map(({ attempt: { id, block_hash }, moves, feeUnits, isFinal }) => ({
          ...{ id, block_hash, moves, fee_units: feeUnits.toString(), is_final: isFinal },
        })),
      ),
    ],
  );
}

/** These transactions of ours are final. Their siblings on the same nonces or inputs never will be. Returns the intents
 *  of those that are still in this block: whoever sent them is the caller's to tell. */
export async function finalizeAttempts(tx: EntityManager, outcomes: readonly Outcome[]): Promise<string[]> {
  if (!outcomes.length) return [];
  const final = await changedRows<{ id: string; intent_id: string; success: boolean }>(
    tx,
    `UPDATE attempt a SET status = 'final', success = o.success, fee_units = o.fee_units, moves = o.moves,
            differs_at = o.differs_at, final_at = clock_timestamp()
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
