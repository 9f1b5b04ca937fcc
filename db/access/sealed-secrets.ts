import { changedCount, type Queryable } from '../query';
import { sealedAnew } from '../sealing';

/** Secrets that rows keep for long, and how they come under the first key of SECRETS_KEY. What waits for minutes alone
 *  is left to the key that has sealed it. */

type Sealed = Readonly<{ id: string; sealed: string | null }>;
type Place = Readonly<{
  /** The next rows by their id. */
  next: (db: Queryable, after: string) => Promise<Sealed[]>;
  /** Changes nothing where somebody else has changed it meanwhile. */
  keep: (db: Queryable, row: Sealed, sealed: string) => Promise<number>;
}>;

const rowsAtOnce = 500;
/** Each statement stands there whole: so it is held to the schema, and to the rights of who calls it. */
const places: readonly Place[] = [
  {
    next: (db, after) =>
      db.query<Sealed[]>('SELECT id, ipn_secret_sealed AS sealed FROM merchant WHERE id > $1 ORDER BY id LIMIT $2', [
        after,
        rowsAtOnce,
      ]),
    keep: (db, { id, sealed }, anew) =>
      changedCount(db, 'UPDATE merchant SET ipn_secret_sealed = $3 WHERE id = $1 AND ipn_secret_sealed = $2', [
        id,
        sealed,
        anew,
      ]),
  },
  {
    next: (db, after) =>
      db.query<Sealed[]>(
        `SELECT id, previous_ipn_secret_sealed AS sealed FROM merchant
          WHERE id > $1 AND previous_ipn_secret_sealed IS NOT NULL ORDER BY id LIMIT $2`,
        [after, rowsAtOnce],
      ),
    keep: (db, { id, sealed }, anew) =>
      changedCount(
        db,
        'UPDATE merchant SET previous_ipn_secret_sealed = $3 WHERE id = $1 AND previous_ipn_secret_sealed = $2',
        [id, sealed, anew],
      ),
  },
  {
    next: (db, after) =>
      db.query<Sealed[]>(
        `SELECT id, totp_secret_sealed AS sealed FROM dashboard_user
          WHERE id > $1 AND totp_secret_sealed IS NOT NULL ORDER BY id LIMIT $2`,
        [after, rowsAtOnce],
      ),
    keep: (db, { id, sealed }, anew) =>
      changedCount(db, 'UPDATE dashboard_user SET totp_secret_sealed = $3 WHERE id = $1 AND totp_secret_sealed = $2', [
        id,
        sealed,
        anew,
      ]),
  },
  {
    next: (db, after) =>
      db.query<Sealed[]>(
        'SELECT id, secret_sealed AS sealed FROM webhook_endpoint WHERE id > $1 ORDER BY id LIMIT $2',
        [after, rowsAtOnce],
      ),
    keep: (db, { id, sealed }, anew) =>
      changedCount(db, 'UPDATE webhook_endpoint SET secret_sealed = $3 WHERE id = $1 AND secret_sealed = $2', [
        id,
        sealed,
        anew,
      ]),
  },
  {
    next: (db, after) =>
      db.query<Sealed[]>(
        `SELECT id, previous_secret_sealed AS sealed FROM webhook_endpoint
          WHERE id > $1 AND previous_secret_sealed IS NOT NULL ORDER BY id LIMIT $2`,
        [after, rowsAtOnce],
      ),
    keep: (db, { id, sealed }, anew) =>
      changedCount(
        db,
        `UPDATE webhook_endpoint SET previous_secret_sealed = $3 WHERE id = $1 AND previous_secret_sealed = $2`,
        [id, sealed, anew],
      ),
  },
];

/** Seals under the first key what an earlier one has sealed. Returns how many secrets that were. */
export async function sealAnew(db: Queryable, secretsKey: string): Promise<number> {
  let count = 0;
  for (const { next, keep } of places)
    for (let rows = await next(db, ''); rows.length; rows = await next(db, rows.at(-1)!.id))
      for (const row of rows) {
        const anew = row.sealed === null ? null : sealedAnew(secretsKey, row.sealed);
        if (anew !== null) count += await keep(db, row, anew);
      }
  return count;
}
