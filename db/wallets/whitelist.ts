import type { EntityManager } from 'typeorm';
import type { User } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { type Queryable, changedRows, prepared } from '../query';
import type { RowOf } from '../entity';
import type { whitelistEntryEntity } from './entities';

/** Where a merchant's money may go, and from where it may be sent. Contract: 4.8, G11. */
export type WhitelistRow = Readonly<Pick<RowOf<typeof whitelistEntryEntity>, (typeof shown)[number]>>;
type NewEntry = Readonly<
  { label?: string } & (
    { type: 'wallet'; currency: string; address: string; destinationTag: string | null } | { type: 'ip'; ip: string }
  )
>;

const shown = [
  'id',
  'type',
  'currency',
  'address',
  'destination_tag',
  'ip',
  'label',
  'created_by',
  'created_at',
  'active_at',
  'removed_at',
] as const;
const columns = shown.join(', ');

/** What is on the list, newest first. */
export const whitelistOf = (db: Queryable, merchantId: string): Promise<WhitelistRow[]> =>
  db.query<WhitelistRow[]>(
    `SELECT ${columns} FROM whitelist_entry WHERE merchant_id = $1 AND removed_at IS NULL ORDER BY created_at DESC,
       id DESC`,
    [merchantId],
  );

/** Adds an entry, which counts once the merchant's cooling-off is over. Throws ALREADY_WHITELISTED. */
export async function addToWhitelist(
  tx: Queryable,
  merchantId: string,
  user: Pick<User, 'id' | 'email'>,
  entry: NewEntry,
): Promise<WhitelistRow> {
  const wallet = entry.type === 'wallet' ? entry : null;
  const [row] = await tx.query<WhitelistRow[]>(
    `INSERT INTO whitelist_entry (id, merchant_id, type, currency, address, destination_tag, ip, label, created_by,
       created_by_id, active_at)
     SELECT $1, m.id, $3, $4, $5, $6, $7, $8, $9, $10, greatest(now() + make_interval(hours => m.whitelist_delay_hours),
       m.whitelist_not_before)
       FROM merchant m WHERE m.id = $2
     ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [
      newId(),
      merchantId,
      entry.type,
      wallet?.currency ?? null,
      wallet?.address ?? null,
      wallet?.destinationTag ?? null,
      entry.type === 'ip' ? entry.ip : null,
      entry.label || null,
      user.email,
      user.id,
    ],
  );
  if (!row) throw new DomainError('ALREADY_WHITELISTED');
  return row;
}

/** Takes an entry off the list. Throws WHITELIST_REMOVE_FAILED: unknown, removed and foreign are the same. */
export async function removeFromWhitelist(
  tx: Queryable,
  merchantId: string,
  id: string,
  userId: string,
): Promise<WhitelistRow> {
  const [row] = await changedRows<WhitelistRow>(
    tx,
    `UPDATE whitelist_entry SET removed_at = now(), removed_by_id = $3
      WHERE id = $1 AND merchant_id = $2 AND removed_at IS NULL RETURNING ${columns}`,
    [id, merchantId, userId],
  );
  if (!row) throw new DomainError('WHITELIST_REMOVE_FAILED');
  return row;
}

/** Where a merchant's money would go. `address`: normalised. */
type Receiver = Readonly<{ merchantId: string; currency: string; address: string; destinationTag: string | null }>;

/** Whether money may go to a receiver at `now`. In a transaction the entry stays until its end: a removal
 *  waits, and one that came first is seen. */
export async function isWhitelisted(
  tx: Queryable,
  { merchantId, currency, address, destinationTag }: Receiver,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT id FROM whitelist_entry WHERE merchant_id = $1 AND type = 'wallet' AND currency = $2 AND address = $3
        AND destination_tag IS NOT DISTINCT FROM $4 AND active_at <= $5 AND removed_at IS NULL FOR SHARE`,
    [merchantId, currency, address, destinationTag, now],
  );
  return rows.length > 0;
}

/** Who is paid by what a merchant has sent, by the id of the row that says so. */
export type Payee = Readonly<{
  id: string;
  merchant_id: string;
  currency: string;
  address: string;
  destination_tag: string | null;
}>;
const nameOf = ({ merchant_id, currency, address, destination_tag }: Omit<Payee, 'id'>): string =>
  JSON.stringify([merchant_id, currency, address, destination_tag]);

/** Those of `payees` whose address is not on their merchant's whitelist now. The entries of the others stay until the
 *  transaction ends: a removal waits, and one that came first is seen. */
export async function unlistedAmong<One extends Payee>(tx: EntityManager, payees: readonly One[]): Promise<One[]> {
  if (!payees.length) return [];
  const rows = await prepared(tx, 'listed-payees').query<Array<Omit<Payee, 'id'>>>(
    `SELECT merchant_id, currency, address, destination_tag FROM whitelist_entry
      WHERE merchant_id = ANY($1) AND type = 'wallet' AND address = ANY($2)
        AND active_at <= now() AND removed_at IS NULL FOR SHARE`,
    [[...new Set(payees.map((one) => one.merchant_id))], payees.map((one) => one.address)],
  );
  const listed = new Set(rows.map(nameOf));
  return payees.filter((one) => !listed.has(nameOf(one)));
}

/** Addresses and ranges that money may be sent from; none: anywhere. */
export async function listedIps(db: Queryable, merchantId: string): Promise<string[]> {
  const rows = await db.query<Array<{ ip: string }>>(
    `SELECT ip FROM whitelist_entry WHERE merchant_id = $1 AND type = 'ip' AND active_at <= now()
       AND removed_at IS NULL`,
    [merchantId],
  );
  return rows.map(({ ip }) => ip);
}
