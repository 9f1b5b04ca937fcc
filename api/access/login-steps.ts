import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { recordAct } from '../../db/access/audit-log';
import { lockedFor } from '../../db/access/factors';
import { findMerchant } from '../../db/access/merchants';
import { spendToken } from '../../db/access/sessions';
import { approvalOf } from '../../db/operators/registrations';
import type { Queryable } from '../../db/query';
import { passkeysOf } from '../../db/access/passkeys';
import { findUser, lockUser, type UserRow } from '../../db/access/users';
import { rememberBrowser, signIn } from './sessions';
import { readToken, type Purpose, type Token } from './tokens';
import { actorOf, presentUser, shownUser } from './users';
import type { ApiDeps } from '../http/deps';

/** What the ways of signing in share: tokens between the steps, refusals, and the end, which sets the cookies. */

export const tag = 'Authentication';
export const token = Type.String({ maxLength: 4096 });

type From = Readonly<{
  ip: string;
  requestId: string;
  header: (name: string) => string | undefined;
  request: IncomingMessage;
}>;

/** Signs `user` in and answers with the user object and the cookies. */
export async function signedIn(
  tx: EntityManager,
  { config }: Pick<ApiDeps, 'config'>,
  user: UserRow,
  from: From,
  by: string,
) {
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
export async function userOfStep(
  tx: EntityManager,
  step: Token<'setup' | 'confirm' | 'totp'> | null,
): Promise<UserRow | null> {
  const user = step && (await lockUser(tx, step.userId));
  if (!user?.is_active || user.session_version !== step!.ver) return null;
  const merchant = user.merchant_id === null ? null : await findMerchant(tx, user.merchant_id);
  return merchant && merchant.status !== 'active' ? null : user;
}

/** Why somebody who proved who they are may not sign in; null: they may. */
export async function refusalOf(
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
export async function settle<T extends object>(
  deps: ApiDeps,
  act: (tx: EntityManager) => Promise<Outcome<T>>,
): Promise<T> {
  const outcome = await deps.db.transaction(act);
  if ('refuse' in outcome) throw outcome.refuse;
  return outcome;
}
export const refuse = (code: ConstructorParameters<typeof DomainError>[0], retryAfterSeconds?: number) => ({
  refuse: new DomainError(code, undefined, retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

export const readStep = <P extends Purpose>(deps: ApiDeps, purpose: P, text: string): Promise<Token<P> | null> =>
  readToken(deps.config.SECRETS_KEY, purpose, text);

/** The step after the password. `prove` says by what the user has proved to be who they are, or refuses; what it counts
 *  is kept. Errors: INVALID_TOKEN, FACTOR_LOCKED. */
export async function secondStep(
  deps: ApiDeps,
  totpToken: string,
  from: From,
  prove: (tx: EntityManager, user: UserRow) => Promise<string | { refuse: DomainError }>,
) {
  const step = await readStep(deps, 'totp', totpToken);
  return settle(deps, async (tx) => {
    const user = await userOfStep(tx, step);
    if (!user) return refuse('INVALID_TOKEN');
    const locked = await lockedFor(tx, user.id);
    if (locked > 0) return refuse('FACTOR_LOCKED', locked);
    const by = await prove(tx, user);
    if (typeof by !== 'string') return by;
    if (!(await spendToken(tx, step!.id, step!.expiresAt))) return refuse('INVALID_TOKEN');
    return signedIn(tx, deps, user, from, by);
  });
}
