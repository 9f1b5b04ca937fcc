import { Type } from 'typebox';
import { factorActions, type FactorAction } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { factorMail, passwordChangedMail } from '../../domain/mail/mail';
import { recordAct } from '../../db/access/audit-log';
import { newEmailCode, replaceBackupCodes, voidEmailCode } from '../../db/access/factors';
import { queueMail, storeMail } from '../../db/mail/mail';
import { addPasskey, deletePasskey, passkeyPage } from '../../db/access/passkeys';
import { endSession as end, sessionsOf } from '../../db/access/sessions';
import { findUser, lockUser, setDisplayName, setPassword, voidSessions } from '../../db/access/users';
import { hashedBackupCodes } from './backup-codes';
import { authenticationOptions, readRegistration, registrationOptions } from './passkeys';
import { checkPassword, hashSecret, isSecret } from './passwords';
import { sendNow } from './send-now';
import { signIn } from './sessions';
import { factorProps, withFactor } from './step-up';
import { actorOf, presentUser, userSchema } from './users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { line, nullable, pageOf, paging, passwordSchema, time } from '../http/schemas';

/** What a signed-in user sees and changes of their own. Contract: 4.1, 5.4, G13. */

const tag = 'Account';
const done = Type.Object({ success: Type.Literal(true) });
const idParams = (name: string) => Type.Object({ [name]: Type.String() });
const action = Type.String({ enum: [...factorActions], description: 'The act that the factor is for.' });
const challenge = Type.Object({ options: Type.Unknown(), challengeKey: Type.String() });
export const codeSent = Type.Object({ sent: Type.Literal(true), expiresAt: time });

export const getMe = route({
  name: 'getMe',
  method: 'get',
  path: '/api/v1/auth/me',
  summary: 'Who is signed in',
  tag,
  envelope: 'B',
  success: { status: 200, schema: userSchema, description: 'The user.' },
  errors: [],
  answer: ({ user, merchant }) => ({ data: presentUser(user, merchant) }),
});

export const changeMe = route({
  name: 'changeMe',
  method: 'patch',
  path: '/api/v1/auth/me',
  summary: 'Change the display name',
  tag,
  envelope: 'B',
  body: Type.Object({ displayName: line(100, 'Name of the person.') }),
  success: { status: 200, schema: userSchema, description: 'The user.' },
  errors: [],
  async answer({ body, user, merchant, ...from }, { db, sessions }) {
    const displayName = body.displayName.trim();
    if (!displayName) throw new DomainError('VALIDATION_ERROR', 'displayName must not be blank');
    await db.transaction(async (tx) => {
      await setDisplayName(tx, user.id, displayName);
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchantId,
        action: 'user.renamed',
        target: user.id,
        before: { displayName: user.displayName },
        after: { displayName },
      });
    });
    sessions.forget();
    return { data: presentUser({ ...user, displayName }, merchant) };
  },
});

export const changePassword = route({
  name: 'changePassword',
  method: 'post',
  path: '/api/v1/auth/change-password',
  summary: 'Change the password',
  description: 'Signs every other session of the user out.',
  tag,
  envelope: 'B',
  body: Type.Object({ currentPassword: passwordSchema, newPassword: passwordSchema, ...factorProps }),
  success: { status: 200, schema: done, description: 'Changed; the cookies are new.' },
  errors: ['INVALID_CREDENTIALS'],
  async answer({ body, user, ...from }, deps) {
    const { db, config, sessions } = deps;
    checkPassword(body.newPassword, 'newPassword');
    const row = await findUser(db, user.id);
    if (!row || !(await isSecret(row.password_hash, body.currentPassword)))
      throw new DomainError('INVALID_CREDENTIALS');
    const passwordHash = await hashSecret(body.newPassword);
    const cookies = await withFactor(deps, user, 'password', body, async (tx) => {
      await setPassword(tx, user.id, passwordHash);
      await voidSessions(tx, user.id);
      await queueMail(tx, config.SECRETS_KEY, passwordChangedMail(user.email));
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchantId,
        action: 'user.password_changed',
        target: user.id,
      });
      return signIn(tx, config, { userId: user.id, ip: from.ip, userAgent: from.header('user-agent') ?? '' });
    });
    sessions.forget();
    return { data: { success: true }, headers: { 'Set-Cookie': cookies } };
  },
});

