import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import type { Permission } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { activeKeysOf } from '../../db/access/api-keys';
import { isChange, recordAct, type Actor } from '../../db/access/audit-log';
import { revokeBeyond } from '../../db/access/invitations';
import {
  lockUser,
  membersOf,
  otherAdmins,
  removeUser,
  setMember,
  voidSessions,
  type UserRow,
} from '../../db/access/users';
import { checkGrant, nobody, permissionsSchema, teamAct, notifyOfApprover } from './grants';
import { factorProps, requireFactor } from './step-up';
import { actorOf } from './users';
import { route } from '../http/route';
import { named, nullable, pageOf, paging, time } from '../http/schemas';

/** A merchant's people: given permissions, taken out again. Contract: 4.2, G12. */

const tag = 'Team';
const roles = ['merchant_admin', 'merchant_member'] as const;
const activeKeys = Type.Array(Type.Object({ id: Type.String(), name: Type.String(), last4: Type.String() }), {
  description: 'Secret keys that they made and that work.',
});
const memberSchema = named('TeamMember', {
  id: Type.String(),
  email: Type.String(),
  displayName: Type.String(),
  role: Type.String({ enum: [...roles] }),
  permissions: permissionsSchema,
  isActive: Type.Boolean(),
  totpEnabled: Type.Boolean(),
  createdAt: time,
  lastLoginAt: nullable(time),
});
const presentMember = (row: UserRow) => ({
  id: row.id,
  email: row.email,
  displayName: row.display_name,
  role: row.role,
  permissions: row.permissions,
  isActive: row.is_active,
  totpEnabled: row.totp_enabled_at !== null,
  createdAt: row.created_at.toISOString(),
  lastLoginAt: row.last_login_at?.toISOString() ?? null,
});

export const listMembers = route({
  name: 'listMembers',
  method: 'get',
  path: '/api/v1/team-members',
  summary: 'List the team',
  tag,
  envelope: 'A',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(memberSchema), total: Type.Integer() }),
    description: 'One page, oldest first, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, { db }) {
    const { items, total } = await membersOf(db, merchant.id, pageOf(query));
    return { data: { items: items.map(presentMember), total } };
  },
});

const memberParams = Type.Object({ memberId: Type.String() });

/** The member of the merchant, locked, with who else could administer. Throws MEMBER_NOT_FOUND. */
async function memberOf(tx: EntityManager, merchantId: string, memberId: string) {
  const others = await otherAdmins(tx, merchantId, memberId);
  const member = await lockUser(tx, memberId);
  if (member?.merchant_id !== merchantId) throw new DomainError('MEMBER_NOT_FOUND');
  return { member, isLastAdmin: member.role === 'merchant_admin' && member.is_active && others === 0 };
}

type Change = Readonly<{ role?: string; isActive?: boolean }>;

/** The member as the change leaves them. An admin who becomes a member has the permissions that are named, or none. */
function nextOf(member: UserRow, body: Change, permissions: readonly Permission[] | undefined) {
  const role = (body.role ?? member.role) as (typeof roles)[number];
  const kept = member.role === role ? (member.permissions as Permission[]) : [];
  return { role, permissions: permissions ?? kept, isActive: body.isActive ?? member.is_active };
}

/** What a member has offered ends with the right to offer it. */
async function endInvitations(tx: EntityManager, inviter: UserRow, actor: Actor): Promise<void> {
  for (const id of await revokeBeyond(tx, inviter))
    await recordAct(tx, actor, { merchantId: inviter.merchant_id, action: 'invitation.revoked', target: id });
}

