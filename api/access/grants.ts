import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import {
  beyond,
  permissions as allPermissions,
  type Holder,
  type Merchant,
  type Permission,
  type User,
} from '../../domain/access/access';
import { approvals } from '../../domain/access/access-table';
import { DomainError } from '../../domain/errors';
import { approverMail } from '../../domain/mail/mail';
import { lockTeam, type UserRow } from '../../db/access/users';
import { withFactor, type FactorFields } from './step-up';
import { notifyAdmins } from '../../commands/mail/notify-admins';
import type { ApiDeps } from '../http/deps';

/** What gives rights to members, and who hears of it. Contract: G12. */

export const permissionsSchema = Type.Array(Type.String({ enum: [...allPermissions] }), {
  maxItems: 50,
  description: 'What a member may do; `manage` includes `view`.',
});
/** Who may do nothing. */
export const nobody: Holder = { role: 'merchant_member', permissions: [] };

/** Nobody grants what they lack. */
export function checkGrant(giver: Holder, wanted: readonly string[]): Permission[] {
  const granted = [...new Set(wanted)] as Permission[];
  if (beyond(giver, granted).length) throw new DomainError('GRANT_REFUSED');
  return granted.sort();
}

/** An act on the team by a factor. Everybody in it is held first, in one order. */
export const teamAct = <T>(
  deps: ApiDeps,
  user: User,
  merchantId: string,
  fields: FactorFields,
  act: (tx: EntityManager, row: UserRow) => Promise<T>,
): Promise<T> => withFactor(deps, user, 'team', fields, act, { holdFirst: (tx) => lockTeam(tx, merchantId) });

/** Every admin hears of who may approve outgoing money from now on, and could not before. */
export async function notifyOfApprover(
  tx: EntityManager,
  deps: ApiDeps,
  merchant: Pick<Merchant, 'id' | 'name'>,
  grant: Readonly<{ to: string; by: string; before: Holder; after: Holder }>,
): Promise<void> {
  const had = approvals(grant.before);
  const acts = approvals(grant.after).filter((act) => !had.includes(act));
  if (!acts.length) return;
  const hours = deps.config.APPROVAL_COOLING_OFF_HOURS;
  await notifyAdmins(tx, deps, merchant.id, (email) =>
    approverMail(email, { merchantName: merchant.name, member: grant.to, by: grant.by, acts, hours }),
  );
}
