import type { Merchant } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { checkCallbackUrl } from '../../domain/webhooks/callback-url';
import { checkSettings, type WidgetSettings } from '../../domain/widgets/widget';
import { insertWidget, updateWidget, type WidgetRow } from '../../db/widgets/widgets';
import type { Queryable } from '../../db/query';

export type WidgetRules = Readonly<{ allowInsecureCallbacks: boolean; byLightning: boolean }>;

/** Refuses an address that the payer may not be sent to. An empty text clears it. Throws VALIDATION_ERROR,
 *  CALLBACK_NOT_HTTPS, CALLBACK_INTERNAL. Contract: 2.11, 4.5. */
function checkedUrl(
  url: string | null,
  property: 'successUrl' | 'cancelUrl',
  merchant: Merchant,
  rules: WidgetRules,
): string | null {
  if (url === null || url === '') return null;
  try {
    checkCallbackUrl(url, property, {
      allowedDomains: merchant.callbackDomains,
      allowInsecure: rules.allowInsecureCallbacks,
      isForBrowsers: true,
    });
  } catch (error) {
    if (error instanceof DomainError && error.code === 'PAYMENT_CREATION_FAILED')
      throw new DomainError(
        'VALIDATION_ERROR',
        `${property}: its host is not among the callbackDomains of the settings`,
      );
    throw error;
  }
  return url;
}

const checked = (merchant: Merchant, settings: WidgetSettings, rules: WidgetRules): WidgetSettings => ({
  ...checkSettings(settings, merchant.displayCurrency, rules.byLightning),
  successUrl: checkedUrl(settings.successUrl, 'successUrl', merchant, rules),
  cancelUrl: checkedUrl(settings.cancelUrl, 'cancelUrl', merchant, rules),
});

/** A new widget. Throws as `checkSettings` and `checkedUrl` do. */
export const createWidget = (
  tx: Queryable,
  merchant: Merchant,
  settings: WidgetSettings,
  rules: WidgetRules,
): Promise<WidgetRow> => insertWidget(tx, merchant.id, checked(merchant, settings, rules));

/** The settings of a widget as they are stored. */
export const settingsOf = (row: WidgetRow): WidgetSettings => ({
  type: row.type,
  name: row.name,
  amountMode: row.amount_mode,
  fixedAmount: row.fixed_amount,
  suggestedAmounts: row.suggested_amounts,
  minAmount: row.min_amount,
  maxAmount: row.max_amount,
  allowedOrigins: row.allowed_origins,
  allowedCurrencies: row.allowed_currencies,
  donorFields: row.donor_fields,
  requiredDonorFields: row.required_donor_fields,
  displayMode: row.display_mode,
  successUrl: row.success_url,
  cancelUrl: row.cancel_url,
  thankYouText: row.thank_you_text,
  branding: row.branding,
  isActive: row.is_active,
});

/** Changes a widget that the caller has locked: what is not named stays. Fields of required ones go with the field
 *  itself.
 *  Throws as `createWidget` does. */
export function changeWidget(
  tx: Queryable,
  merchant: Merchant,
  row: WidgetRow,
  change: Partial<WidgetSettings>,
  rules: WidgetRules,
): Promise<WidgetRow> {
  const before = settingsOf(row);
  const requiredDonorFields =
    change.requiredDonorFields ??
    before.requiredDonorFields.filter((field) => (change.donorFields ?? before.donorFields).includes(field));
  return updateWidget(tx, row.id, checked(merchant, { ...before, ...change, requiredDonorFields }, rules));
}
