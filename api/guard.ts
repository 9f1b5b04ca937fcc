import type { IncomingMessage } from 'node:http';
import type { May, Merchant } from '../domain/access';
import { DomainError } from '../domain/errors';
import { isSecretKeyShaped } from '../db/api-keys';
import { isListed, limitKey } from './client-ip';
import type { ApiDeps } from './deps';
import { rateClasses } from './limits';

export type Caller = Readonly<{ merchant: Merchant | undefined; source: 'api' | 'platform' }>;

const bearer = (request: IncomingMessage): string | undefined =>
  /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? '')?.[1];

/** Who calls, and whether they may. Throws INVALID_API_KEY, INVALID_TOKEN, IP_NOT_ALLOWED, MERCHANT_INACTIVE,
 *  INSUFFICIENT_SCOPE; RATE_LIMITED for an address that keeps trying. Spec: 5, 7.2; gaps: 15. */
export async function admit(request: IncomingMessage, may: May, ip: string, deps: ApiDeps): Promise<Caller> {
  if (may === 'public') return { merchant: undefined, source: 'platform' };
  const token = bearer(request);
  const holder = token !== undefined && isSecretKeyShaped(token) ? await deps.keys.find(token) : null;
  if (!holder) {
    const limit = await deps.limits.consume('unauthorised', limitKey(ip), rateClasses.unauthorised);
    if (limit.retryAfterSeconds !== undefined)
      throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: limit.retryAfterSeconds });
    const isKey = token !== undefined && /^(svc|pk)_/.test(token);
    throw new DomainError(isKey ? 'INVALID_API_KEY' : 'INVALID_TOKEN');
  }
  if (holder.allowedIps.length && !isListed(ip, holder.allowedIps)) throw new DomainError('IP_NOT_ALLOWED');
  if (holder.merchant.status !== 'active') throw new DomainError('MERCHANT_INACTIVE');
  if (!holder.scopes.includes(may.key))
    throw new DomainError('INSUFFICIENT_SCOPE', undefined, { requiredScope: may.key });
  deps.keys.noteUse(holder.keyId, ip);
  return { merchant: holder.merchant, source: 'api' };
}
