import { payableAsset } from '../chains/assets';
import { DomainError } from '../errors';
import { compare, isPositive, trim } from '../money';
import { fiatPrice } from '../pricing/quote';
import { normaliseOrigin } from './origin';

/** What a payment button or a donation form of a merchant is, and which settings of it make sense. Contract: 2.11, G14.
 *  */

export const widgetTypes = ['payment', 'donation'] as const;
type WidgetType = (typeof widgetTypes)[number];
export const amountModes = ['fixed', 'variable'] as const;
type AmountMode = (typeof amountModes)[number];
export const displayModes = ['redirect', 'inline'] as const;
type DisplayMode = (typeof displayModes)[number];
export const donorFieldNames = ['name', 'email', 'phone', 'address', 'comment'] as const;
type DonorField = (typeof donorFieldNames)[number];
export type Donor = Partial<Readonly<Record<DonorField, string>>>;
export const layouts = ['badge', 'stacked', 'lightning', 'multicoin', 'coins', 'heart'] as const;
export const icons = [
  'auto',
  'none',
  'bitcoin',
  'ethereum',
  'usdt',
  'lightning',
  'heart',
  'coins',
  'multicoin',
] as const;
export const sizes = ['sm', 'md', 'lg'] as const;

export const originLimit = 20;
export const currencyLimit = 50;
export const suggestionLimit = 6;

export type Branding = Readonly<{
  buttonLabel: string;
  subLabel: string;
  /** Hex; empty: the default of the button. */
  accentColor: string;
  layout: (typeof layouts)[number];
  icon: (typeof icons)[number];
  size: (typeof sizes)[number];
  fullWidth: boolean;
  /** Pixels. */
  cornerRadius: number;
}>;
export const defaultBranding: Branding = {
  buttonLabel: '',
  subLabel: '',
  accentColor: '',
  layout: 'badge',
  icon: 'auto',
  size: 'md',
  fullWidth: false,
  cornerRadius: 8,
};

/** The settings of a widget, complete. Amounts are decimal strings in the merchant's display currency. */
export type WidgetSettings = Readonly<{
  type: WidgetType;
  name: string;
  amountMode: AmountMode;
  /** Null where the payer names the amount. */
  fixedAmount: string | null;
  /** Offered to the payer, who may name another amount. */
  suggestedAmounts: readonly string[];
  minAmount: string | null;
  maxAmount: string | null;
  /** Host names; empty: any page. */
  allowedOrigins: readonly string[];
  /** Tickers; empty: all that the merchant takes. */
  allowedCurrencies: readonly string[];
  donorFields: readonly DonorField[];
  requiredDonorFields: readonly DonorField[];
  displayMode: DisplayMode;
  successUrl: string | null;
  cancelUrl: string | null;
  thankYouText: string | null;
  branding: Branding;
  isActive: boolean;
}>;

export const defaultSettings = {
  fixedAmount: null,
  suggestedAmounts: [],
  minAmount: null,
  maxAmount: null,
  allowedOrigins: [],
  allowedCurrencies: [],
  donorFields: [],
  requiredDonorFields: [],
  displayMode: 'redirect',
  successUrl: null,
  cancelUrl: null,
  thankYouText: null,
  branding: defaultBranding,
  isActive: true,
} as const satisfies Partial<WidgetSettings>;

const refuse = (message: string): never => {
  throw new DomainError('VALIDATION_ERROR', message);
};

/** A fiat amount as a merchant or a payer writes it: more than 0, at most 10^12, as payments take it. */
function fiatAmount(text: string, property: string): string {
  const isWritten = /^\d{1,13}(\.\d{1,18})?$/.test(text);
  if (!isWritten || !isPositive(text) || compare(text, '1000000000000') > 0)
    refuse(`${property} must be a decimal number above 0 and at most 1000000000000`);
  return trim(text);
}

