import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import type { FactorAction, User } from '../../domain/access/access';
import { DomainError, type ErrorCode } from '../../domain/errors';
import { lockedFor, noteWrongFactor, spendEmailCode, spendTimeStep } from '../../db/access/factors';
import { unlessUndone } from '../../db/retry';
import { openSealed } from '../../db/sealing';
import { lockUser, type UserRow } from '../../db/access/users';
import type { ApiDeps } from '../http/deps';
import { readAuthentication } from './passkeys';
import { stepOfCode } from './totp';

/** The second factor that a session brings with an act: one mechanism for all of them. Contract: 4.10, 5.4, 7.2. */

/** What a passkey answers. Named: the schemas that have it share one model in generated clients. */
export const passkeyAssertion = Type.Unsafe<object>({
  type: 'object',
  title: 'PasskeyAssertion',
  description: 'WebAuthn assertion.',
});
export const factorProps = {
  emailCode: Type.Optional(
    Type.String({ maxLength: 20, description: 'Single-use code that was mailed for this act.' }),
  ),
  totpCode: Type.Optional(Type.String({ pattern: '^[0-9]{6}$', description: 'Authenticator code.' })),
  passkeyResponse: Type.Optional(passkeyAssertion),
  challengeKey: Type.Optional(Type.String({ maxLength: 100, description: 'Accompanies passkeyResponse.' })),
};
export type FactorFields = Readonly<{
  emailCode?: string;
  totpCode?: string;
  passkeyResponse?: object;
  challengeKey?: string;
}>;

type Refusal = Readonly<{ code: ErrorCode; retryAfterSeconds?: number; reason?: 'CODE_VOID' }>;
type Deps = Pick<ApiDeps, 'db' | 'config'>;
type Before<T> = Readonly<{
  holdFirst?: (tx: EntityManager) => Promise<unknown>;
  known?: (tx: EntityManager) => Promise<T | null>;
}>;

/** Throws FACTOR_MISSING unless exactly one factor is there. Only its presence is looked at, before anything that the
 *  request names, also where the request is a repeat; `withFactor` checks it. Contract: 4.10. */
export function requireFactor({ emailCode, totpCode, passkeyResponse, challengeKey }: FactorFields): void {
  const given = [emailCode, totpCode, passkeyResponse].filter((factor) => factor !== undefined);
  const isHalf = passkeyResponse !== undefined && challengeKey === undefined;
  if (given.length !== 1 || isHalf) throw new DomainError('FACTOR_MISSING');
}

/** Does `act` in one transaction with the use of the factor: both happen, or neither. It gets the user's row as it
 *  stands, locked. A wrong factor is counted, and nothing else happens. `known` says what the same request came to
 *  before: then its factor must be there, and is neither checked nor used. It is asked under the lock of the user, so
 *  that the second of two requests at once finds the first. `holdFirst` locks what must be locked before the user.
 *  Throws the VERIFICATION_FAILED family (`factorRefusals`) and what `act` throws. */
export async function withFactor<T>(
  deps: Deps,
  user: Pick<User, 'id'>,
  action: FactorAction,
  fields: FactorFields,
  act: (tx: EntityManager, row: UserRow) => Promise<T>,
  { holdFirst, known }: Before<T> = {},
): Promise<T> {
  requireFactor(fields);
  const attempt = async (tx: EntityManager): Promise<{ refusal: Refusal } | { value: T }> => {
    await holdFirst?.(tx);
    const row = await lockUser(tx, user.id);
    if (!row?.is_active) return { refusal: { code: 'USER_NOT_FOUND' } };
    const before = await known?.(tx);
    if (before) return { value: before };
    const refusal = await takeFactor(tx, deps, row, action, fields);
    return refusal ? { refusal } : { value: await act(tx, row) };
  };
  const outcome = await unlessUndone(() => deps.db.transaction(attempt));
  if ('refusal' in outcome) {
    const { code, ...details } = outcome.refusal;
    throw new DomainError(code, undefined, details);
  }
  return outcome.value;
}

async function takeFactor(
  tx: EntityManager,
  deps: Deps,
  user: UserRow,
  action: FactorAction,
  fields: FactorFields,
): Promise<Refusal | null> {
  const userId = user.id;
  const { emailCode, totpCode, passkeyResponse, challengeKey } = fields;
  const locked = await lockedFor(tx, userId);
  if (locked > 0) return { code: 'FACTOR_LOCKED', retryAfterSeconds: locked };

  if (emailCode !== undefined) {
    const verdict = await spendEmailCode(tx, deps.config.SECRETS_KEY, userId, action, emailCode);
    if (verdict === 'spent') return null;
    await noteWrongFactor(tx, userId, 'email');
    if (verdict === 'wrong') return { code: 'FACTOR_WRONG' };
    return { code: 'FACTOR_VOID', reason: 'CODE_VOID' };
  }
  if (totpCode !== undefined) return takeTotp(tx, deps.config.SECRETS_KEY, user, totpCode);
  const passkey = await readAuthentication(tx, deps.config, {
    userId,
    action,
    challengeKey: challengeKey!,
    response: passkeyResponse,
  });
  if (passkey) return null;
  await noteWrongFactor(tx, userId, 'passkey');
  return { code: 'FACTOR_WRONG' };
}

/** Checks an authenticator code of a user whose row is locked, and uses its time step up. */
export async function takeTotp(
  tx: EntityManager,
  secretsKey: string,
  user: UserRow,
  code: string,
): Promise<Refusal | null> {
  if (!user.totp_enabled_at) return { code: 'FACTOR_NOT_ENROLLED' };
  if (!user.totp_secret_sealed) return { code: 'TOTP_MISCONFIGURED' };
  const secret = openSealed(secretsKey, user.totp_secret_sealed);
  const step = await stepOfCode(tx, secret, code, parseInt(user.totp_last_step, 10));
  if (step !== null && (await spendTimeStep(tx, user.id, step))) return null;
  await noteWrongFactor(tx, user.id, 'totp');
  return { code: 'FACTOR_WRONG' };
}
