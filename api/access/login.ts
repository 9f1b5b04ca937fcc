import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { backupCodesOf, noteWrongFactor, spendBackupCode } from '../../db/access/factors';
import { passkeysOf } from '../../db/access/passkeys';
import { findUserByEmail, normalEmail, type UserRow } from '../../db/access/users';
import { isSameBackupCode } from './backup-codes';
import { evenly } from './even';
import { takeGuess } from './password-guesses';
import { compareWithNothing, isSecret } from './passwords';
import { takeTotp } from './step-up';
import { signToken } from './tokens';
import { userSchema } from './users';
import { route } from '../http/route';
import { emailSchema, passwordSchema } from '../http/schemas';
import { refusalOf, refuse, secondStep, tag, token } from './login-steps';

/** Signing in by a password, then an authenticator or a backup code. Contract: 4.1, 5.4, G13. */

export const login = route({
  name: 'login',
  method: 'post',
  path: '/api/v1/auth/login',
  summary: 'Check a password',
  description:
    'Answers what comes next: a second factor, its enrolment, or the confirmation of the e-mail address. Wrong ' +
    'passwords in a browser where a login was completed before (cookie `svc_device`) count there; all other browsers ' +
    'share a count.',
  tag,
  envelope: 'B',
  body: Type.Object({ email: emailSchema, password: passwordSchema }),
  success: {
    status: 200,
    schema: Type.Object({
      requiresTotp: Type.Optional(Type.Literal(true)),
      totpToken: Type.Optional(Type.String({ description: 'For the second factor; 5 minutes, once.' })),
      methods: Type.Optional(Type.Array(Type.String({ enum: ['totp', 'passkey', 'backup'] }))),
      requiresTotpSetup: Type.Optional(Type.Literal(true)),
      setupToken: Type.Optional(Type.String({ description: 'For the enrolment; 5 minutes, once.' })),
      requiresVerification: Type.Optional(Type.Literal(true)),
      email: Type.Optional(Type.String()),
    }),
    description: 'The password is right.',
  },
  errors: ['INVALID_CREDENTIALS', 'ACCOUNT_SUSPENDED', 'REGISTRATION_WAITING', 'RATE_LIMITED'],
  answer: ({ body, ip, request }, { db, config, limits }) =>
    evenly(config.EVEN_ANSWER_MS, async () => {
      const email = normalEmail(body.email);
      const guess = await takeGuess({ db, config, limits }, { email, ip, request });
      const user = await findUserByEmail(db, email);
      if (!user) await compareWithNothing(body.password);
      if (!user || !(await isSecret(user.password_hash, body.password))) throw new DomainError('INVALID_CREDENTIALS');
      await guess.forgive();
      const refusal = await refusalOf(db, user);
      // Whose registration waits confirms the address meanwhile.
      if (refusal && !(refusal === 'REGISTRATION_WAITING' && !user.email_verified_at)) throw new DomainError(refusal);
      if (!user.email_verified_at) return { data: { requiresVerification: true, email } };
      const { SECRETS_KEY } = config;
      const claims = { ver: user.session_version };
      if (!user.totp_enabled_at)
        return {
          data: { requiresTotpSetup: true, setupToken: await signToken(SECRETS_KEY, 'setup', user.id, claims) },
        };
      const methods = ['totp', ...((await passkeysOf(db, user.id)).length ? ['passkey'] : []), 'backup'];
      return {
        data: { requiresTotp: true, totpToken: await signToken(SECRETS_KEY, 'totp', user.id, claims), methods },
      };
    }),
});

export const validateTotp = route({
  name: 'validateTotp',
  method: 'post',
  path: '/api/v1/auth/2fa/validate',
  summary: 'Sign in by an authenticator or backup code',
  tag,
  envelope: 'B',
  body: Type.Object({
    totpToken: token,
    code: Type.String({ pattern: '^([0-9]{6}|[0-9a-fA-F]{16})$', description: '6 digits, or a backup code.' }),
  }),
  success: { status: 200, schema: userSchema, headers: ['Set-Cookie'], description: 'Signed in: the cookies are set.' },
  errors: ['INVALID_TOKEN', 'INVALID_CODE', 'FACTOR_LOCKED', 'TOTP_MISCONFIGURED'],
  answer: ({ body, ...from }, deps) =>
    secondStep(deps, body.totpToken, from, async (tx, user) => {
      if (body.code.length !== 6)
        return (await takeBackupCode(tx, user, body.code.toLowerCase())) ? 'backup' : refuse('INVALID_CODE');
      const refusal = await takeTotp(tx, deps.config.SECRETS_KEY, user, body.code);
      if (!refusal) return 'totp';
      return refuse(refusal.code === 'TOTP_MISCONFIGURED' ? 'TOTP_MISCONFIGURED' : 'INVALID_CODE');
    }),
});

async function takeBackupCode(tx: EntityManager, user: UserRow, code: string): Promise<boolean> {
  for (const one of await backupCodesOf(tx, user.id))
    if (await isSameBackupCode(one.code_hash, code)) return spendBackupCode(tx, one.id);
  await noteWrongFactor(tx, user.id, 'backup');
  return false;
}
