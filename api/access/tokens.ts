import { errors, jwtVerify, SignJWT } from 'jose';
import { newId } from '../../domain/ids';
import { signingKeys } from '../../db/sealing';

/** Tokens of our own: one algorithm, and an audience per purpose, so that none serves for another. Invariants: 7,
 *  Sessions. */

const algorithm = 'HS256';
const issuer = 'crypto-payments';
/** Clocks of two machines may differ by this much. */
const skewSeconds = 5;

const lifetimes = { access: 15 * 60, refresh: 7 * 86_400, setup: 5 * 60, confirm: 5 * 60, totp: 5 * 60 } as const;
export type Purpose = keyof typeof lifetimes;
export const lifetimeOf = (purpose: Purpose): number => lifetimes[purpose];

/** What each purpose says beside its subject, the user's id. */
type Claims = {
  access: { sid: string; ver: number };
  refresh: { sid: string; gen: number };
  setup: { ver: number };
  confirm: { ver: number; sealed: string };
  totp: { ver: number };
};
export type Token<P extends Purpose> = Readonly<{ userId: string; id: string; expiresAt: Date } & Claims[P]>;

/** A signed token. `issuedAt`: now, unless the same token must come out again. */
export function signToken<P extends Purpose>(
  secretsKey: string,
  purpose: P,
  userId: string,
  claims: Claims[P],
  { issuedAt = new Date(), id = newId() }: { issuedAt?: Date; id?: string } = {},
): Promise<string> {
  const at = Math.floor(issuedAt.getTime() / 1000);
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(purpose)
    .setSubject(userId)
    .setJti(id)
    .setIssuedAt(at)
    .setExpirationTime(at + lifetimes[purpose])
    .sign(signingKeys(secretsKey)[0]);
}

/** What a token says; null where it is not one of ours, not for this purpose, or over. */
export async function readToken<P extends Purpose>(
  secretsKey: string,
  purpose: P,
  token: string,
): Promise<Token<P> | null> {
  if (token.length > 4096) return null;
  for (const key of signingKeys(secretsKey)) {
    const read = await readWith(key, purpose, token);
    if (read) return read;
  }
  return null;
}

async function readWith<P extends Purpose>(key: Uint8Array, purpose: P, token: string): Promise<Token<P> | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      issuer,
      audience: purpose,
      clockTolerance: skewSeconds,
      requiredClaims: ['sub', 'jti', 'exp', 'iat'],
    });
    const { sub, jti, exp, ...claims } = payload;
    return { userId: sub!, id: jti!, expiresAt: new Date(exp! * 1000), ...(claims as unknown as Claims[P]) };
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
