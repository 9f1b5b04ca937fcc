import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import {
  beyond,
  permissions as allPermissions,
  type Holder,
  type Permission,
  type User,
} from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { invitationMail } from '../../domain/mail/mail';
import { recordAct, type Actor } from '../../db/access/audit-log';
import {
  createInvitation as invite,
  findInvitation,
  invitationsOf,
  markAccepted,
  renewInvitation,
  revokeBeyond,
  revokeInvitation as revoke,
  type InvitationRow,
} from '../../db/access/invitations';
import { queueMail } from '../../db/mail/mail';
import { randomBase62 } from '../../db/sealing';
import {
  createUser,
  findUserByEmail,
  lockTeam,
  lockUnproven,
  lockUser,
  membersOf,
  normalEmail,
  otherAdmins,
  removeUser,
  setMember,
  voidSessions,
  type UserRow,
} from '../../db/access/users';
import { checkPassword, hashSecret } from './passwords';
import { factorProps, withFactor, type FactorFields } from './step-up';
import { signToken } from './tokens';
import { actorOf } from './users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { emailSchema, line, nullable, pageOf, paging, passwordSchema, time } from '../http/schemas';

/** A merchant's people: invited by mail, given permissions, taken out again. Contract: 4.2, G12. */

const tag = 'Team';
const permissionsSchema = Type.Array(Type.String({ enum: [...allPermissions] }), {
  maxItems: 50,
  description: 'What a member may do; `manage` includes `view`.',
});
const invitationSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  displayName: nullable(Type.String()),
  role: Type.Literal('merchant_member'),
  permissions: permissionsSchema,
  status: Type.String({ enum: ['pending', 'accepted', 'revoked', 'expired'] }),
  createdAt: time,
  expiresAt: time,
});
const presentInvitation = (row: InvitationRow) => ({
  id: row.id,
  email: row.email,
  displayName: row.display_name,
  role: 'merchant_member',
  permissions: row.permissions,
  status: row.status === 'pending' && row.expires_at < new Date() ? 'expired' : row.status,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
});
const memberSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  displayName: Type.String(),
  role: Type.String({ enum: ['merchant_admin', 'merchant_member'] }),
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

/** Nobody grants what they lack. */
function checkGrant(giver: Holder, wanted: readonly string[]): Permission[] {
  const granted = [...new Set(wanted)] as Permission[];
  if (beyond(giver, granted).length) throw new DomainError('GRANT_REFUSED');
  return granted.sort();
}

/** An act on the team by a factor. Everybody in it is held first, in one order. */
const teamAct = <T>(
  deps: ApiDeps,
  user: User,
  merchantId: string,
  fields: FactorFields,
  act: (tx: EntityManager, row: UserRow) => Promise<T>,
): Promise<T> => withFactor(deps, user, 'team', fields, act, (tx) => lockTeam(tx, merchantId));

const tokenBody = Type.String({ maxLength: 200, description: 'The mailed token.' });

export const lookUpInvitation = route({
  name: 'lookUpInvitation',
  method: 'post',
  path: '/api/v1/team-invitations/lookup',
  summary: 'What an invitation is about',
  tag,
  envelope: 'A',
  body: Type.Object({ token: tokenBody }),
  success: {
    status: 200,
    schema: Type.Object({
      merchantName: Type.String(),
      email: Type.String(),
      invitedBy: Type.String(),
      permissions: permissionsSchema,
      expiresAt: time,
      existingUser: Type.Boolean({ description: 'The address has an account already, and cannot accept.' }),
    }),
    description: 'For the page that accepts it.',
  },
  errors: ['INVALID_INVITATION'],
  async answer({ body }, { db, config }) {
    const { existingUser, ...found } = await db.transaction(async (tx) => {
      const open = await findInvitation(tx, config.SECRETS_KEY, body.token);
      if (!open) throw new DomainError('INVALID_INVITATION');
      const isKnown = (await findUserByEmail(tx, open.email)) !== null;
      return { ...open, existingUser: isKnown && !(await lockUnproven(tx, open.email)) };
    });
    return {
      data: {
        merchantName: found.merchant_name,
        email: found.email,
        invitedBy: found.inviter_name,
        permissions: found.permissions,
        expiresAt: found.expires_at.toISOString(),
        existingUser,
      },
    };
  },
});