export const listSessions = route({
  name: 'listSessions',
  method: 'get',
  path: '/api/v1/auth/sessions',
  summary: 'List sessions in force',
  tag,
  envelope: 'B',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Type.String(),
          ip: Type.String(),
          userAgent: Type.String(),
          createdAt: time,
          lastUsedAt: time,
          isCurrent: Type.Boolean(),
        }),
      ),
      total: Type.Integer(),
    }),
    description: 'One page, newest first, and how many there are in all.',
  },
  errors: [],
  async answer({ user, query }, { db }) {
    const { items, total } = await sessionsOf(db, user.id, pageOf(query));
    return {
      data: {
        total,
        items: items.map((row) => ({
          id: row.id,
          ip: row.ip,
          userAgent: row.user_agent,
          createdAt: row.created_at.toISOString(),
          lastUsedAt: row.last_used_at.toISOString(),
          isCurrent: row.id === user.sessionId,
        })),
      },
    };
  },
});

export const endSession = route({
  name: 'endSession',
  method: 'delete',
  path: '/api/v1/auth/sessions/{sessionId}',
  summary: 'End a session',
  tag,
  envelope: 'B',
  params: idParams('sessionId'),
  success: { status: 200, schema: done, description: 'Its tokens are void.' },
  errors: ['SESSION_NOT_FOUND'],
  async answer({ params, user, ...from }, { db, sessions }) {
    const sessionId = String(params['sessionId']);
    const hasEnded =
      isId(sessionId) &&
      (await db.transaction(async (tx) => {
        if (!(await end(tx, user.id, sessionId))) return false;
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchantId,
          action: 'user.session_ended',
          target: sessionId,
        });
        return true;
      }));
    if (!hasEnded) throw new DomainError('SESSION_NOT_FOUND');
    sessions.forget();
    return { data: { success: true } };
  },
});

export const regenerateBackupCodes = route({
  name: 'regenerateBackupCodes',
  method: 'post',
  path: '/api/v1/auth/backup-codes/regenerate',
  summary: 'Replace the backup codes',
  tag,
  envelope: 'B',
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: Type.Object({ backupCodes: Type.Array(Type.String()) }),
    description: 'Ten new codes, shown this once; the old ones are void.',
  },
  errors: [],
  async answer({ body, user, ...from }, deps) {
    const { codes, hashes } = await hashedBackupCodes();
    await withFactor(deps, user, 'backup_codes', body, async (tx) => {
      await replaceBackupCodes(tx, user.id, hashes);
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchantId,
        action: 'user.backup_codes_replaced',
        target: user.id,
      });
    });
    return { data: { backupCodes: codes } };
  },
});

const passkeySchema = Type.Object({ id: Type.String(), name: Type.String(), createdAt: time });

export const listPasskeys = route({
  name: 'listPasskeys',
  method: 'get',
  path: '/api/v1/auth/passkeys',
  summary: 'List passkeys',
  tag,
  envelope: 'B',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(Type.Object({ ...passkeySchema.properties, lastUsedAt: nullable(time) })),
      total: Type.Integer(),
    }),
    description: 'One page, oldest first, and how many there are in all.',
  },
  errors: [],
  async answer({ user, query }, { db }) {
    const { items, total } = await passkeyPage(db, user.id, pageOf(query));
    return {
      data: {
        total,
        items: items.map((row) => ({
          id: row.id,
          name: row.name,
          createdAt: row.created_at.toISOString(),
          lastUsedAt: row.last_used_at?.toISOString() ?? null,
        })),
      },
    };
  },
});

export const passkeyRegisterOptions = route({
  name: 'passkeyRegisterOptions',
  method: 'post',
  path: '/api/v1/auth/passkey/register-options',
  summary: 'What a browser needs to make a passkey',
  tag,
  envelope: 'B',
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: challenge,
    description: 'WebAuthn creation options; the challenge serves once, for 5 minutes.',
  },
  errors: [],
  answer: async ({ body, user }, deps) => ({
    data: await withFactor(deps, user, 'passkey', body, (tx) => registrationOptions(tx, deps.config, user)),
  }),
});

