import { findAsset, type Currency } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { isZero } from '../../domain/money';
import type { PaymentRow } from '../../domain/payments/payment';
import { priceQuote } from '../../db/pricing/pricing';
import type { ApiDeps } from '../http/deps';

/** The ticker, when the row does not already refuse the choice, so that a hopeless one never costs the workflow an update.
 *  Throws CURRENCY_NOT_CHANGEABLE, RATE_UNAVAILABLE. Invariants: 1.7. */
export async function checkCurrencyChoice(
  { db, config }: Pick<ApiDeps, 'db' | 'config'>,
  payment: PaymentRow,
  ticker: string,
): Promise<Currency> {
  const refused = new DomainError('CURRENCY_NOT_CHANGEABLE');
  const asset = findAsset(ticker.toUpperCase());
  const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
  if (!asset || !isOpen || !isZero(payment.amount_paid)) throw refused;
  try {
    await priceQuote(db, {
      merchantId: payment.merchant_id,
      currency: asset.currency,
      fiatAmount: payment.fiat_amount,
      fiat: payment.fiat_currency,
      feeBps: payment.fee_bps,
      feeBearer: payment.fee_bearer,
      maxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
    });
  } catch (error) {
    if (error instanceof DomainError && error.code !== 'RATE_UNAVAILABLE') throw refused;
    throw error;
  }
  return asset.currency;
}
