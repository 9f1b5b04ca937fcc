import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import { noteWrongFactor } from '../../db/access/factors';
import { lockUser } from '../../db/access/users';
import { authenticationOptions, readAuthentication } from './passkeys';
import { passkeyAssertion } from './step-up';
import { userSchema } from './users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { refusalOf, refuse, secondStep, settle, signedIn, tag, token } from './login-steps';

/** Signing in by a passkey, alone or after the password. Contract: 5.4, G13. */

const passkeyFields = {
  passkeyResponse: passkeyAssertion,
  challengeKey: Type.String({ maxLength: 100 }),
};

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
  success: { status: 200, schema: userSchema, headers: ['Set-Cookie'], description: 'Signed in: the cookies are set.' },
  errors: ['PASSKEY_REFUSED', 'ACCOUNT_SUSPENDED', 'REGISTRATION_WAITING'],
  answer: ({ body, ...from }, deps) =>
    settle(deps, async (tx) => {
      const passkey = await readLogin(tx, deps, body);
      const user = passkey && (await lockUser(tx, passkey.user_id));
      if (!user) return refuse('PASSKEY_REFUSED');
      const refusal = await refusalOf(tx, user);
      if (refusal) return refuse(refusal);
      return signedIn(tx, deps, user, from, 'passkey');
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
  success: { status: 200, schema: userSchema, headers: ['Set-Cookie'], description: 'Signed in: the cookies are set.' },
  errors: ['INVALID_TOKEN', 'PASSKEY_REFUSED', 'FACTOR_LOCKED'],
  answer: ({ body, ...from }, deps) =>
    secondStep(deps, body.totpToken, from, async (tx, user) => {
      const passkey = await readLogin(tx, deps, body);
      if (passkey?.user_id === user.id) return 'password and passkey';
      await noteWrongFactor(tx, user.id, 'passkey');
      return refuse('PASSKEY_REFUSED');
    }),
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
