import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { approvalOf } from '../../db/operators/registrations';
import { setFee, setMerchantStatus, type ListedMerchant } from '../../db/access/merchants';
import { notNow } from './act';

/** What an operator sets for one merchant, from a page or from a shell. Each throws MERCHANT_NOT_FOUND. */

/** Suspends a merchant or lifts the suspension: docs/operations/platform.md says what that means for its money. Throws
 *  ACT_REFUSED where a suspension is to be lifted of a merchant whose registration nobody has approved. */
export async function changeStatus(
  tx: EntityManager,
  actor: Actor,
  merchantId: string,
  status: 'suspended' | 'active',
  reason: string,
): Promise<ListedMerchant> {
  const approval = status === 'active' && isId(merchantId) ? await approvalOf(tx, merchantId) : null;
  if (approval === 'waiting' || approval === 'refused')
    throw notNow('The registration of this merchant is not approved');
  const row = isId(merchantId) ? await setMerchantStatus(tx, merchantId, status, reason) : null;
  if (!row) throw new DomainError('MERCHANT_NOT_FOUND');
  await recordAct(tx, actor, {
    merchantId,
    action: status === 'suspended' ? 'merchant.suspended' : 'merchant.activated',
    target: merchantId,
    after: { reason },
  });
  return row;
}

/** Sets the commission of the payments that the merchant makes from now on. `feeBps`: hundredths of a percent. */
export async function changeFee(
  tx: EntityManager,
  actor: Actor,
  merchantId: string,
  feeBps: number,
  reason: string,
): Promise<void> {
  const before = isId(merchantId) ? await setFee(tx, merchantId, feeBps) : null;
  if (before === null) throw new DomainError('MERCHANT_NOT_FOUND');
  await recordAct(tx, actor, {
    merchantId,
    action: 'merchant.fee_changed',
    target: merchantId,
    before: { feeBps: before },
    after: { feeBps, reason },
  });
}
