import type { EntityManager } from 'typeorm';
import { beyond, type Holder, type Permission } from '../../domain/access/access';
import { newId } from '../../domain/ids';
import { type Queryable, changedRows } from '../query';
import { pageOfRecords, type Page } from '../records';
import { tokenHash, tokenHashes } from '../sealing';
import type { RowOf } from '../entity';
import type { teamInvitationEntity } from './entities';

/** Invitations into a merchant's team. The mailed token is kept as a hash alone. Contract: 4.2, G12. */

const validDays = 7;

export type InvitationRow = RowOf<typeof teamInvitationEntity>;

type Inviter = Holder & Readonly<{ is_active: boolean }>;
const couldGive = (inviter: Inviter, { permissions }: InvitationRow): boolean =>
  inviter.is_active && beyond(inviter, permissions).length === 0;

/** A new invitation; an open one to the same address is replaced. */
export async function createInvitation(
  tx: EntityManager,
  secretsKey: string,
  invitation: Readonly<{
    merchantId: string;
    email: string;
    displayName: string | null;
    permissions: readonly Permission[];
    invitedBy: string;
    token: string;
  }>,
): Promise<InvitationRow> {
  await tx.query(
    `UPDATE team_invitation SET status = 'revoked' WHERE merchant_id = $1 AND email = $2 AND status = 'pending'`,
    [invitation.merchantId, invitation.email],
  );
  const [row] = await tx.query<InvitationRow[]>(
    `INSERT INTO team_invitation (id, merchant_id, email, display_name, permissions, invited_by, token_hash, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(days => $8)) RETURNING *`,
    [
      newId(),
      invitation.merchantId,
      invitation.email,
      invitation.displayName,
      invitation.permissions,
      invitation.invitedBy,
      tokenHash(secretsKey, invitation.token),
      validDays,
    ],
  );
  return row!;
}

/** A new token for an open invitation, in place of the old one, in the name of `invitedBy`; null where there is none of
 *  that id. */
export async function renewInvitation(
  tx: EntityManager,
  secretsKey: string,
  merchantId: string,
  id: string,
  { invitedBy, token }: Readonly<{ invitedBy: string; token: string }>,
): Promise<InvitationRow | null> {
  const rows = await changedRows<InvitationRow>(
    tx,
    `UPDATE team_invitation SET token_hash = $3, expires_at = now() + make_interval(days => $4), invited_by = $5
      WHERE id = $1 AND merchant_id = $2 AND status = 'pending' RETURNING *`,
    [id, merchantId, tokenHash(secretsKey, token), validDays, invitedBy],
  );
  return rows[0] ?? null;
}

/** Revokes what `inviter` could not give any more, and says what that was. */
export async function revokeBeyond(tx: EntityManager, inviter: Inviter & Readonly<{ id: string }>): Promise<string[]> {
  const open = await tx.query<InvitationRow[]>(
    `SELECT * FROM team_invitation WHERE invited_by = $1 AND status = 'pending' ORDER BY id FOR UPDATE`,
    [inviter.id],
  );
  const ids = open.filter((row) => !couldGive(inviter, row)).map((row) => row.id);
  if (ids.length) await tx.query(`UPDATE team_invitation SET status = 'revoked' WHERE id = ANY($1)`, [ids]);
  return ids;
}

export async function revokeInvitation(
  tx: EntityManager,
  merchantId: string,
  id: string,
): Promise<InvitationRow | null> {
  const rows = await changedRows<InvitationRow>(
    tx,
    `UPDATE team_invitation SET status = 'revoked' WHERE id = $1 AND merchant_id = $2 AND status = 'pending'
       RETURNING *`,
    [id, merchantId],
  );
  return rows[0] ?? null;
}

/** A merchant's invitations, newest first. */
export const invitationsOf = (
  db: Queryable,
  merchantId: string,
  page: Page,
): Promise<{ items: InvitationRow[]; total: number }> =>
  pageOfRecords(db, { from: 'team_invitation', where: 'merchant_id = $1' }, [merchantId], page);

export type OpenInvitation = InvitationRow & { merchant_name: string; inviter_name: string };

/** The open invitation that a mailed token names, locked; null where the token is unknown, used or old, its merchant is
 *  suspended, or its inviter could not give what it gives any more. */
export async function findInvitation(
  tx: EntityManager,
  secretsKey: string,
  token: string,
): Promise<OpenInvitation | null> {
  const [row] = await tx.query<Array<OpenInvitation & { inviter: Inviter }>>(
    `SELECT i.*, m.name AS merchant_name, u.display_name AS inviter_name,
            json_build_object('role', u.role, 'permissions', u.permissions, 'is_active', u.is_active) AS inviter
       FROM team_invitation i JOIN merchant m ON m.id = i.merchant_id JOIN dashboard_user u ON u.id = i.invited_by
      WHERE i.token_hash = ANY($1) AND i.status = 'pending' AND i.expires_at > clock_timestamp()
        AND m.status = 'active' FOR UPDATE OF i`,
    [tokenHashes(secretsKey, token)],
  );
  return row && couldGive(row.inviter, row) ? row : null;
}

export const markAccepted = (tx: EntityManager, id: string): Promise<unknown> =>
  tx.query(`UPDATE team_invitation SET status = 'accepted' WHERE id = $1`, [id]);
