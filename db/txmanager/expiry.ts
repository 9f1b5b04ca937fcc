import type { AbsenceProof, ExpiringAttempt, ValidityWindow } from '../../domain/txmanager/expiry';
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
