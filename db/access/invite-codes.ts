import type { EntityManager } from 'typeorm';
import { newId } from '../../domain/ids';
import { changedRows, type Queryable } from '../query';
import { randomBase62, tokenHash, tokenHashes } from '../sealing';
import type { RowOf } from '../entity';
import type { inviteCodeEntity } from './entities';

/** Codes by which merchants register while the registration is off, or without waiting for an operator. */

export type InviteCodeRow = Pick<RowOf<typeof inviteCodeEntity>, (typeof shown)[number]>;
const shown = [
  'id',
  'last4',
  'label',
  'skips_approval',
  'fee_bps',
  'most_uses',
  'uses',
  'created_by',
  'created_at',
  'expires_at',
  'revoked_at',
  'revoked_by',
] as const;
const columns = shown.join(', ');

export type NewInviteCode = Readonly<{
  label: string;
  skipsApproval: boolean;
  feeBps: number | null;
  mostUses: number;
  validDays: number;
}>;

const hashedAs = (code: string): string => `invite/${code}`;

/** A new code, readable this once. */
export async function createInviteCode(
  tx: EntityManager,
  secretsKey: string,
  by: string,
  wanted: NewInviteCode,
): Promise<{ row: InviteCodeRow; code: string }> {
  const code = `inv_${randomBase62(24)}`;
  const [row] = await tx.query<InviteCodeRow[]>(
    `INSERT INTO invite_code (id, code_hash, last4, label, skips_approval, fee_bps, most_uses, created_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(days => $9)) RETURNING ${columns}`,
    [
      newId(),
      tokenHash(secretsKey, hashedAs(code)),
      code.slice(-4),
      wanted.label,
      wanted.skipsApproval,
      wanted.feeBps,
      wanted.mostUses,
      by,
      wanted.validDays,
    ],
  );
  return { row: row!, code };
}

/** Newest first, older than `cursor`. */
export const listInviteCodes = (
  db: Queryable,
  { cursor, limit }: Readonly<{ cursor: string | null; limit: number }>,
): Promise<InviteCodeRow[]> =>
  db.query<InviteCodeRow[]>(
    `SELECT ${columns} FROM invite_code WHERE ($1::text IS NULL OR id < $1) ORDER BY id DESC LIMIT $2`,
    [cursor, limit],
  );

/** The code of an id, locked; null where there is none. */
export async function lockInviteCode(tx: EntityManager, id: string): Promise<InviteCodeRow | null> {
  const [row] = await tx.query<InviteCodeRow[]>(`SELECT ${columns} FROM invite_code WHERE id = $1 FOR UPDATE`, [id]);
  return row ?? null;
}

/** From now on nobody registers by it. */
export async function endInviteCode(tx: EntityManager, id: string, by: string): Promise<InviteCodeRow> {
  const rows = await changedRows<InviteCodeRow>(
    tx,
    `UPDATE invite_code SET revoked_at = now(), revoked_by = $2 WHERE id = $1 RETURNING ${columns}`,
    [id, by],
  );
  return rows[0]!;
}

/** Counts a use of the code; null where the text is none that serves now. Two registrations at once never share the
 *  last use: each locks the row. */
export async function spendInviteCode(
  tx: EntityManager,
  secretsKey: string,
  code: string,
): Promise<InviteCodeRow | null> {
  const rows = await changedRows<InviteCodeRow>(
    tx,
    `UPDATE invite_code SET uses = uses + 1
      WHERE code_hash = ANY($1) AND uses < most_uses AND revoked_at IS NULL AND expires_at > clock_timestamp()
      RETURNING ${columns}`,
    [tokenHashes(secretsKey, hashedAs(code.trim()))],
  );
  return rows[0] ?? null;
}