/** `fiat`: what the merchant prices in. An amount finer than its minor units could never be asked for. */
function checkAmounts(settings: WidgetSettings, fiat: string): Partial<WidgetSettings> {
  const priced = (text: string, property: string): string =>
    trim(fiatPrice(fiatAmount(text, property), fiat, property));
  if (settings.amountMode === 'fixed') {
    if (settings.fixedAmount === null) refuse("fixedAmount is required where amountMode is 'fixed'");
    return {
      fixedAmount: priced(settings.fixedAmount!, 'fixedAmount'),
      suggestedAmounts: [],
      minAmount: null,
      maxAmount: null,
    };
  }
  const least = settings.minAmount === null ? null : priced(settings.minAmount, 'minAmount');
  const most = settings.maxAmount === null ? null : priced(settings.maxAmount, 'maxAmount');
  if (least !== null && most !== null && compare(least, most) > 0) refuse('minAmount must not be above maxAmount');
  const suggestedAmounts = settings.suggestedAmounts.map((amount) => priced(amount, 'suggestedAmounts'));
  for (const amount of suggestedAmounts)
    if (!isWithin(amount, least, most)) refuse(`suggestedAmounts: ${amount} is outside of minAmount and maxAmount`);
  return { fixedAmount: null, suggestedAmounts: [...new Set(suggestedAmounts)], minAmount: least, maxAmount: most };
}

const isWithin = (amount: string, least: string | null, most: string | null): boolean =>
  (least === null || compare(amount, least) >= 0) && (most === null || compare(amount, most) <= 0);

function checkCurrencies(tickers: readonly string[], byLightning: boolean): string[] {
  const known = tickers.map((ticker) => {
    const asset = payableAsset(ticker.toUpperCase(), byLightning);
    return asset?.currency ?? refuse(`allowedCurrencies: '${ticker}' is no currency of this service`);
  });
  return [...new Set(known)];
}

/** The settings in the form in which they are stored. What must be filled in is collected too. `byLightning`: payments
 *  may come so. Throws VALIDATION_ERROR, whose message names the property. The shapes of single values are the route's
 *  to check. Contract: 2.11. */
export function checkSettings(settings: WidgetSettings, fiat: string, byLightning: boolean): WidgetSettings {
  const name = settings.name.trim();
  if (name === '') refuse('name must not be blank');
  const allowedOrigins = [
    ...new Set(
      settings.allowedOrigins.map(
        (entry) => normaliseOrigin(entry) ?? refuse(`allowedOrigins: '${entry}' is not a host name or URL`),
      ),
    ),
  ];
  if (settings.displayMode === 'inline' && allowedOrigins.length === 0)
    refuse("allowedOrigins must not be empty where displayMode is 'inline'");
  const required = new Set(settings.requiredDonorFields);
  const collected = new Set([...settings.donorFields, ...required]);
  const inOrder = (chosen: ReadonlySet<string>) => donorFieldNames.filter((field) => chosen.has(field));
  return {
    ...settings,
    ...checkAmounts(settings, fiat),
    name,
    allowedOrigins,
    allowedCurrencies: checkCurrencies(settings.allowedCurrencies, byLightning),
    donorFields: inOrder(collected),
    requiredDonorFields: inOrder(required),
    thankYouText: settings.thankYouText?.trim() || null,
  };
}

/** What the payer is charged: the fixed amount whatever the browser says, or the amount that the payer named, within
 *  the limits.
 *  Throws AMOUNT_REQUIRED, VALIDATION_ERROR. */
export function amountOf(
  widget: Pick<WidgetSettings, 'amountMode' | 'fixedAmount' | 'minAmount' | 'maxAmount'>,
  named: string | undefined,
): string {
  if (widget.amountMode === 'fixed') return widget.fixedAmount!;
  if (named === undefined) throw new DomainError('AMOUNT_REQUIRED');
  const amount = fiatAmount(named, 'amount');
  if (!isWithin(amount, widget.minAmount, null)) refuse(`amount must be at least ${widget.minAmount}`);
  if (!isWithin(amount, null, widget.maxAmount)) refuse(`amount must be at most ${widget.maxAmount}`);
  return amount;
}

/** What the donor filled in, without blanks. Throws DONOR_FIELD_REQUIRED and VALIDATION_ERROR (a field that this widget
 *  does not collect); the message names the field. */
export function donorOf(
  { donorFields, requiredDonorFields }: Pick<WidgetSettings, 'donorFields' | 'requiredDonorFields'>,
  given: Donor,
): Donor {
  const donor: Partial<Record<DonorField, string>> = {};
  for (const field of donorFieldNames) {
    const value = given[field]?.trim() ?? '';
    if (value !== '' && !donorFields.includes(field)) refuse(`donor.${field} is not collected by this widget`);
    if (value === '' && requiredDonorFields.includes(field))
      throw new DomainError('DONOR_FIELD_REQUIRED', `donor.${field} is required`);
    if (value !== '') donor[field] = value;
  }
  return donor;
}
