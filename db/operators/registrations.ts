import type { EntityManager } from 'typeorm';
import { changedRows, type Queryable } from '../query';

/** Merchants as they registered, for operators who decide about some of them. */

/** `waiting`: nobody of it signs in until an operator has decided. */
export const approvals = ['approved', 'waiting', 'refused'] as const;
export type Approval = (typeof approvals)[number];

export type Registration = {
  merchant_id: string;
  merchant_name: string;
  approval: Approval;
  /** Of the admin who registered it. */
  email: string | null;
  display_name: string | null;
  is_verified: boolean;
  created_at: Date;
  invite_code_id: string | null;
  invite_label: string | null;
};

export type RegistrationFilter = Readonly<{
  approval: Approval | null;
  inviteCodeId: string | null;
  cursor: string | null;
  limit: number;
}>;

const columns = `m.id AS merchant_id, m.name AS merchant_name, m.approval, u.email, u.display_name,
  coalesce(u.email_verified_at IS NOT NULL, false) AS is_verified, m.created_at, m.invite_code_id,
  i.label AS invite_label`;
/** The first of its users is the one who registered. */
const sources = `merchant m LEFT JOIN invite_code i ON i.id = m.invite_code_id
  LEFT JOIN LATERAL (SELECT email, display_name, email_verified_at FROM dashboard_user
    WHERE merchant_id = m.id ORDER BY id LIMIT 1) u ON true`;

/** Newest first, older than `cursor`. */
export const listRegistrations = (
  db: Queryable,
  { approval, inviteCodeId, cursor, limit }: RegistrationFilter,
): Promise<Registration[]> =>
  db.query<Registration[]>(
    `SELECT ${columns} FROM ${sources}
      WHERE ($1::text IS NULL OR m.approval = $1) AND ($2::text IS NULL OR m.invite_code_id = $2)
        AND ($3::text IS NULL OR m.id < $3) ORDER BY m.id DESC LIMIT $4`,
    [approval, inviteCodeId, cursor, limit],
  );

export async function findRegistration(db: Queryable, merchantId: string): Promise<Registration | null> {
  const [row] = await db.query<Registration[]>(`SELECT ${columns} FROM ${sources} WHERE m.id = $1`, [merchantId]);
  return row ?? null;
}

/** Whether an operator has let the merchant in; null where there is no such merchant. */
export async function approvalOf(db: Queryable, merchantId: string): Promise<Approval | null> {
  const [row] = await db.query<Array<{ approval: Approval }>>('SELECT approval FROM merchant WHERE id = $1', [
    merchantId,
  ]);
  return row?.approval ?? null;
}

/** The same, locked: one operator decides. */
export async function lockApproval(tx: EntityManager, merchantId: string): Promise<Approval | null> {
  const [row] = await tx.query<Array<{ approval: Approval }>>(
    'SELECT approval FROM merchant WHERE id = $1 FOR NO KEY UPDATE',
    [merchantId],
  );
  return row?.approval ?? null;
}

/** What an operator has decided: who is let in may sign in from then on. */
export const setApproval = (
  tx: EntityManager,
  merchantId: string,
  approval: 'approved' | 'refused',
): Promise<Array<{ id: string }>> =>
  changedRows<{ id: string }>(
    tx,
    `UPDATE merchant SET approval = $2, status = CASE WHEN $2 = 'approved' THEN 'active' ELSE status END,
            updated_at = now() WHERE id = $1 RETURNING id`,
    [merchantId, approval],
  );
