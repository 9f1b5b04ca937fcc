import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import type { User } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { invitationMail } from '../../domain/mail/mail';
import { recordAct } from '../../db/access/audit-log';
import {
  createInvitation as invite,
  findInvitation,
  invitationsOf,
  markAccepted,
  renewInvitation,
  revokeInvitation as revoke,
  type InvitationRow,
} from '../../db/access/invitations';
import { queueMail } from '../../db/mail/mail';
import { randomBase62 } from '../../db/sealing';
import { createUser, findUserByEmail, lockUnproven, lockUser, normalEmail, removeUser } from '../../db/access/users';
import { checkGrant, nobody, permissionsSchema, teamAct, notifyOfApprover } from './grants';
import { checkPassword, hashSecret } from './passwords';
import { factorProps, requireFactor } from './step-up';
import { signToken } from './tokens';
import { actorOf } from './users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { emailSchema, line, named, nullable, pageOf, paging, passwordSchema, time } from '../http/schemas';

/** People are invited to a merchant's team by mail. Contract: 4.2, G12. */

const tag = 'Team';
const invitationSchema = named('Invitation', {
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
    'The new member then enrols an authenticator with the setup token. The token proves the address: ' +
    'an account that somebody opened with it and never verified is closed.',
  tag,
  envelope: 'A',
  body: Type.Object({ token: tokenBody, password: passwordSchema, displayName: line(100, 'Name of the person.') }),
  success: {
    status: 200,
    schema: Type.Object({ requiresTotpSetup: Type.Literal(true), setupToken: Type.String() }),
    description: 'Go on with 2fa/setup.',
  },
  errors: ['INVALID_INVITATION'],
  async answer({ body, ...from }, deps) {
    const { db, config } = deps;
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
      await notifyOfApprover(
        tx,
        deps,
        { id: found.merchant_id, name: found.merchant_name },
        { to: created.email, by: found.inviter_name, before: nobody, after: created },
      );
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
    requireFactor(body);
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
): Promise<string> =>
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
