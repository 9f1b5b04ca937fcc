import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  type VerifiedRegistrationResponse,
} from '@simplewebauthn/server';
import type { EntityManager } from 'typeorm';
import type { Config } from '../../domain/config';
import {
  findPasskey,
  keepChallenge,
  notePasskeyUse,
  passkeysOf,
  takeChallenge,
  type PasskeyRow,
} from '../../db/access/passkeys';
import type { Queryable } from '../../db/query';

/** WebAuthn for the dashboard's origin: exact origin and RP id, user verification, a challenge that serves once. */

type Places = Pick<Config, 'DASHBOARD_URL' | 'SECRETS_KEY'>;
const partyOf = ({ DASHBOARD_URL }: Places) => ({
  expectedOrigin: new URL(DASHBOARD_URL).origin,
  expectedRPID: new URL(DASHBOARD_URL).hostname,
});
const minutes = 60_000;

export type PasskeyOptions = Readonly<{ options: unknown; challengeKey: string }>;

/** What a browser needs to make a passkey for this user. */
export async function registrationOptions(
  db: Queryable,
  config: Places,
  user: Readonly<{ id: string; email: string; displayName: string }>,
): Promise<PasskeyOptions> {
  const known = await passkeysOf(db, user.id);
  const options = await generateRegistrationOptions({
    rpName: 'Crypto payments',
    rpID: partyOf(config).expectedRPID,
    userName: user.email,
    userDisplayName: user.displayName,
    userID: new Uint8Array(Buffer.from(user.id, 'utf8')),
    attestationType: 'none',
    timeout: 5 * minutes,
    excludeCredentials: known.map((passkey) => ({ id: passkey.credential_id, transports: passkey.transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const challenge = { challenge: options.challenge, userId: user.id, action: 'register' };
  return { options, challengeKey: await keepChallenge(db, config.SECRETS_KEY, challenge) };
}

/** The credential that a browser made for the challenge; null where it does not hold. */
export async function readRegistration(
  tx: EntityManager,
  config: Places,
  answer: Readonly<{ userId: string; challengeKey: string; response: unknown }>,
): Promise<NonNullable<VerifiedRegistrationResponse['registrationInfo']>['credential'] | null> {
  const expectedChallenge = await takeChallenge(tx, config.SECRETS_KEY, {
    key: answer.challengeKey,
    userId: answer.userId,
    action: 'register',
  });
  if (!expectedChallenge) return null;
  const verified = await orNull(
    verifyRegistrationResponse({
      response: answer.response as RegistrationResponseJSON,
      expectedChallenge,
      ...partyOf(config),
      requireUserVerification: true,
    }),
  );
  return verified?.registrationInfo?.credential ?? null;
}

/** What a browser needs to answer with a passkey: of `userId`, or of whoever owns one (null). */
export async function authenticationOptions(
  db: Queryable,
  config: Places,
  { userId, action }: Readonly<{ userId: string | null; action: string }>,
): Promise<PasskeyOptions> {
  const known = userId === null ? [] : await passkeysOf(db, userId);
  const options = await generateAuthenticationOptions({
    rpID: partyOf(config).expectedRPID,
    userVerification: 'required',
    timeout: 5 * minutes,
    allowCredentials: known.map((passkey) => ({ id: passkey.credential_id, transports: passkey.transports })),
  });
  const challenge = { challenge: options.challenge, userId, action };
  return { options, challengeKey: await keepChallenge(db, config.SECRETS_KEY, challenge) };
}

/** The passkey that answered the challenge, its counter moved on; null where the answer does not hold: another user's
 *  or action's challenge, one that was used, another origin, a user handle that names somebody else, a counter that
 *  falls. */
export async function readAuthentication(
  tx: EntityManager,
  config: Places,
  answer: Readonly<{ userId: string | null; action: string; challengeKey: string; response: unknown }>,
): Promise<PasskeyRow | null> {
  const expectedChallenge = await takeChallenge(tx, config.SECRETS_KEY, { ...answer, key: answer.challengeKey });
  const response = answer.response as AuthenticationResponseJSON;
  if (!expectedChallenge || typeof response?.id !== 'string') return null;
  const passkey = await findPasskey(tx, response.id);
  if (!passkey || (answer.userId !== null && passkey.user_id !== answer.userId)) return null;
  if (!isOwn(response.response?.userHandle, passkey)) return null;
  const verified = await orNull(
    verifyAuthenticationResponse({
      response,
      expectedChallenge,
      ...partyOf(config),
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: parseInt(passkey.counter, 10),
      },
    }),
  );
  if (!verified?.verified) return null;
  await notePasskeyUse(tx, passkey.id, verified.authenticationInfo.newCounter);
  return passkey;
}

/** Whether the user that an authenticator names, where it names one, is the owner of the passkey. The library does not
 *  look at it. */
const isOwn = (userHandle: unknown, { user_id }: PasskeyRow): boolean =>
  (userHandle ?? undefined) === undefined || userHandle === Buffer.from(user_id, 'utf8').toString('base64url');

/** The library throws on answers that do not hold; to us each of them is a refusal like any other. */
async function orNull<T>(verification: Promise<T>): Promise<T | null> {
  try {
    return await verification;
  } catch {
    return null;
  }
}
