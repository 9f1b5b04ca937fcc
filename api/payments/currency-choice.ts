import { isByLightning, payableAsset, type Currency } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { isZero } from '../../domain/money';
import { isCurrencyAllowed, type PaymentRow } from '../../domain/payments/payment';
import { rateClasses } from '../../domain/access/rate-limits';
import { receiverOfPayment } from '../../db/payments/addresses';
import { priceQuote } from '../../db/pricing/pricing';
import type { ApiDeps } from '../http/deps';

/** The ticker, when the row does not already refuse the choice, so that a hopeless one never costs the workflow an
 *  update; null where it is the one that is chosen. Choices of one invoice are limited, whoever makes them. Throws
 *  CURRENCY_NOT_CHANGEABLE, RATE_UNAVAILABLE, RATE_LIMITED. Invariants: 1.7. */
export async function checkCurrencyChoice(
  { db, config, limits }: Pick<ApiDeps, 'db' | 'config' | 'limits'>,
  payment: PaymentRow,
  ticker: string,
): Promise<Currency | null> {
  const refused = new DomainError('CURRENCY_NOT_CHANGEABLE');
  const asset = payableAsset(ticker.toUpperCase(), config.LIGHTNING_PAYMENTS);
  const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
  if (!asset || !isOpen || !isZero(payment.amount_paid)) throw refused;
  if (!isCurrencyAllowed(payment, asset.currency) || !config.networks.includes(asset.network)) throw refused;
  const { retryAfterSeconds } = await limits.consume('currencyOfInvoice', payment.id, rateClasses.choice);
  if (retryAfterSeconds !== undefined) throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds });
  if (payment.currency === asset.currency) return null;
  if (!isByLightning(asset.currency)) {
    const { known, isFull } = await receiverOfPayment(db, payment.id, asset.currency);
    if (known === null && isFull) throw refused;
  }
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
