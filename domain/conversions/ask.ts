import { assetOf, payableAsset, type Currency } from '../chains/assets';
import { DomainError } from '../errors';
import { Decimal, fit, isAmount, isPositive } from '../money';
import type { ConversionAsk } from './conversion';

/** A ticker in any case. `byLightning`: also bitcoin by Lightning. Throws VALIDATION_ERROR. */
export function currencyOf(text: string, field: string, byLightning = false): Currency {
  const asset = payableAsset(text.toUpperCase(), byLightning);
  if (!asset) throw new DomainError('VALIDATION_ERROR', `${field} must be a supported currency`);
  return asset.currency;
}

/** The conversion that is asked for, its amount cut to the source currency's own digits. `byLightning`: what came by
 *  Lightning can be its source. Throws VALIDATION_ERROR, SAME_CURRENCY. */
export function askOf(
  fields: Readonly<{ fromCurrency: string; toCurrency: string; fromAmount: string | number }>,
  byLightning = false,
): ConversionAsk {
  const fromCurrency = currencyOf(fields.fromCurrency, 'fromCurrency', byLightning);
  const toCurrency = currencyOf(fields.toCurrency, 'toCurrency');
  if (fromCurrency === toCurrency) throw new DomainError('SAME_CURRENCY');
  const amount = new Decimal(fields.fromAmount).toFixed();
  if (!isAmount(amount) || !isPositive(amount))
    throw new DomainError('VALIDATION_ERROR', 'fromAmount must be a positive decimal of at most 30 digits');
  return { fromCurrency, toCurrency, fromAmount: fit(amount, assetOf(fromCurrency).decimals, 'down') };
}
