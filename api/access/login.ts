import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { recordAct } from '../../db/access/audit-log';
import {
  backupCodesOf,
  lockedFor,
  noteWrongFactor,
  replaceBackupCodes,
  spendBackupCode,
} from '../../db/access/factors';
import { findMerchant } from '../../db/access/merchants';
import { approvalOf } from '../../db/operators/registrations';
import type { Queryable } from '../../db/query';
import { passkeysOf } from '../../db/access/passkeys';
import { openSealed, seal } from '../../db/sealing';
import { isOpen, spendToken } from '../../db/access/sessions';
import {
  enableTotp,
  findUser,
  findUserByEmail,
  lockUser,
  normalEmail,
  voidSessions,
  type UserRow,
} from '../../db/access/users';
import { hashedBackupCodes, isSameBackupCode } from './backup-codes';
import { evenly } from './even';
import { authenticationOptions, readAuthentication } from './passkeys';
import { takeGuess } from './password-guesses';
import { compareWithNothing, isSecret } from './passwords';
import {
  accessCookie,
  cookieOf,
  noCookies,
  refreshCookie,
  refreshSession as exchange,
  rememberBrowser,
  signIn,
} from './sessions';
import { takeTotp } from './step-up';
import { newTotpSecret, qrCodeOf, stepOfCode } from './totp';
import { readToken, signToken, type Purpose, type Token } from './tokens';
import { actorOf, presentUser, shownUser, userSchema } from './users';
import type { ApiDeps } from '../http/deps';
import { checkOrigin } from '../http/origins';
import { route } from '../http/route';
import { emailSchema, passwordSchema, time } from '../http/schemas';

/** Signing in: a password, then a second factor; or a passkey alone. Contract: 4.1, 5.4, G13. */

const tag = 'Authentication';
const issuer = 'Crypto payments';
const token = Type.String({ maxLength: 4096 });
const passkeyFields = {
  passkeyResponse: Type.Unsafe<object>({ type: 'object', description: 'WebAuthn assertion.' }),
  challengeKey: Type.String({ maxLength: 100 }),
};

type From = Readonly<{
  ip: string;
  requestId: string;
  header: (name: string) => string | undefined;
  request: IncomingMessage;
}>;

/** Signs `user` in and answers with the user object and the cookies. */
async function admitted(tx: EntityManager, { config }: Pick<ApiDeps, 'config'>, user: UserRow, from: From, by: string) {
  const cookies = await signIn(tx, config, {
    userId: user.id,
    ip: from.ip,
    userAgent: from.header('user-agent') ?? '',
  });
  const device = await rememberBrowser(tx, config, user.id, from.request);
  await recordAct(tx, actorOf(user, from), {
    merchantId: user.merchant_id,
    action: 'user.signed_in',
    target: user.id,
    after: { by },
  });
  const [fresh, merchant, passkeys] = [
    await findUser(tx, user.id),
    user.merchant_id === null ? null : await findMerchant(tx, user.merchant_id),
    await passkeysOf(tx, user.id),
  ];
  return {
    data: presentUser(shownUser(fresh!, passkeys.length > 0), merchant),
    headers: { 'Set-Cookie': [...cookies, device] },
  };
}

/** The user of a login's step, their row locked; null where the token is void or the user may not sign in. */
async function userOfStep(
  tx: EntityManager,
  step: Token<'setup' | 'confirm' | 'totp'> | null,
): Promise<UserRow | null> {
  const user = step && (await lockUser(tx, step.userId));
  if (!user?.is_active || user.session_version !== step!.ver) return null;
  const merchant = user.merchant_id === null ? null : await findMerchant(tx, user.merchant_id);
  return merchant && merchant.status !== 'active' ? null : user;
}

/** Why somebody who proved who they are may not sign in; null: they may. */
async function whyNot(
  db: Queryable,
  user: Pick<UserRow, 'is_active' | 'merchant_id'>,
): Promise<'ACCOUNT_SUSPENDED' | 'REGISTRATION_WAITING' | null> {
  const merchant = user.merchant_id === null ? null : await findMerchant(db, user.merchant_id);
  if (user.is_active && merchant?.status !== 'suspended') return null;
  const isWaiting = user.is_active && (await approvalOf(db, user.merchant_id!)) === 'waiting';
  return isWaiting ? 'REGISTRATION_WAITING' : 'ACCOUNT_SUSPENDED';
}

