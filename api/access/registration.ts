import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { passwordChangedMail, resetMail, verificationMail } from '../../domain/mail/mail';
import { fiatDecimals } from '../../domain/pricing/quote';
import { recordAct } from '../../db/access/audit-log';
import {
  lockedFor,
  newEmailCode,
  newResetToken,
  noteWrongFactor,
  spendEmailCode,
  spendResetToken,
} from '../../db/access/factors';
import { queueMail, storeMail } from '../../db/mail/mail';
import { spendInviteCode, type InviteCodeRow } from '../../db/access/invite-codes';
import { createMerchant } from '../../db/access/merchants';
import { randomBase62 } from '../../db/sealing';
import { isSwitchedOn } from '../../db/access/switches';
import {
  createUser,
  findUserByEmail,
  lockUser,
  markVerified,
  normalEmail,
  recordConsent,
  setPassword,
  voidSessions,
} from '../../db/access/users';
import { evenly } from './even';
import { checkPassword, hashSecret } from './passwords';
import { sendNow } from './send-now';
import { rememberBrowser } from './sessions';
import { actorOf } from './users';
import { route } from '../http/route';
import { emailSchema, line, passwordSchema } from '../http/schemas';

/** From nothing to an account that can sign in, and back into one whose password is lost. No answer tells whether an
 *  e-mail address is known. Contract: 4.1. */

const tag = 'Authentication';
const verifyEmailAction = 'verify_email';
const reported = Type.Object({ success: Type.Boolean(), message: Type.String() });
/** Thrown inside a transaction to leave nothing of it: the e-mail address is taken. */
class Taken extends Error {}

/** The invitation code of the text, one use of which is counted; null where none is needed. Throws INVALID_INVITE_CODE,
 *  REGISTRATION_CLOSED. */
async function inviteOf(
  tx: EntityManager,
  { SECRETS_KEY }: Pick<Config, 'SECRETS_KEY'>,
  code: string | undefined,
): Promise<InviteCodeRow | null> {
  const invite = code === undefined ? null : await spendInviteCode(tx, SECRETS_KEY, code);
  if (code !== undefined && !invite) throw new DomainError('INVALID_INVITE_CODE');
  if (!invite && !(await isSwitchedOn(tx, 'registration'))) throw new DomainError('REGISTRATION_CLOSED');
  return invite;
}

type Wanted = Readonly<{
  email: string;
  passwordHash: string;
  displayName?: string;
  merchantName?: string;
  displayCurrency?: string;
  invite: InviteCodeRow | null;
}>;

/** A merchant with its first admin, and the mail that confirms the address. Throws Taken. */
async function open(
  tx: EntityManager,
  config: Config,
  wanted: Wanted,
  from: Readonly<{ ip: string; requestId: string }>,
) {
  const email = normalEmail(wanted.email);
  const displayName = wanted.displayName?.trim() || email;
  const { invite } = wanted;
  const merchant = await createMerchant(tx, {
    secretsKey: config.SECRETS_KEY,
    name: wanted.merchantName?.trim() || displayName,
    displayCurrency: wanted.displayCurrency,
    feeBps: invite?.fee_bps ?? undefined,
    isWaiting: !invite?.skips_approval && !(await isSwitchedOn(tx, 'unapproved-registration')),
    inviteCodeId: invite?.id,
  });
  const user = await createUser(tx, {
    email,
    displayName,
    role: 'merchant_admin',
    merchantId: merchant.id,
    passwordHash: wanted.passwordHash,
  });
  if (!user) throw new Taken();
  await recordConsent(tx, user.id, { terms: config.TERMS_VERSION, privacy: config.PRIVACY_VERSION }, from.ip);
  await recordAct(tx, actorOf(user, from), {
    merchantId: merchant.id,
    action: 'user.registered',
    target: user.id,
    after: invite ? { inviteCode: invite.id } : null,
  });
  const { code } = await newEmailCode(tx, config.SECRETS_KEY, user.id, verifyEmailAction);
  const message = verificationMail(email, code);
  return { id: await storeMail(tx, config.SECRETS_KEY, message), ...message };
}