export const acceptInvitation = route({
  name: 'acceptInvitation',
  method: 'post',
  path: '/api/v1/team-invitations/accept',
  summary: 'Accept an invitation',
  description:
    'The new member then enrols an authenticator with the setup token. The token proves the address: an account that somebody opened with it and never verified is closed.',
  tag,
  envelope: 'A',
  body: Type.Object({ token: tokenBody, password: passwordSchema, displayName: line(100, 'Name of the person.') }),
  success: {
    status: 200,
    schema: Type.Object({ requiresTotpSetup: Type.Literal(true), setupToken: Type.String() }),
    description: 'Go on with 2fa/setup.',
  },
  errors: ['INVALID_INVITATION'],
  async answer({ body, ...from }, { db, config }) {
    checkPassword(body.password);
    const passwordHash = await hashSecret(body.password);
    const user = await db.transaction(async (tx) => {
      const found = await findInvitation(tx, config.SECRETS_KEY, body.token);
      if (!found) throw new DomainError('INVALID_INVITATION');
      const unproven = await lockUnproven(tx, found.email);
      if (unproven) await removeUser(tx, unproven.id);
      const created = await createUser(tx, {
        email: found.email,
        displayName: body.displayName.trim() || found.display_name || found.email,
        role: 'merchant_member',
        merchantId: found.merchant_id,
        permissions: found.permissions,
        passwordHash,
        isVerified: true, // the token came by mail
      });
      if (!created) throw new DomainError('INVALID_INVITATION');
      if (unproven)
        await recordAct(tx, actorOf(created, from), {
          merchantId: unproven.merchant_id,
          action: 'user.replaced',
          target: unproven.id,
          before: { email: unproven.email },
        });
      await markAccepted(tx, found.id);
      await recordAct(tx, actorOf(created, from), {
        merchantId: found.merchant_id,
        action: 'invitation.accepted',
        target: found.id,
        after: { userId: created.id, permissions: created.permissions },
      });
      return created;
    });
    const setupToken = await signToken(config.SECRETS_KEY, 'setup', user.id, { ver: user.session_version });
    return { data: { requiresTotpSetup: true, setupToken } };
  },
});

export const createInvitation = route({
  name: 'createInvitation',
  method: 'post',
  path: '/api/v1/team-invitations',
  summary: 'Invite a member',
  tag,
  envelope: 'A',
  body: Type.Object({
    email: emailSchema,
    role: Type.Literal('merchant_member'),
    permissions: permissionsSchema,
    displayName: Type.Optional(line(100, 'Name of the person.')),
    ...factorProps,
  }),
  success: { status: 201, schema: invitationSchema, description: 'The invitation is on its way.' },
  errors: ['GRANT_REFUSED', 'ALREADY_MEMBER'],
  async answer({ body, user, merchant, ...from }, deps) {
    const { db, config } = deps;
    const permissions = checkGrant(user, body.permissions);
    const email = normalEmail(body.email);
    if ((await findUserByEmail(db, email))?.merchant_id === merchant.id) throw new DomainError('ALREADY_MEMBER');
    const token = randomBase62(64);
    const row = await teamAct(deps, user, merchant.id, body, async (tx, inviter) => {
      checkGrant(inviter, permissions); // the session may be a second old
      const made = await invite(tx, config.SECRETS_KEY, {
        merchantId: merchant.id,
        email,
        displayName: body.displayName?.trim() || null,
        permissions,
        invitedBy: user.id,
        token,
      });
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'invitation.created',
        target: made.id,
        after: { email, permissions },
      });
      await mailInvitation(tx, deps, made, merchant.name, user, token);
      return made;
    });
    return { data: presentInvitation(row) };
  },
});

const mailInvitation = (
  tx: EntityManager,
  { config }: Pick<ApiDeps, 'config'>,
  invitation: InvitationRow,
  merchantName: string,
  user: User,
  token: string,
): Promise<void> =>
  queueMail(
    tx,
    config.SECRETS_KEY,
    invitationMail(
      invitation.email,
      { merchantName, invitedBy: user.displayName, token },
      { dashboardUrl: config.DASHBOARD_URL },
    ),
  );

export const listInvitations = route({
  name: 'listInvitations',
  method: 'get',
  path: '/api/v1/team-invitations',
  summary: 'List invitations',
  tag,
  envelope: 'A',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(invitationSchema), total: Type.Integer() }),
    description: 'One page, newest first, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, { db }) {
    const { items, total } = await invitationsOf(db, merchant.id, pageOf(query));
    return { data: { items: items.map(presentInvitation), total } };
  },
});

const invitationParams = Type.Object({ invitationId: Type.String() });