export const passkeyRegister = route({
  name: 'passkeyRegister',
  method: 'post',
  path: '/api/v1/auth/passkey/register-verify',
  summary: 'Enrol a passkey',
  tag,
  envelope: 'B',
  body: Type.Object({
    passkeyResponse: Type.Unsafe<object>({ type: 'object', description: 'WebAuthn attestation.' }),
    challengeKey: Type.String({ maxLength: 100 }),
    name: Type.Optional(line(60, 'How its owner calls it.')),
  }),
  success: {
    status: 200,
    schema: Type.Object({ success: Type.Literal(true), passkey: passkeySchema }),
    description: 'Enrolled.',
  },
  errors: ['PASSKEY_REFUSED'],
  async answer({ body, user, ...from }, { db, config, sessions }) {
    const passkey = await db.transaction(async (tx) => {
      await lockUser(tx, user.id);
      const credential = await readRegistration(tx, config, {
        userId: user.id,
        challengeKey: body.challengeKey,
        response: body.passkeyResponse,
      });
      if (!credential) return null;
      const row = await addPasskey(tx, {
        userId: user.id,
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports ?? [],
        name: body.name?.trim() || 'Passkey',
      });
      if (row)
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchantId,
          action: 'user.passkey_added',
          target: row.id,
          after: { name: row.name },
        });
      return row;
    });
    if (!passkey) throw new DomainError('PASSKEY_REFUSED');
    sessions.forget();
    return {
      data: {
        success: true,
        passkey: { id: passkey.id, name: passkey.name, createdAt: passkey.created_at.toISOString() },
      },
    };
  },
});

export const removePasskey = route({
  name: 'removePasskey',
  method: 'delete',
  path: '/api/v1/auth/passkeys/{passkeyId}',
  summary: 'Remove a passkey',
  tag,
  envelope: 'B',
  params: idParams('passkeyId'),
  success: { status: 200, schema: done, description: 'It signs nobody in any more.' },
  errors: ['PASSKEY_NOT_FOUND'],
  async answer({ params, user, ...from }, { db, sessions }) {
    const passkeyId = String(params['passkeyId']);
    const isRemoved =
      isId(passkeyId) &&
      (await db.transaction(async (tx) => {
        const row = await deletePasskey(tx, user.id, passkeyId);
        if (!row) return false;
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchantId,
          action: 'user.passkey_removed',
          target: passkeyId,
          before: { name: row.name },
        });
        return true;
      }));
    if (!isRemoved) throw new DomainError('PASSKEY_NOT_FOUND');
    sessions.forget();
    return { data: { success: true } };
  },
});

export const mfaOptions = route({
  name: 'mfaOptions',
  method: 'get',
  path: '/api/v1/auth/mfa-options',
  summary: 'Second factors that this user can bring',
  tag,
  envelope: 'A',
  success: {
    status: 200,
    schema: Type.Object({ methods: Type.Array(Type.String({ enum: ['email', 'totp', 'passkey'] })) }),
    description: 'Methods.',
  },
  errors: [],
  answer: ({ user }) => ({
    data: { methods: ['email', ...(user.totpEnabled ? ['totp'] : []), ...(user.hasPasskey ? ['passkey'] : [])] },
  }),
});

export const mfaPasskeyOptions = route({
  name: 'mfaPasskeyOptions',
  method: 'post',
  path: '/api/v1/auth/mfa/passkey-options',
  summary: 'What a browser needs to confirm an act by passkey',
  tag,
  envelope: 'A',
  body: Type.Object({ action }),
  success: {
    status: 200,
    schema: challenge,
    description: 'WebAuthn request options, bound to the act; the challenge serves once, for 5 minutes.',
  },
  errors: [],
  answer: async ({ body, user }, { db, config }) => ({
    data: await authenticationOptions(db, config, { userId: user.id, action: body.action }),
  }),
});

/** Mails a code for `forAction` to the user. Throws UPSTREAM_UNAVAILABLE where it could not be sent: the code is void then. */
export async function mailCode(
  deps: ApiDeps,
  user: Readonly<{ id: string; email: string }>,
  forAction: FactorAction,
): Promise<{ sent: true; expiresAt: string }> {
  const { db, config } = deps;
  const { mail, expiresAt } = await db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    const fresh = await newEmailCode(tx, config.SECRETS_KEY, user.id, forAction);
    const message = factorMail(user.email, forAction, fresh.code);
    const id = await storeMail(tx, config.SECRETS_KEY, message);
    return { mail: { id, ...message }, expiresAt: fresh.expiresAt };
  });
  if (!(await sendNow(deps, mail, 'drop'))) {
    await voidEmailCode(db, user.id, forAction);
    throw new DomainError('UPSTREAM_UNAVAILABLE');
  }
  return { sent: true, expiresAt: expiresAt.toISOString() };
}

export const sendMfaCode = route({
  name: 'sendMfaCode',
  method: 'post',
  path: '/api/v1/auth/mfa/send-email-code',
  summary: 'Mail a code that confirms an act',
  tag,
  envelope: 'A',
  body: Type.Object({ action }),
  success: { status: 200, schema: codeSent, description: 'The newest code of an act is the only one that counts.' },
  errors: [],
  answer: async ({ body, user }, deps) => ({
    data: await mailCode(deps, user, body.action as FactorAction),
  }),
});
