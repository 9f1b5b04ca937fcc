import { timingSafeEqual } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { factorGuesses, guessesPerCode } from '../../domain/access/rate-limits';
import { newId } from '../../domain/ids';
import { type Queryable, changedRows } from '../query';
import { randomDigits, tokenHash, tokenHashes } from '../sealing';

/** Second factors: mailed codes, time steps, backup codes. The caller holds the lock of the user's row (`lockUser`), so
 *  that guesses at once are checked one after the other. Invariants: 7, Factors. */

/** Contract: 8. */
const codeMinutes = 15;

/** Ends the open code of an action: it was never sent. */
export const voidEmailCode = (db: Queryable, userId: string, action: string): Promise<unknown> =>
  db.query('UPDATE email_code SET ended_at = now() WHERE user_id = $1 AND action = $2 AND ended_at IS NULL', [
    userId,
    action,
  ]);

/** A new mailed code for one action, which voids the one before it. Returns the code: it exists nowhere else. */
export async function newEmailCode(
  tx: EntityManager,
  secretsKey: string,
  userId: string,
  action: string,
): Promise<{ code: string; expiresAt: Date }> {
  await voidEmailCode(tx, userId, action);
  const code = randomDigits(6);
  const id = newId();
  const [row] = await tx.query<Array<{ expires_at: Date }>>(
    `INSERT INTO email_code (id, user_id, action, code_hash, expires_at)
     VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(mins => $5)) RETURNING expires_at`,
    [id, userId, action, tokenHash(secretsKey, `${id}/${code}`), codeMinutes],
  );
  return { code, expiresAt: row!.expires_at };
}

export type CodeVerdict = 'spent' | 'wrong' | 'void';

/** Checks a mailed code and, where it is right, uses it up. `void`: this guess or an earlier one ended it. */
export async function spendEmailCode(
  tx: EntityManager,
  secretsKey: string,
  userId: string,
  action: string,
  code: string,
): Promise<CodeVerdict> {
  const [row] = await tx.query<Array<{ id: string; code_hash: string; wrong_guesses: number; is_over: boolean }>>(
    `SELECT id, code_hash, wrong_guesses, expires_at <= clock_timestamp() AS is_over FROM email_code
      WHERE user_id = $1 AND action = $2 ORDER BY created_at DESC LIMIT 1 FOR UPDATE`,
    [userId, action],
  );
  if (!row || row.is_over) return 'wrong';
  if (row.wrong_guesses >= guessesPerCode) return 'void';
  const hashes = tokenHashes(secretsKey, `${row.id}/${code}`);
  if (!hashes.some((hash) => isSame(row.code_hash, hash))) {
    await tx.query(
      `UPDATE email_code SET wrong_guesses = wrong_guesses + 1, ended_at = CASE WHEN wrong_guesses + 1 >= $2 THEN now()
         ELSE ended_at END WHERE id = $1`,
      [row.id, guessesPerCode],
    );
    return row.wrong_guesses + 1 >= guessesPerCode ? 'void' : 'wrong';
  }
  const spent = await changedRows<unknown>(
    tx,
    'UPDATE email_code SET ended_at = now() WHERE id = $1 AND ended_at IS NULL RETURNING id',
    [row.id],
  );
  return spent.length ? 'spent' : 'wrong';
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));

/** Uses up a time step; false where it, or a later one, was used before. */
export async function spendTimeStep(tx: EntityManager, userId: string, step: number): Promise<boolean> {
  const rows = await changedRows<unknown>(
    tx,
    'UPDATE dashboard_user SET totp_last_step = $2 WHERE id = $1 AND totp_last_step < $2 RETURNING id',
    [userId, step],
  );
  return rows.length > 0;
}

/** Seconds until this user's factors are looked at again; 0 now. */
export async function lockedFor(tx: Queryable, userId: string): Promise<number> {
  let longest = 0;
  for (const { points, seconds } of Object.values(factorGuesses)) {
    const [row] = await tx.query<Array<{ left: number | null }>>(
      `SELECT ceil(extract(epoch FROM at + make_interval(secs => $2) - clock_timestamp()))::int AS left
         FROM wrong_factor
        WHERE user_id = $1 AND at > clock_timestamp() - make_interval(secs => $2) ORDER BY at DESC OFFSET $3 LIMIT 1`,
      [userId, seconds, points - 1],
    );
    longest = Math.max(longest, row?.left ?? 0);
  }
  return longest;
}

export const noteWrongFactor = (tx: Queryable, userId: string, kind: string): Promise<unknown> =>
  tx.query('INSERT INTO wrong_factor (user_id, kind) VALUES ($1, $2)', [userId, kind]);

/** Replaces a user's backup codes by the codes with these hashes. */
export async function replaceBackupCodes(tx: EntityManager, userId: string, hashes: readonly string[]): Promise<void> {
  await tx.query('DELETE FROM backup_code WHERE user_id = $1', [userId]);
  await tx.query('INSERT INTO backup_code (user_id, code_hash) SELECT $1, unnest($2::text[])', [userId, hashes]);
}

export const backupCodesOf = (tx: Queryable, userId: string): Promise<Array<{ id: string; code_hash: string }>> =>
  tx.query('SELECT id::text, code_hash FROM backup_code WHERE user_id = $1 AND spent_at IS NULL', [userId]);

export async function spendBackupCode(tx: EntityManager, id: string): Promise<boolean> {
  const rows = await changedRows<unknown>(
    tx,
    'UPDATE backup_code SET spent_at = now() WHERE id = $1 AND spent_at IS NULL RETURNING id',
    [id],
  );
  return rows.length > 0;
}

/** Reset links: the newest of a user is the only one that serves. */
export async function newResetToken(
  tx: EntityManager,
  secretsKey: string,
  userId: string,
  token: string,
): Promise<void> {
  await tx.query('UPDATE reset_token SET spent_at = now() WHERE user_id = $1 AND spent_at IS NULL', [userId]);
  await tx.query(
    'INSERT INTO reset_token (token_hash, user_id, expires_at) VALUES ($1, $2, now() + make_interval(mins => $3))',
    [tokenHash(secretsKey, token), userId, codeMinutes],
  );
}

/** Uses up a reset link of this user; false where it is unknown, used, old or another's. */
export async function spendResetToken(
  tx: EntityManager,
  secretsKey: string,
  userId: string,
  token: string,
): Promise<boolean> {
  const rows = await changedRows<unknown>(
    tx,
    `UPDATE reset_token SET spent_at = now() WHERE token_hash = ANY($1) AND user_id = $2 AND spent_at IS NULL
       AND expires_at > clock_timestamp() RETURNING user_id`,
    [tokenHashes(secretsKey, token), userId],
  );
  return rows.length > 0;
}
