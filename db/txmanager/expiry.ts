import type { AbsenceProof, ExpiringAttempt, ValidityWindow } from '../../domain/txmanager/expiry';
import type { LeavingKind } from '../../domain/txmanager/kinds';
import { changedCount, type Queryable } from '../query';
import type { AttemptRow } from './intents';

/** Attempts on chains whose transactions expire. docs/decisions/0058-transactions-that-expire.md */

/** Which blocks can have it. Throws for one that never expires: it stands beside none that does. */
function windowOf(row: AttemptRow): ValidityWindow {
  const { valid_from_height: from, valid_to_height: height, valid_to_ms: time } = row;
  const end = height ?? time;
  if (from === null || end === null) throw new Error(`Attempt ${row.id} of intent ${row.intent_id} never expires`);
  const last = parseInt(end, 10);
  return { from: parseInt(from, 10), last: height === null ? { time: last } : { height: last } };
}

/** An attempt as the rule takes it. Throws for one that never expires. */
export function expiringOf(row: AttemptRow): ExpiringAttempt {
  if (row.status === 'replaced') throw new Error(`Attempt ${row.id} expires, and nothing replaces it`);
  const { n, tx_id: txId, status, success, absence } = row;
  return { n, txId, window: windowOf(row), status, success, absence };
}

/** It is void by this proof, which the database checks again. False: it is in a block by our rows, or has ended. */
export const expireAttempt = async (db: Queryable, id: string, proof: AbsenceProof): Promise<boolean> =>
  (await changedCount(
    db,
    `UPDATE attempt SET status = 'expired', absence = $2 WHERE id = $1 AND status IN ('stored', 'sent')`,
    [id, JSON.stringify(proof)],
  )) > 0;

/** What the signer has signed of an intent. `signedOn`: hash of the block at `window.from`. `ageSeconds`: since it was
 *  signed, by the database's clock. */
export type Validity = Readonly<{
  intentId: string;
  txId: string;
  window: ValidityWindow;
  signedOn: string;
  absence: AbsenceProof | null;
  ageSeconds: number;
}>;

type ValidityEntry = Readonly<{
  intentId: string;
  txId: string;
  from: number;
  hash: string;
  toHeight: number | null;
  toMs: number | null;
  absence: AbsenceProof | null;
  ageSeconds: number;
}>;

/** What the signer has signed of these intents, by its own record, oldest first. */
export async function validitiesOf(db: Queryable, intentIds: readonly string[]): Promise<Validity[]> {
  const [row] = await db.query<Array<{ found: ValidityEntry[] }>>('SELECT validities_of($1::bigint[]) AS found', [
    intentIds,
  ]);
  return row!.found.map(({ intentId, txId, from, hash, toHeight, toMs, absence, ageSeconds }) => ({
    ...{ intentId, txId, absence, ageSeconds, signedOn: hash },
    window: { from, last: toHeight === null ? { time: toMs! } : { height: toHeight } },
  }));
}

/** Which of these intents a node has refused: it says that no block takes them as they are. A later attempt that it
 *  calls known proves nothing: nodes remember what they have refused. */
export async function refusedAmong(db: Queryable, intentIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.query<Array<{ id: string }>>(
    `SELECT i.id::text AS id FROM unnest($1::bigint[]) AS i (id)
      WHERE EXISTS (SELECT FROM incident c WHERE c.kind = 'transaction-refused' AND c.subject_kind = 'intent'
                       AND c.subject_id = i.id::text AND c.details->>'why' = 'invalid')`,
    [intentIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** The signer's own node has proven it void. */
export const noteAbsence = (db: Queryable, network: string, proof: AbsenceProof): Promise<unknown> =>
  db.query('SELECT note_absence($1, $2, $3)', [network, proof.txId, JSON.stringify(proof)]);

/** Statuses of what is signed, and not at its end. */
export const underWay = ['processing', 'broadcast'] as const;

/** Ends the intents of those of these records that are under way, and whose transactions have all expired, by the rows
 *  and by the signer's own record. Answers these records, which the caller has locked. */
export async function endVoid<One extends Readonly<{ id: string; status: string }>>(
  db: Queryable,
  kind: LeavingKind,
  records: readonly One[],
): Promise<One[]> {
  const signed = records.filter(({ status }) => underWay.some((one) => one === status));
  if (!signed.length) return [];
  const ids = signed.map(({ id }) => id);
  const [row] = await db.query<Array<{ ended: string[] }>>('SELECT end_void_intents($1, $2) AS ended', [kind, ids]);
  return signed.filter(({ id }) => row!.ended.includes(id));
}

/** What the rows say of a wallet. `open`: a transaction that a block may still take, or that is in one which is not
 *  final; what a final block has is over, also where nobody has decided what it paid. `signedOn`: the newest block that
 *  it has signed on. `sequence`: what its account must have after its newest transaction, or after what somebody else
 *  has used, as operators have been told and have explained; null: its family has none, or it has signed nothing. */
export type ExpiringWallet = Readonly<{ open: string | null; signedOn: number | null; sequence: number | null }>;

export async function expiringWallet(tx: Queryable, network: string, address: string): Promise<ExpiringWallet> {
  const [row] = await tx.query<Array<{ open: string | null; on: string | null; sequence: string | null }>>(
    `SELECT (SELECT a.tx_id FROM attempt a WHERE a.network = $1 AND a.from_address = $2
                AND a.valid_from_height IS NOT NULL AND a.status IN ('stored', 'sent', 'mined')
                AND (a.status <> 'mined' OR a.differs_at IS NULL) LIMIT 1) AS open,
            last.valid_from_height::text AS "on",
            greatest(CASE WHEN last.status = 'expired' THEN last.sequence ELSE last.sequence + 1 END,
              (SELECT foreign_sequence FROM wallet_sequence WHERE network = $1 AND address = $2))::text AS sequence
       FROM (VALUES (1)) one LEFT JOIN (
         SELECT * FROM attempt WHERE network = $1 AND from_address = $2 AND valid_from_height IS NOT NULL
          ORDER BY valid_from_height DESC, id DESC LIMIT 1) last ON true`,
    [network, address],
  );
  const whole = (text: string | null): number | null => (text === null ? null : parseInt(text, 10));
  return { open: row!.open, signedOn: whole(row!.on), sequence: whole(row!.sequence) };
}