/** What a step comes to, inside its transaction: an answer, or a refusal whose counting must be kept. */
type Outcome<T> = T | { refuse: DomainError };
async function settle<T extends object>(deps: ApiDeps, act: (tx: EntityManager) => Promise<Outcome<T>>): Promise<T> {
  const outcome = await deps.db.transaction(act);
  if ('refuse' in outcome) throw outcome.refuse;
  return outcome;
}
const refuse = (code: ConstructorParameters<typeof DomainError>[0], retryAfterSeconds?: number) => ({
  refuse: new DomainError(code, undefined, retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

const readStep = <P extends Purpose>(deps: ApiDeps, purpose: P, text: string): Promise<Token<P> | null> =>
  readToken(deps.config.SECRETS_KEY, purpose, text);

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
    evenly(async () => {
      const email = normalEmail(body.email);
      const guess = await takeGuess({ db, config, limits }, { email, ip, request });
      const user = await findUserByEmail(db, email);
      if (!user) await compareWithNothing(body.password);
      if (!user || !(await isSecret(user.password_hash, body.password))) throw new DomainError('INVALID_CREDENTIALS');
      await guess.forgive();
      const refusal = await whyNot(db, user);
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

export const startTotpSetup = route({
  name: 'startTotpSetup',
  method: 'post',
  path: '/api/v1/auth/2fa/setup',
  summary: 'Begin the enrolment of an authenticator',
  tag,
  envelope: 'B',
  body: Type.Object({ setupToken: token }),
  success: {
    status: 200,
    schema: Type.Object({
      qrCode: Type.String({ description: 'SVG image as a data URL.' }),
      manualKey: Type.String({ description: 'The secret in base32.' }),
      confirmToken: Type.String({ description: 'For 2fa/verify-setup; 5 minutes, once.' }),
    }),
    description: 'A secret for an authenticator: RFC 6238, SHA-1, 6 digits, 30 s.',
  },
  errors: ['INVALID_TOKEN'],
  async answer({ body }, deps) {
    const step = await readStep(deps, 'setup', body.setupToken);
    return settle(deps, async (tx) => {
      const user = await userOfStep(tx, step);
      if (!user || user.totp_enabled_at || !(await spendToken(tx, step!.id, step!.expiresAt)))
        return refuse('INVALID_TOKEN');
      const { SECRETS_KEY } = deps.config;
      const secret = newTotpSecret();
      const confirmToken = await signToken(SECRETS_KEY, 'confirm', user.id, {
        ver: user.session_version,
        sealed: seal(SECRETS_KEY, secret),
      });
      return { data: { qrCode: qrCodeOf(secret, user.email, issuer), manualKey: secret, confirmToken } };
    });
  },
});

export const verifyTotpSetup = route({
  name: 'verifyTotpSetup',
  method: 'post',
  path: '/api/v1/auth/2fa/verify-setup',
  summary: 'Finish the enrolment of an authenticator and sign in',
  tag,
  envelope: 'B',
  body: Type.Object({ confirmToken: token, code: Type.String({ pattern: '^[0-9]{6}$' }) }),
  success: {
    status: 200,
    schema: Type.Object({
      ...userSchema.properties,
      backupCodes: Type.Array(Type.String(), { description: 'Each serves once, at login only; shown this once.' }),
    }),
    description: 'Signed in: the cookies are set.',
  },
  errors: ['INVALID_TOKEN', 'INVALID_CODE', 'FACTOR_LOCKED'],
  async answer({ body, ...from }, deps) {
    const step = await readStep(deps, 'confirm', body.confirmToken);
    if (!step) throw new DomainError('INVALID_TOKEN');
    const { codes, hashes } = await hashedBackupCodes();
    return settle(deps, async (tx) => {
      const user = await userOfStep(tx, step);
      if (!user || user.totp_enabled_at) return refuse('INVALID_TOKEN');
      const locked = await lockedFor(tx, user.id);
      if (locked > 0) return refuse('FACTOR_LOCKED', locked);
      const at = await stepOfCode(tx, openSealed(deps.config.SECRETS_KEY, step.sealed), body.code, 0);
      if (at === null) {
        await noteWrongFactor(tx, user.id, 'totp');
        return refuse('INVALID_CODE');
      }
      if (!(await spendToken(tx, step.id, step.expiresAt))) return refuse('INVALID_TOKEN');
      await enableTotp(tx, user.id, step.sealed, at);
      await replaceBackupCodes(tx, user.id, hashes);
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchant_id,
        action: 'user.totp_enrolled',
        target: user.id,
      });
      const answer = await admitted(tx, deps, user, from, 'enrolment');
      return { ...answer, data: { ...answer.data, backupCodes: codes } };
    });
  },
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
  success: { status: 200, schema: userSchema, description: 'Signed in: the cookies are set.' },
  errors: ['INVALID_TOKEN', 'INVALID_CODE', 'FACTOR_LOCKED', 'TOTP_MISCONFIGURED'],
  async answer({ body, ...from }, deps) {
    const step = await readStep(deps, 'totp', body.totpToken);
    return settle(deps, async (tx) => {
      const user = await userOfStep(tx, step);
      if (!user) return refuse('INVALID_TOKEN');
      const locked = await lockedFor(tx, user.id);
      if (locked > 0) return refuse('FACTOR_LOCKED', locked);
      if (body.code.length === 6) {
        const refusal = await takeTotp(tx, deps.config.SECRETS_KEY, user, body.code);
        if (refusal) return refuse(refusal.code === 'TOTP_MISCONFIGURED' ? 'TOTP_MISCONFIGURED' : 'INVALID_CODE');
      } else if (!(await takeBackupCode(tx, user, body.code.toLowerCase()))) return refuse('INVALID_CODE');
      if (!(await spendToken(tx, step!.id, step!.expiresAt))) return refuse('INVALID_TOKEN');
      return admitted(tx, deps, user, from, body.code.length === 6 ? 'totp' : 'backup');
    });
  },
});

async function takeBackupCode(tx: EntityManager, user: UserRow, code: string): Promise<boolean> {
  for (const one of await backupCodesOf(tx, user.id))
    if (await isSameBackupCode(one.code_hash, code)) return spendBackupCode(tx, one.id);
  await noteWrongFactor(tx, user.id, 'backup');
  return false;
}

export const passkeyLoginOptions = route({
  name: 'passkeyLoginOptions',
  method: 'post',
  path: '/api/v1/auth/passkey/login-options',
  summary: 'What a browser needs to sign in by passkey',
  description: 'For passwordless login and for the second step of a login alike. Names no credentials.',
  tag,
  envelope: 'B',
  body: Type.Object({ email: Type.Optional(Type.String({ maxLength: 254 })) }),
  success: {
    status: 200,
    schema: Type.Object({ options: Type.Unknown(), challengeKey: Type.String() }),
    description: 'WebAuthn request options; the challenge serves once, for 5 minutes.',
  },
  errors: [],
  answer: async (_call, { db, config }) => ({
    data: await authenticationOptions(db, config, { userId: null, action: 'login' }),
  }),
});

export const passkeyLogin = route({
  name: 'passkeyLogin',
  method: 'post',
  path: '/api/v1/auth/passkey/login-verify',
  summary: 'Sign in by passkey alone',
  tag,
  envelope: 'B',
  body: Type.Object(passkeyFields),
  success: { status: 200, schema: userSchema, description: 'Signed in: the cookies are set.' },
  errors: ['PASSKEY_REFUSED', 'ACCOUNT_SUSPENDED', 'REGISTRATION_WAITING'],
  answer: ({ body, ...from }, deps) =>
    settle(deps, async (tx) => {
      const passkey = await readLogin(tx, deps, body);
      const user = passkey && (await lockUser(tx, passkey.user_id));
      if (!user) return refuse('PASSKEY_REFUSED');
      const refusal = await whyNot(tx, user);
      if (refusal) return refuse(refusal);
      return admitted(tx, deps, user, from, 'passkey');
    }),
});

export const validatePasskey = route({
  name: 'validatePasskey',
  method: 'post',
  path: '/api/v1/auth/2fa/validate-passkey',
  summary: 'Sign in by passkey after the password',
  tag,
  envelope: 'B',
  body: Type.Object({ totpToken: token, ...passkeyFields }),
  success: { status: 200, schema: userSchema, description: 'Signed in: the cookies are set.' },
  errors: ['INVALID_TOKEN', 'PASSKEY_REFUSED', 'FACTOR_LOCKED'],
  async answer({ body, ...from }, deps) {
    const step = await readStep(deps, 'totp', body.totpToken);
    return settle(deps, async (tx) => {
      const user = await userOfStep(tx, step);
      if (!user) return refuse('INVALID_TOKEN');
      const locked = await lockedFor(tx, user.id);
      if (locked > 0) return refuse('FACTOR_LOCKED', locked);
      const passkey = await readLogin(tx, deps, body);
      if (passkey?.user_id !== user.id) {
        await noteWrongFactor(tx, user.id, 'passkey');
        return refuse('PASSKEY_REFUSED');
      }
      if (!(await spendToken(tx, step!.id, step!.expiresAt))) return refuse('INVALID_TOKEN');
      return admitted(tx, deps, user, from, 'password and passkey');
    });
  },
});

const readLogin = (
  tx: EntityManager,
  { config }: ApiDeps,
  body: Readonly<{ passkeyResponse: object; challengeKey: string }>,
) =>
  readAuthentication(tx, config, {
    userId: null,
    action: 'login',
    challengeKey: body.challengeKey,
    response: body.passkeyResponse,
  });

export const refreshSession = route({
  name: 'refreshSession',
  method: 'post',
  path: '/api/v1/auth/refresh',
  summary: 'Exchange the refresh token',
  description: `Reads the cookie \`${refreshCookie}\`, and no cookie beside an Authorization header. A token that comes back after its exchange ends the session.`,
  tag,
  envelope: 'B',
  success: {
    status: 200,
    schema: Type.Object({ success: Type.Literal(true), expiresAt: time }),
    description: 'Both cookies are new; `expiresAt` is the access token’s.',
  },
  errors: ['INVALID_TOKEN', 'CSRF_ORIGIN_MISMATCH'],
  async answer({ request }, { db, config }) {
    const isCookie = request.headers.authorization === undefined;
    const given = isCookie ? cookieOf(request, refreshCookie) : undefined;
    if (given === undefined) throw new DomainError('INVALID_TOKEN');
    checkOrigin(request, config);
    const next = await exchange(db, config, given);
    if (!next) throw new DomainError('INVALID_TOKEN');
    return {
      data: { success: true, expiresAt: next.expiresAt.toISOString() },
      headers: { 'Set-Cookie': next.cookies },
    };
  },
});

export const logout = route({
  name: 'logout',
  method: 'post',
  path: '/api/v1/auth/logout',
  summary: 'Sign out everywhere',
  description: 'Every token of the user made so far is void. Without a session it only removes the cookies.',
  tag,
  envelope: 'B',
  success: { status: 200, schema: Type.Object({ success: Type.Literal(true) }), description: 'Signed out.' },
  errors: ['CSRF_ORIGIN_MISMATCH'],
  async answer({ request, ...from }, deps) {
    const { config, db, sessions } = deps;
    const bearer = /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const isCookie = request.headers.authorization === undefined;
    const access = isCookie ? cookieOf(request, accessCookie) : bearer;
    const refresh = isCookie ? cookieOf(request, refreshCookie) : undefined;
    if (isCookie && (access ?? refresh) !== undefined) checkOrigin(request, config);
    const read =
      (access && (await readStep(deps, 'access', access))) || (refresh && (await readStep(deps, 'refresh', refresh)));
    if (read) {
      await db.transaction(async (tx) => {
        const user = await lockUser(tx, read.userId);
        // A token that was void already must not sign out those who came after it.
        if (!user || !(await isOpen(tx, read.sid))) return;
        await voidSessions(tx, user.id);
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchant_id,
          action: 'user.signed_out',
          target: user.id,
        });
      });
      sessions.forget();
    }
    return { data: { success: true }, headers: { 'Set-Cookie': noCookies(config) } };
  },
});
