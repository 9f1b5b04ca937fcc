import type { DataSource } from 'typeorm';
import type { Merchant, Scope } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { secretKeyPrefixes } from '../../domain/mode';
import { add, compare } from '../../domain/money';
import { merchantColumns, merchantOf, type MerchantRow } from './merchants';
import { modeOf } from '../instance';
import { type Queryable, changedRows, prepared } from '../query';
import { pageOfRecords, type Page } from '../records';
import { keyMark, randomBase62, tokenHash, tokenHashes } from '../sealing';
import type { RowOf } from '../entity';
import type { apiKeyEntity } from './entities';

/** Secret keys: shown once, stored as a keyed hash. Contract: 5.1, G12, G15. */

export type NewApiKey = Readonly<{
  secretsKey: string;
  name: string;
  /** The user who makes it; null where the platform itself does, for nobody. */
  createdBy: string | null;
  scopes: readonly Scope[];
  /** Addresses or CIDR ranges that may use it; empty: any. */
  allowedIps?: readonly string[];
  expiresAt?: Date | null;
  /** US dollars that it may convert within any 24 hours; without it: no limit. */
  dailyUsd?: string;
}>;

export type ApiKeyRow = Readonly<
  Omit<RowOf<typeof apiKeyEntity>, 'created_by' | 'hashed_by' | 'key_hash'> & {
    /** E-mail address of its maker, where known; the name of one who has left. */
    created_by_email: string | null;
  }
>;

const shown = `id, merchant_id, name, last4, scopes,
allowed_ips, created_at, expires_at, revoked_at, last_used_at, last_used_ip,
  trim_scale(daily_usd)::text AS daily_usd,
  (SELECT CASE WHEN u.removed_at IS NULL THEN u.email ELSE u.display_name END
     FROM dashboard_user u WHERE u.id = api_key.created_by) AS created_by_email`;

/** Makes a secret key. `apiKey` is the only copy there ever is. */
export async function createApiKey(
  db: Queryable,
  merchantId: string,
  key: NewApiKey,
): Promise<{ apiKey: string; row: ApiKeyRow }> {
  const apiKey = `${secretKeyPrefixes[await modeOf(db)]}${randomBase62(32)}`;
  const [row] = await db.query<ApiKeyRow[]>(
    `INSERT INTO api_key (id, merchant_id, name, key_hash, last4, scopes, allowed_ips, expires_at, daily_usd,
       created_by, hashed_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${shown}`,
    [
      newId(),
      merchantId,
      key.name,
      tokenHash(key.secretsKey, apiKey),
      apiKey.slice(-4),
      key.scopes,
      key.allowedIps ?? [],
      key.expiresAt ?? null,
      key.dailyUsd ?? null,
      key.createdBy,
      keyMark(key.secretsKey),
    ],
  );
  return { apiKey, row: row! };
}

/** A merchant's keys, revoked ones included, newest first. */
export const apiKeysOf = (
  db: Queryable,
  merchantId: string,
  page: Page,
): Promise<{ items: ApiKeyRow[]; total: number }> =>
  pageOfRecords(db, { select: shown, from: 'api_key', where: 'merchant_id = $1' }, [merchantId], page);

/** The keys of a maker that may be used now, newest first. */
export const activeKeysOf = (
  db: Queryable,
  userId: string,
): Promise<Array<{ id: string; name: string; last4: string }>> =>
  db.query(
    `SELECT id, name, last4 FROM api_key
      WHERE created_by = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
      ORDER BY created_at DESC, id DESC`,
    [userId],
  );

/** The merchant's key, locked; null where there is none of that id that is not revoked. */
export async function lockApiKey(tx: Queryable, merchantId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await tx.query<ApiKeyRow[]>(
    `SELECT ${shown} FROM api_key WHERE id = $1 AND merchant_id = $2 AND revoked_at IS NULL FOR UPDATE`,
    [id, merchantId],
  );
  return row ?? null;
}

export async function changeApiKey(
  tx: Queryable,
  id: string,
  next: Readonly<{ name: string; scopes: readonly string[]; allowedIps: readonly string[]; expiresAt: Date | null }>,
): Promise<ApiKeyRow> {
  const [row] = await changedRows<ApiKeyRow>(
    tx,
    `UPDATE api_key SET name = $2, scopes = $3, allowed_ips = $4, expires_at = $5 WHERE id = $1 RETURNING ${shown}`,
    [id, next.name, next.scopes, next.allowedIps, next.expiresAt],
  );
  return row!;
}