export const register = route({
  name: 'register',
  method: 'post',
  path: '/api/v1/auth/register',
  summary: 'Register a merchant and its first admin',
  description: 'The answer is the same whether or not the e-mail address is registered.',
  tag,
  envelope: 'B',
  body: Type.Object({
    email: emailSchema,
    password: passwordSchema,
    acceptedTerms: Type.Literal(true, {
      description: 'Consent; recorded with the versions, the time and the address.',
    }),
    displayName: Type.Optional(line(100, 'Name of the person; the e-mail address unless given.')),
    merchantName: Type.Optional(line(100, 'Name of the merchant; the display name unless given.')),
    displayCurrency: Type.Optional(Type.String({ enum: Object.keys(fiatDecimals) })),
    inviteCode: Type.Optional(
      line(
        60,
        'Opens a registration that is off, or that would wait for an operator. Each try with it counts as a use.',
      ),
    ),
  }),
  success: {
    status: 200,
    schema: Type.Object({ requiresVerification: Type.Literal(true), email: Type.String() }),
    description: 'A verification code is on its way.',
  },
  errors: ['VERIFICATION_EMAIL_NOT_SENT', 'REGISTRATION_CLOSED', 'INVALID_INVITE_CODE'],
  answer: ({ body, ip, requestId }, deps) =>
    evenly(2 * deps.config.EVEN_ANSWER_MS, async () => {
      if (body.inviteCode === undefined && !(await isSwitchedOn(deps.db, 'registration')))
        throw new DomainError('REGISTRATION_CLOSED');
      checkPassword(body.password);
      const passwordHash = await hashSecret(body.password);
      const mail = await deps.db.transaction(async (tx) => {
        const invite = await inviteOf(tx, deps.config, body.inviteCode);
        // In a part of its own: a use of the code counts whether or not the e-mail address is free, or it would tell.
        return tx
          .transaction((inner) => open(inner, deps.config, { ...body, passwordHash, invite }, { ip, requestId }))
          .catch((error: unknown) => {
            if (error instanceof Taken) return null;
            throw error;
          });
      });
      const email = normalEmail(body.email);
      // The one mail whose failure its reader must be told at once; it is kept, as the account is.
      if (mail && !(await sendNow(deps, mail, 'keep'))) throw new DomainError('VERIFICATION_EMAIL_NOT_SENT');
      return { data: { requiresVerification: true, email } };
    }),
});

export const verifyEmail = route({
  name: 'verifyEmail',
  method: 'post',
  path: '/api/v1/auth/verify-email',
  summary: 'Confirm an e-mail address by its code',
  tag,
  envelope: 'B',
  body: Type.Object({ email: emailSchema, code: Type.String({ maxLength: 20 }) }),
  success: { status: 200, schema: reported, description: 'Confirmed; sign in now.' },
  errors: ['INVALID_VERIFICATION_CODE'],
  answer: ({ body, ip, requestId }, { db, config }) =>
    evenly(config.EVEN_ANSWER_MS, async () => {
      const isVerified = await db.transaction(async (tx) => {
        const known = await findUserByEmail(tx, body.email);
        const user = known && (await lockUser(tx, known.id));
        if (!user || user.email_verified_at || (await lockedFor(tx, user.id)) > 0) return false;
        const verdict = await spendEmailCode(tx, config.SECRETS_KEY, user.id, verifyEmailAction, body.code);
        if (verdict !== 'spent') {
          await noteWrongFactor(tx, user.id, 'verification');
          return false;
        }
        await markVerified(tx, user.id);
        await recordAct(tx, actorOf(user, { ip, requestId }), {
          merchantId: user.merchant_id,
          action: 'user.verified',
          target: user.id,
        });
        return true;
      });
      if (!isVerified) throw new DomainError('INVALID_VERIFICATION_CODE');
      return { data: { success: true, message: 'Email verified' } };
    }),
});

