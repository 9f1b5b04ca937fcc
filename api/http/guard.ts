import type { IncomingMessage } from 'node:http';
import { mayCall, type Merchant, type User } from '../../domain/access/access';
import type { Access } from '../../domain/access/access-table';
import { DomainError } from '../../domain/errors';
import { modeOfKey, publishableKeyPrefixes, secretKeyPrefixes, type Mode } from '../../domain/mode';
import { rateClasses } from '../../domain/access/rate-limits';
import type { KeyHolder, UsedKey } from '../../db/access/api-keys';
import { findByPublishableKey, isPublishableKeyShaped } from '../../db/access/merchants';
import { accessCookie, cookieOf } from '../access/sessions';
import { isListed, limitKey } from '../../domain/access/client-ip';
import type { ApiDeps } from './deps';
import { checkOrigin } from './origins';

export type Caller = Readonly<{ merchant?: Merchant; user?: User; key?: UsedKey }>;

const bearer = (request: IncomingMessage): string | undefined =>
  /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? '')?.[1];
const isKeyShaped = (token: string | undefined): boolean => token !== undefined && /^(svc|pk)_/.test(token);

/** Who calls, and whether they may. Throws INVALID_API_KEY, TEST_KEY or LIVE_KEY, INVALID_TOKEN, IP_NOT_ALLOWED,
 *  MERCHANT_INACTIVE, INSUFFICIENT_SCOPE, INVALID_PUBLISHABLE_KEY, CSRF_ORIGIN_MISMATCH, NO_MERCHANT_CONTEXT or
 *  NO_SCOPE, INSUFFICIENT_PERMISSION, FORBIDDEN; RATE_LIMITED for an address that keeps trying. `onKey` is told of a
 *  secret key that is known, also where it is refused. Contract: 5, 7.2, G15. */
export async function authorise(
  request: IncomingMessage,
  { may, noMerchant = 'NO_MERCHANT_CONTEXT' }: Pick<Access, 'may' | 'noMerchant'>,
  ip: string,
  deps: ApiDeps,
  onKey: (holder: KeyHolder) => void = () => undefined,
): Promise<Caller> {
  if (may === 'public') return {};
  const token = bearer(request);
  if (may === 'publishable') return authorisePage(token, ip, deps);
  // A session's route does not look at keys: to it they are tokens that are none. Contract: 5.2.6.
  const takesKeys = typeof may === 'object' && may.key !== null;
  if (isKeyShaped(token)) {
    if (takesKeys) return authoriseKey(may.key, token!, ip, deps, onKey);
    return unauthorised('INVALID_TOKEN', ip, deps);
  }
  // With an Authorization header, cookies are ignored.
  const isCookie = request.headers.authorization === undefined;
  const access = isCookie ? cookieOf(request, accessCookie) : token;
  const holder = access === undefined ? null : await deps.sessions.find(access);
  if (!holder) return unauthorised('INVALID_TOKEN', ip, deps);
  if (isCookie) checkOrigin(request, deps.config);
  const { merchant, ...user } = holder;
  if (may === 'user') return { user, ...(merchant ? { merchant } : {}) };
  if (may === 'super_admin') {
    if (user.role !== 'super_admin') throw new DomainError('FORBIDDEN');
    const { operatorIps } = deps.config;
    if (operatorIps.length && !isListed(ip, operatorIps)) throw new DomainError('IP_NOT_ALLOWED');
    return { user };
  }
  if (!merchant) throw new DomainError(noMerchant);
  if (!mayCall(user, may))
    throw new DomainError('INSUFFICIENT_PERMISSION', undefined, { requiredPermission: may.session });
  return { user, merchant };
}

async function authoriseKey(
  scope: string,
  token: string,
  ip: string,
  deps: ApiDeps,
  onKey: (holder: KeyHolder) => void,
): Promise<Caller> {
  const mode = modeOfKey(token, secretKeyPrefixes);
  if (mode !== null && mode !== deps.config.MODE) return unauthorised(ofOtherMode.secret[mode], ip, deps);
  const holder = mode === null ? null : await deps.keys.find(token);
  if (!holder) return unauthorised('INVALID_API_KEY', ip, deps);
  onKey(holder);
  if (holder.allowedIps.length && !isListed(ip, holder.allowedIps)) throw new DomainError('IP_NOT_ALLOWED');
  if (holder.merchant.status !== 'active') throw new DomainError('MERCHANT_INACTIVE');
  if (!holder.scopes.includes(scope)) throw new DomainError('INSUFFICIENT_SCOPE', undefined, { requiredScope: scope });
  deps.keys.noteUse(holder.key.id, ip);
  return { merchant: holder.merchant, key: holder.key };
}

/** A page names the merchant whose key it holds; whether the merchant is the widget's is the route's to check. */
async function authorisePage(token: string | undefined, ip: string, deps: ApiDeps): Promise<Caller> {
  const mode = token === undefined ? null : modeOfKey(token, publishableKeyPrefixes);
  if (mode !== null && mode !== deps.config.MODE) return unauthorised(ofOtherMode.publishable[mode], ip, deps);
  const merchant =
    token !== undefined && isPublishableKeyShaped(token) ? await findByPublishableKey(deps.db, token) : null;
  return merchant ? { merchant } : unauthorised('INVALID_PUBLISHABLE_KEY', ip, deps);
}

/** What a key of the other mode is told, by the mode that it was made in. */
const ofOtherMode = {
  secret: { live: 'LIVE_KEY', test: 'TEST_KEY' },
  publishable: { live: 'LIVE_PUBLISHABLE_KEY', test: 'TEST_PUBLISHABLE_KEY' },
} as const satisfies Record<string, Record<Mode, string>>;

type Unknown =
  | 'INVALID_API_KEY'
  | 'INVALID_TOKEN'
  | 'INVALID_PUBLISHABLE_KEY'
  | (typeof ofOtherMode)['secret' | 'publishable'][Mode];
async function unauthorised(code: Unknown, ip: string, deps: ApiDeps): Promise<never> {
  const limit = await deps.limits.consume('unauthorised', limitKey(ip), rateClasses.unauthorised);
  if (limit.retryAfterSeconds !== undefined)
    throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: limit.retryAfterSeconds });
  throw new DomainError(code);
}
