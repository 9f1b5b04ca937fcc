import { DomainError } from '../../domain/errors';
import type { Queryable } from '../../db/query';
import { listedIps } from '../../db/wallets/whitelist';
import { isListed } from '../../domain/access/client-ip';

/** Looked at before the second factor, which a refusal does not spend. Throws IP_NOT_WHITELISTED. Contract: 5.4. */
export async function checkWithdrawalIp(db: Queryable, merchantId: string, ip: string): Promise<void> {
  const listed = await listedIps(db, merchantId);
  if (listed.length && !isListed(ip, listed)) throw new DomainError('IP_NOT_WHITELISTED');
}
