import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { readPayer } from '../../db/payments/payer-browsers';
import type { Queryable } from '../../db/query';
import type { RefundRow } from '../../domain/refunds/refund';
import { browsersOf } from '../payments/mark-payer';
import { claimUrl } from './claim';

/** The link of the refund that the policy has opened, for the one browser that became the payer's before money was
 *  seen. All others ask the merchant. Throws CLAIM_NOT_FOUND, whatever is missing. docs/decisions/0024. */
export async function payerLink(
  db: Queryable,
  config: Pick<Config, 'SECRETS_KEY' | 'CHECKOUT_URL'>,
  paymentId: string,
  token: string,
): Promise<string> {
  const [refund] = await db.query<RefundRow[]>(
    `SELECT * FROM refund WHERE payment_id = $1 AND type = 'underpaid' AND status = 'awaiting_address'
        AND key_id IS NULL AND created_by IS NULL ORDER BY id LIMIT 1`,
    [paymentId],
  );
  if (!refund) throw new DomainError('CLAIM_NOT_FOUND');
  const { browser, isContested } = await readPayer(db, paymentId, refund.network);
  if (isContested || browser === null || !browsersOf(config.SECRETS_KEY, paymentId, token).includes(browser))
    throw new DomainError('CLAIM_NOT_FOUND');
  return claimUrl(config, refund.id);
}
