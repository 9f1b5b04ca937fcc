import type { EntityManager } from 'typeorm';
import { newId } from '../../domain/ids';
import { type Queryable, changedRows } from '../query';
import { pageOfRecords, type Page } from '../records';
import { randomBase62, tokenHash, tokenHashes } from '../sealing';
import type { RowOf } from '../entity';
import type { passkeyEntity } from './entities';

/** Passkeys and the challenges they answer. A challenge serves once, for one user and one action. Invariants: 7,
 *  Factors. */

const challengeMinutes = 5;

export type PasskeyRow = RowOf<typeof passkeyEntity>;

/** Keeps a challenge; its key is what the client brings back with the answer. `userId` null: whoever owns the
 *  passkey. */
export async function keepChallenge(
  db: Queryable,
  secretsKey: string,
  challenge: Readonly<{ challenge: string; userId: string | null; action: string }>,
): Promise<string> {
  const key = randomBase62(32);
  await db.query(
    `INSERT INTO passkey_challenge (key_hash, challenge, user_id, action, expires_at)
     VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(mins => $5))`,
    [tokenHash(secretsKey, key), challenge.challenge, challenge.userId, challenge.action, challengeMinutes],
  );
  return key;
}

/** Takes a challenge out of the world; null where there is none of this key, action and user. */
export async function takeChallenge(
  tx: Queryable,
  secretsKey: string,
  challenge: Readonly<{ key: string; userId: string | null; action: string }>,
): Promise<string | null> {
  const rows = await changedRows<{ challenge: string }>(
    tx,
    `DELETE FROM passkey_challenge WHERE key_hash = ANY($1) AND action = $2 AND user_id IS NOT DISTINCT FROM $3
       AND expires_at > clock_timestamp() RETURNING challenge`,
    [tokenHashes(secretsKey, challenge.key), challenge.action, challenge.userId],
  );
  return rows[0]?.challenge ?? null;
}

export const passkeysOf = (db: Queryable, userId: string): Promise<PasskeyRow[]> =>
  db.query<PasskeyRow[]>('SELECT * FROM passkey WHERE user_id = $1 ORDER BY created_at, id', [userId]);

/** One page of them, and how many there are. */
export const passkeyPage = (
  db: Queryable,
  userId: string,
  page: Page,
): Promise<{ items: PasskeyRow[]; total: number }> =>
  pageOfRecords(db, { from: 'passkey', where: 'user_id = $1', order: 'ASC' }, [userId], page);

export async function findPasskey(tx: EntityManager, credentialId: string): Promise<PasskeyRow | null> {
  const [row] = await tx.query<PasskeyRow[]>('SELECT * FROM passkey WHERE credential_id = $1 FOR UPDATE', [
    credentialId,
  ]);
  return row ?? null;
}

/** A new passkey, or null where it is registered already. */
export async function addPasskey(
  tx: EntityManager,
  passkey: Readonly<{
    userId: string;
    credentialId: string;
    publicKey: Uint8Array;
    counter: number;
    transports: readonly string[];
    name: string;
  }>,
): Promise<PasskeyRow | null> {
  const [row] = await tx.query<PasskeyRow[]>(
    `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, transports, name)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (credential_id) DO NOTHING RETURNING *`,
    [
      newId(),
      passkey.userId,
      passkey.credentialId,
      Buffer.from(passkey.publicKey),
      passkey.counter,
      passkey.transports,
      passkey.name,
    ],
  );
  return row ?? null;
}

export const notePasskeyUse = (tx: EntityManager, id: string, counter: number): Promise<unknown> =>
  tx.query('UPDATE passkey SET counter = $2, last_used_at = now() WHERE id = $1', [id, counter]);

export async function deletePasskey(tx: EntityManager, userId: string, id: string): Promise<PasskeyRow | null> {
  const rows = await changedRows<PasskeyRow>(tx, 'DELETE FROM passkey WHERE id = $1 AND user_id = $2 RETURNING *', [
    id,
    userId,
  ]);
  return rows[0] ?? null;
}
