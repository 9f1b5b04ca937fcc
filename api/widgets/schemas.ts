import { Type, type TSchema } from 'typebox';
import {
  amountModes,
  currencyLimit,
  displayModes,
  donorFieldNames,
  icons,
  layouts,
  originLimit,
  sizes,
  suggestionLimit,
  widgetTypes,
} from '../../domain/widgets/widget';
import { originLength } from '../../domain/widgets/origin';
import { line, named, nullable, time } from '../http/schemas';

/** Shapes of widgets, as merchants write and read them. Contract: 2.11, G14. */

const choice = (values: readonly string[], description: string) => Type.String({ enum: [...values], description });
const optionalAll = <T extends Record<string, TSchema>>(properties: T) => Type.Partial(Type.Object(properties));

/** Fiat in the merchant's display currency; a text is exact. */
export const fiatSchema = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 32 }), Type.Number({ exclusiveMinimum: 0 })], {
    description: `${description} A decimal string or a number, above 0, in your display currency.`,
  });
const amountText = (description: string) => nullable(Type.String({ description: `${description} Decimal string.` }));
const donorFields = (description: string) =>
  Type.Array(Type.String({ enum: [...donorFieldNames] }), { maxItems: donorFieldNames.length, description });

const brandingProperties = {
  buttonLabel: line(40, 'Text of the button; empty: a text for its type.'),
  subLabel: line(48, 'A second line below it.'),
  accentColor: Type.String({
    maxLength: 7,
    pattern: '^(#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}))?$',
    description: 'Hex such as `#0a7cff`; empty: the default. The text on it turns dark or light by itself.',
  }),
  layout: choice(layouts, 'How icon and text are arranged.'),
  icon: choice(icons, '`auto`: one that fits type and layout.'),
  size: choice(sizes, 'Size of the button.'),
  fullWidth: Type.Boolean({ description: 'As wide as its container.' }),
  cornerRadius: Type.Number({ minimum: 0, maximum: 32, description: 'Pixels.' }),
};
const brandingSchema = named('WidgetBranding', brandingProperties);

const url = (description: string) => Type.String({ maxLength: 2048, description });

export const settingProperties = {
  type: choice(widgetTypes, 'What the payment is for.'),
  name: Type.String({ ...line(80, 'How you call it; payers do not see it.'), minLength: 1 }),
  amountMode: choice(amountModes, '`fixed` needs `fixedAmount`; with `variable` the payer names the amount.'),
  fixedAmount: fiatSchema('The price. A page cannot change it.'),
  suggestedAmounts: Type.Array(fiatSchema('An amount that the payer may pick.'), { maxItems: suggestionLimit }),
  minAmount: nullable(fiatSchema('Least amount that the payer may name.')),
  maxAmount: nullable(fiatSchema('Most that the payer may name.')),
  allowedOrigins: Type.Array(Type.String({ minLength: 1, maxLength: originLength }), {
    maxItems: originLimit,
    description:
      'Hosts of your pages, or URLs, kept as host names; each stands for its sub-domains too. Empty: any page.',
  }),
  allowedCurrencies: Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
    maxItems: currencyLimit,
    description: 'Tickers that the payer may pay in. Empty: all that you take.',
  }),
  donorFields: donorFields('What the form asks the payer for.'),
  requiredDonorFields: donorFields('What the payer must fill in; the form asks for it too.'),
  displayMode: choice(displayModes, '`redirect` to the hosted checkout, or `inline` in a frame: then name origins.'),
  successUrl: url('Where the payer goes after paying; empty clears it. Trust the webhook, not the query of this page.'),
  cancelUrl: url('Where the payer goes otherwise; empty clears it; without it: `successUrl`.'),
  thankYouText: Type.String({
    maxLength: 300,
    pattern: '^[^\\u0000-\\u0009\\u000b-\\u001f\\ud800-\\udfff]*$',
    description: 'Shown once it is paid; empty clears it.',
  }),
  branding: optionalAll(brandingProperties),
  isActive: Type.Boolean({ description: 'false: no checkout can be opened.' }),
};

/** What both the merchant and a page read of a widget. */
export const shownProperties = {
  id: Type.String(),
  type: settingProperties.type,
  amountMode: settingProperties.amountMode,
  fixedAmount: amountText('The price.'),
  suggestedAmounts: Type.Array(Type.String()),
  minAmount: amountText('Least amount.'),
  maxAmount: amountText('Most.'),
  donorFields: settingProperties.donorFields,
  requiredDonorFields: settingProperties.requiredDonorFields,
  displayMode: settingProperties.displayMode,
  thankYouText: nullable(Type.String()),
  branding: brandingSchema,
  isActive: settingProperties.isActive,
};

export const widgetSchema = named('Widget', {
  ...shownProperties,
  merchantId: Type.String(),
  name: Type.String(),
  allowedOrigins: Type.Array(Type.String()),
  allowedCurrencies: Type.Array(Type.String()),
  successUrl: nullable(Type.String()),
  cancelUrl: nullable(Type.String()),
  createdAt: time,
  updatedAt: time,
  embedSnippet: Type.String({ description: 'HTML for your page.' }),
  stats: Type.Object({
    opens: Type.Integer({ description: 'Checkouts that were opened.' }),
    payments: Type.Integer({ description: 'Payments that were paid.' }),
    paidUsd: Type.String({ description: 'What they brought, in US dollars. Decimal string.' }),
  }),
});