export const resendVerification = route({
  name: 'resendVerification',
  method: 'post',
  path: '/api/v1/auth/resend-verification',
  summary: 'Send another verification code',
  description: 'Always reports success. The newest code is the only one that counts.',
  tag,
  envelope: 'B',
  body: Type.Object({ email: emailSchema }),
  success: { status: 200, schema: reported, description: 'If the address waits for a code, one is on its way.' },
  errors: [],
  answer: ({ body }, { db, config }) =>
    evenly(config.EVEN_ANSWER_MS, async () => {
      await db.transaction(async (tx) => {
        const known = await findUserByEmail(tx, body.email);
        const user = known && (await lockUser(tx, known.id));
        if (!user || user.email_verified_at) return;
        const { code } = await newEmailCode(tx, config.SECRETS_KEY, user.id, verifyEmailAction);
        await queueMail(tx, config.SECRETS_KEY, verificationMail(user.email, code));
      });
      return { data: { success: true, message: 'If the address waits for a code, one is on its way' } };
    }),
});

export const forgotPassword = route({
  name: 'forgotPassword',
  method: 'post',
  path: '/api/v1/auth/forgot-password',
  summary: 'Mail a link that resets the password',
  description: 'Always reports success. The link is valid for 15 minutes and serves once.',
  tag,
  envelope: 'B',
  body: Type.Object({ email: emailSchema }),
  success: { status: 200, schema: reported, description: 'If the address is registered, a link is on its way.' },
  errors: [],
  answer: ({ body, ip, requestId }, { db, config }) =>
    evenly(config.EVEN_ANSWER_MS, async () => {
      await db.transaction(async (tx) => {
        const known = await findUserByEmail(tx, body.email);
        const user = known && (await lockUser(tx, known.id));
        if (!user?.is_active) return;
        const token = randomBase62(64);
        await newResetToken(tx, config.SECRETS_KEY, user.id, token);
        await queueMail(tx, config.SECRETS_KEY, resetMail(user.email, token, { dashboardUrl: config.DASHBOARD_URL }));
        await recordAct(tx, actorOf(null, { ip, requestId }), {
          merchantId: user.merchant_id,
          action: 'user.reset_requested',
          target: user.id,
        });
      });
      return { data: { success: true, message: 'If the address is registered, a link is on its way' } };
    }),
});

export const resetPassword = route({
  name: 'resetPassword',
  method: 'post',
  path: '/api/v1/auth/reset-password',
  summary: 'Set a new password by a mailed link',
  description: 'Signs every session of the user out.',
  tag,
  envelope: 'B',
  body: Type.Object({ email: emailSchema, token: Type.String({ maxLength: 200 }), newPassword: passwordSchema }),
  success: {
    status: 200,
    schema: reported,
    headers: ['Set-Cookie'],
    description: 'The password is changed; sign in anew.',
  },
  errors: ['INVALID_RESET_TOKEN'],
  answer: ({ body, ip, requestId, request }, { db, config, sessions }) =>
    evenly(config.EVEN_ANSWER_MS, async () => {
      checkPassword(body.newPassword, 'newPassword');
      const passwordHash = await hashSecret(body.newPassword);
      const device = await db.transaction(async (tx) => {
        const known = await findUserByEmail(tx, body.email);
        const user = known && (await lockUser(tx, known.id));
        if (!user || !(await spendResetToken(tx, config.SECRETS_KEY, user.id, body.token))) return null;
        await setPassword(tx, user.id, passwordHash);
        await markVerified(tx, user.id); // the link proves the address
        await voidSessions(tx, user.id);
        await queueMail(tx, config.SECRETS_KEY, passwordChangedMail(user.email));
        await recordAct(tx, actorOf(user, { ip, requestId }), {
          merchantId: user.merchant_id,
          action: 'user.password_reset',
          target: user.id,
        });
        // Whoever has the mail can sign in here, though strangers guess at the password.
        return rememberBrowser(tx, config, user.id, request);
      });
      sessions.forget();
      if (!device) throw new DomainError('INVALID_RESET_TOKEN');
      return { data: { success: true, message: 'Password changed' }, headers: { 'Set-Cookie': [device] } };
    }),
});