export const changeMember = route({
  name: 'changeMember',
  method: 'patch',
  path: '/api/v1/team-members/{memberId}',
  summary: 'Change what a member may do',
  description:
    'Signs the member out everywhere, unless nothing differs. An admin makes another admin, or a member of one: an ' +
    'admin has every permission, and none of them can be edited. The keys that somebody made work on when they may ' +
    'no longer sign in: they are listed, to be revoked.',
  tag,
  envelope: 'A',
  params: memberParams,
  body: Type.Object({
    role: Type.Optional(Type.String({ enum: [...roles], description: 'Only an admin changes it.' })),
    permissions: Type.Optional(permissionsSchema),
    isActive: Type.Optional(Type.Boolean()),
    ...factorProps,
  }),
  success: { status: 200, schema: Type.Object({ ...memberSchema.properties, activeKeys }), description: 'The member.' },
  errors: ['MEMBER_NOT_FOUND', 'LAST_ADMIN', 'GRANT_REFUSED', 'ADMIN_PERMISSIONS'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    if (!isId(params.memberId)) throw new DomainError('MEMBER_NOT_FOUND');
    requireFactor(body);
    const permissions = body.permissions && checkGrant(user, body.permissions);
    const { row, keys } = await teamAct(deps, user, merchant.id, body, async (tx, giver) => {
      const { member, isLastAdmin } = await memberOf(tx, merchant.id, params.memberId);
      const next = nextOf(member, body, permissions);
      if (isLastAdmin && !(next.isActive && next.role === 'merchant_admin')) throw new DomainError('LAST_ADMIN');
      // Nor takes away what they could not give: a member neither changes nor makes an admin.
      const isAboutAdmin = member.role === 'merchant_admin' || next.role === 'merchant_admin';
      if (isAboutAdmin && giver.role !== 'merchant_admin') throw new DomainError('GRANT_REFUSED');
      if (permissions && next.role === 'merchant_admin') throw new DomainError('ADMIN_PERMISSIONS');
      const isNew = permissions || next.role !== member.role || (next.isActive && !member.is_active);
      if (isNew && next.role !== 'merchant_admin') checkGrant(giver, next.permissions);
      const was = { role: member.role, permissions: member.permissions, isActive: member.is_active };
      if (!isChange(was, next)) return { row: member, keys: await activeKeysOf(tx, member.id) };
      const changed = await setMember(tx, member.id, next);
      await voidSessions(tx, member.id);
      await endInvitations(tx, changed, actorOf(user, from));
      await notifyOfApprover(tx, deps, merchant, {
        to: member.email,
        by: user.email,
        before: member.is_active ? member : nobody,
        after: changed.is_active ? changed : nobody,
      });
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'member.changed',
        target: member.id,
        before: was,
        after: next,
      });
      return { row: changed, keys: await activeKeysOf(tx, member.id) };
    });
    deps.sessions.forget();
    return { data: { ...presentMember(row), activeKeys: keys } };
  },
});

export const removeMember = route({
  name: 'removeMember',
  method: 'delete',
  path: '/api/v1/team-members/{memberId}',
  summary: 'Take a member out of the team',
  tag,
  envelope: 'A',
  params: memberParams,
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: Type.Object({ id: Type.String(), removed: Type.Literal(true), activeKeys }),
    description: 'Signed out everywhere; cannot sign in again.',
  },
  errors: ['MEMBER_NOT_FOUND', 'LAST_ADMIN', 'GRANT_REFUSED'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    if (!isId(params.memberId)) throw new DomainError('MEMBER_NOT_FOUND');
    const keys = await teamAct(deps, user, merchant.id, body, async (tx) => {
      const { member, isLastAdmin } = await memberOf(tx, merchant.id, params.memberId);
      if (isLastAdmin) throw new DomainError('LAST_ADMIN');
      if (member.role === 'merchant_admin' && user.role !== 'merchant_admin') throw new DomainError('GRANT_REFUSED');
      await voidSessions(tx, member.id);
      await removeUser(tx, member.id);
      await endInvitations(tx, { ...member, is_active: false }, actorOf(user, from));
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'member.removed',
        target: member.id,
        before: { email: member.email, role: member.role, permissions: member.permissions },
      });
      return activeKeysOf(tx, member.id);
    });
    deps.sessions.forget();
    return { data: { id: params.memberId, removed: true, activeKeys: keys } };
  },
});