export const resendInvitation = route({
  name: 'resendInvitation',
  method: 'post',
  path: '/api/v1/team-invitations/{invitationId}/resend',
  summary: 'Mail an invitation again',
  description: 'With a new token; the one before is void.',
  tag,
  envelope: 'A',
  params: invitationParams,
  success: { status: 200, schema: invitationSchema, description: 'On its way, valid for another 7 days.' },
  errors: ['INVITATION_NOT_FOUND', 'GRANT_REFUSED'],
  async answer({ params, user, merchant, ...from }, deps) {
    const { db, config } = deps;
    if (!isId(params.invitationId)) throw new DomainError('INVITATION_NOT_FOUND');
    const token = randomBase62(64);
    const row = await db.transaction(async (tx) => {
      const inviter = await lockUser(tx, user.id);
      if (!inviter?.is_active) throw new DomainError('INVALID_TOKEN');
      const renewed = await renewInvitation(tx, config.SECRETS_KEY, merchant.id, params.invitationId, {
        invitedBy: user.id,
        token,
      });
      if (!renewed) return null;
      checkGrant(inviter, renewed.permissions);
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'invitation.resent',
        target: renewed.id,
      });
      await mailInvitation(tx, deps, renewed, merchant.name, user, token);
      return renewed;
    });
    if (!row) throw new DomainError('INVITATION_NOT_FOUND');
    return { data: presentInvitation(row) };
  },
});

export const revokeInvitation = route({
  name: 'revokeInvitation',
  method: 'delete',
  path: '/api/v1/team-invitations/{invitationId}',
  summary: 'Revoke an invitation',
  tag,
  envelope: 'A',
  params: invitationParams,
  success: { status: 200, schema: invitationSchema, description: 'Its token is void.' },
  errors: ['INVITATION_NOT_FOUND'],
  async answer({ params, user, merchant, ...from }, { db }) {
    if (!isId(params.invitationId)) throw new DomainError('INVITATION_NOT_FOUND');
    const row = await db.transaction(async (tx) => {
      const revoked = await revoke(tx, merchant.id, params.invitationId);
      if (revoked)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'invitation.revoked',
          target: revoked.id,
        });
      return revoked;
    });
    if (!row) throw new DomainError('INVITATION_NOT_FOUND');
    return { data: presentInvitation(row) };
  },
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
  description: 'Signs the member out everywhere.',
  tag,
  envelope: 'A',
  params: memberParams,
  body: Type.Object({
    permissions: Type.Optional(permissionsSchema),
    isActive: Type.Optional(Type.Boolean()),
    ...factorProps,
  }),
  success: { status: 200, schema: memberSchema, description: 'The member.' },
  errors: ['MEMBER_NOT_FOUND', 'LAST_ADMIN', 'GRANT_REFUSED'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    if (!isId(params.memberId)) throw new DomainError('MEMBER_NOT_FOUND');
    const permissions = body.permissions && checkGrant(user, body.permissions);
    const row = await teamAct(deps, user, merchant.id, body, async (tx, giver) => {
      const { member, isLastAdmin } = await memberOf(tx, merchant.id, params.memberId);
      if (isLastAdmin && body.isActive === false) throw new DomainError('LAST_ADMIN');
      // Nor takes away what they could not give: a member does not change an admin.
      if (member.role === 'merchant_admin' && user.role !== 'merchant_admin') throw new DomainError('GRANT_REFUSED');
      const next = {
        permissions: member.role === 'merchant_admin' ? member.permissions : (permissions ?? member.permissions),
        isActive: body.isActive ?? member.is_active,
      };
      if (permissions || (next.isActive && !member.is_active)) checkGrant(giver, next.permissions);
      const changed = await setMember(tx, member.id, next);
      await voidSessions(tx, member.id);
      await endInvitations(tx, changed, actorOf(user, from));
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'member.changed',
        target: member.id,
        before: { permissions: member.permissions, isActive: member.is_active },
        after: next,
      });
      return changed;
    });
    deps.sessions.forget();
    return { data: presentMember(row) };
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
    schema: Type.Object({ id: Type.String(), removed: Type.Literal(true) }),
    description: 'Signed out everywhere; cannot sign in again.',
  },
  errors: ['MEMBER_NOT_FOUND', 'LAST_ADMIN', 'GRANT_REFUSED'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    if (!isId(params.memberId)) throw new DomainError('MEMBER_NOT_FOUND');
    await teamAct(deps, user, merchant.id, body, async (tx) => {
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
    });
    deps.sessions.forget();
    return { data: { id: params.memberId, removed: true } };
  },
});
