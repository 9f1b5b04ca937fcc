import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Queryable } from '../query';
import { tokenHash, tokenHashes } from '../sealing';

/** Browsers in which a user has completed a login. Each holds a random token; the database holds its keyed hash. */

export const deviceDays = 180;
/** The newest of a user that count. */
const devicesPerUser = 10;
/** The token before is good a while longer: its successor may have been lost on the way. */
const overlapMinutes = 60;

const hashedAs = (token: string): string => `device/${token}`;

/** The key of limits for the browser that holds `token`, where it is known to the user of `email`; null for all
 *  others. */
export async function knownDevice(
  db: Queryable,
  secretsKey: string,
  email: string,
  token: string,
): Promise<string | null> {
  const [row] = await db.query<Array<{ token_hash: string }>>(
    `SELECT d.token_hash FROM known_device d JOIN dashboard_user u ON u.id = d.user_id
      WHERE d.token_hash = ANY($1) AND u.email = $2 AND d.expires_at > clock_timestamp()`,
    [tokenHashes(secretsKey, hashedAs(token)), email],
  );
  return row?.token_hash ?? null;
}

/** A new token for a browser in which `userId` has proved who they are. It also stands for the other users who are
 *  known in that browser, by the token `before`. A token is never taken over as it came: somebody may have put it
 *  there. */
export async function rememberDevice(
  tx: EntityManager,
  secretsKey: string,
  userId: string,
  before: string | undefined,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const hash = tokenHash(secretsKey, hashedAs(token));
  await tx.query(
    `INSERT INTO known_device (token_hash, user_id, expires_at) VALUES ($1, $2, now() + make_interval(days => $3))`,
    [hash, userId, deviceDays],
  );
  if (before !== undefined) await succeed(tx, tokenHashes(secretsKey, hashedAs(before)), hash, userId);
  await tx.query(
    `DELETE FROM known_device WHERE user_id = $1 AND token_hash IN (
       SELECT token_hash FROM known_device WHERE user_id = $1 ORDER BY created_at DESC, token_hash OFFSET $2)`,
    [userId, devicesPerUser],
  );
  return token;
}

async function succeed(tx: EntityManager, before: readonly string[], next: string, userId: string): Promise<void> {
  await tx.query(
    `INSERT INTO known_device (token_hash, user_id, created_at, expires_at)
     SELECT $2, d.user_id, d.created_at, d.expires_at FROM known_device d
      WHERE d.token_hash = ANY($1) AND d.user_id <> $3 AND d.expires_at > clock_timestamp()`,
    [before, next, userId],
  );
  await tx.query(
    `UPDATE known_device SET expires_at = least(expires_at, now() + make_interval(mins => $2))
      WHERE token_hash = ANY($1)`,
    [before, overlapMinutes],
  );
}