/** Ends a key; copies of the API notice within a second. */
export async function revokeApiKey(tx: Queryable, merchantId: string, id: string): Promise<ApiKeyRow | null> {
  const rows = await changedRows<ApiKeyRow>(
    tx,
    `UPDATE api_key SET revoked_at = now() WHERE id = $1 AND merchant_id = $2 AND revoked_at IS NULL
       RETURNING ${shown}`,
    [id, merchantId],
  );
  return rows[0] ?? null;
}

/** The key of a call. `dailyUsd`: as it was made with, for good. `madeBy`: the user who made it; null: unknown. */
export type UsedKey = Readonly<{ id: string; dailyUsd: string | null; madeBy: string | null }>;

/** A key that may be used now, with its merchant (who may be suspended). */
export type KeyHolder = Readonly<{
  key: UsedKey;
  scopes: readonly string[];
  allowedIps: readonly string[];
  merchant: Merchant;
}>;

type HolderRow = MerchantRow & {
  key_id: string;
  hashed_by: string | null;
  daily_usd: string | null;
  made_by: string | null;
  scopes: string[];
  allowed_ips: string[];
};

/** Who holds `apiKey`; null where it is unknown, expired or revoked, by the database's clock. */
export async function findKeyHolder(db: DataSource, secretsKey: string, apiKey: string): Promise<KeyHolder | null> {
  const hashes = tokenHashes(secretsKey, apiKey);
  const [row] = await prepared(db, 'key-holder').query<HolderRow[]>(
    `SELECT k.id AS key_id, k.hashed_by, k.daily_usd::text AS daily_usd, k.created_by AS made_by, k.scopes,
            k.allowed_ips,
            ${merchantColumns}
       FROM api_key k JOIN merchant m ON m.id = k.merchant_id
      WHERE k.key_hash = ANY($1) AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`,
    [hashes],
  );
  if (!row) return null;
  if (row.hashed_by !== keyMark(secretsKey)) await hashAnew(db, row.key_id, hashes[0]!, keyMark(secretsKey));
  return {
    key: { id: row.key_id, dailyUsd: row.daily_usd, madeBy: row.made_by },
    scopes: row.scopes,
    allowedIps: row.allowed_ips,
    merchant: merchantOf(row),
  };
}

/** Keeps a key by the first key of SECRETS_KEY, once it is used: only then we have it. */
const hashAnew = (db: Queryable, id: string, hash: string, by: string): Promise<unknown> =>
  db.query('UPDATE api_key SET key_hash = $2, hashed_by = $3 WHERE id = $1', [id, hash, by]);

/** How many keys in force another key of SECRETS_KEY than the first one has hashed, as far as anybody knows. */
export async function keysOfOthers(db: Queryable, secretsKey: string): Promise<number> {
  const [row] = await db.query<Array<{ count: number }>>(
    `SELECT count(*)::int AS count FROM api_key WHERE hashed_by IS DISTINCT FROM $1 AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > clock_timestamp())`,
    [keyMark(secretsKey)],
  );
  return row!.count;
}

/** Lets a key convert so much more, in the transaction that converts it; whoever uses a key that has a limit takes
 *  turns. What came to nothing does not count. Throws KEY_LIMIT. */
export async function spendByKey(tx: Queryable, { id, dailyUsd }: UsedKey, usd: string): Promise<void> {
  if (dailyUsd === null) return;
  await tx.query('SELECT FROM api_key WHERE id = $1 FOR NO KEY UPDATE', [id]);
  const [day] = await tx.query<Array<{ usd: string }>>(
    `SELECT coalesce(sum(c.from_amount * r.value), 0)::text AS usd FROM conversion c
       JOIN rate r ON r.id = c.from_rate_id
      WHERE c.key_id = $1 AND c.is_debited AND c.status <> 'failed' AND c.created_at > now() - interval '24 hours'`,
    [id],
  );
  if (compare(add(day!.usd, usd), dailyUsd) > 0) throw new DomainError('KEY_LIMIT');
}

/** Notes when and from where a key was last used. */
export const noteKeyUse = (db: Queryable, keyId: string, ip: string): Promise<unknown> =>
  db.query('UPDATE api_key SET last_used_at = now(), last_used_ip = $2 WHERE id = $1', [keyId, ip]);
