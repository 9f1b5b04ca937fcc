import { Type } from 'typebox';
import { factorActions, type FactorAction } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { factorMail } from '../../domain/mail/mail';
import { newEmailCode, voidEmailCode } from '../../db/access/factors';
import { storeMail } from '../../db/mail/mail';
import { lockUser } from '../../db/access/users';
import { authenticationOptions } from './passkeys';
import { sendNow } from './send-now';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { time } from '../http/schemas';

/** What a user can prove an act with, and what is sent for it. Contract: 5.4, G13. */

const tag = 'Account';
const action = Type.String({ enum: [...factorActions], description: 'The act that the factor is for.' });
const challenge = Type.Object({ options: Type.Unknown(), challengeKey: Type.String() });
export const codeSent = Type.Object({ sent: Type.Literal(true), expiresAt: time });

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

/** Mails a code for `forAction` to the user. Throws UPSTREAM_UNAVAILABLE where it could not be sent: the code is void
 *  then. */
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
