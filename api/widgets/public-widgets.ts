import { Type } from 'typebox';
import { payableAsset } from '../../domain/chains/assets';
import { checkoutsPerAddress, checkoutsPerWidget, type Limit } from '../../domain/access/rate-limits';
import { limitKey } from '../../domain/access/client-ip';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { frameAncestors } from '../../domain/widgets/origin';
import { checkPage, openCheckout } from '../../commands/widgets/checkout';
import { settingsOf } from '../../commands/widgets/settings';
import { noteRefusal } from '../../db/access/request-log';
import { embeddingOf, findWidget, originsOf, type PublicWidget } from '../../db/widgets/widgets';
import { openingDeps, type ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { unlessKnown } from '../http/unchanged';
import { emailSchema, line, nullable, statusSchema } from '../http/schemas';
import { fiatSchema, shownProperties } from './schemas';
import { amountText } from './widgets';

/** What pages of merchants read of widgets, and the checkouts that they open. Contract: 4.9, 5.1, G14. */

const tag = 'Widget checkout';
const params = Type.Object({ widgetId: Type.String({ description: '24-hex id.' }) });

/** Throws WIDGET_NOT_FOUND. */
async function widgetOf({ db }: Pick<ApiDeps, 'db'>, id: string): Promise<PublicWidget> {
  const widget = isId(id) ? await findWidget(db, id) : null;
  if (!widget) throw new DomainError('WIDGET_NOT_FOUND');
  return widget;
}

const pages = async ({ widgetId = '' }: Readonly<Record<string, string>>, { db }: ApiDeps): Promise<string[] | null> =>
  isId(widgetId) ? originsOf(db, widgetId) : null;

/** That there is no such widget may be read anywhere: the button of a deleted one says so. */
const readers = async (given: Readonly<Record<string, string>>, deps: ApiDeps): Promise<string[]> =>
  (await pages(given, deps)) ?? [];

export const getPublicWidget = route({
  name: 'getPublicWidget',
  method: 'get',
  path: '/api/v1/public/widgets/{widgetId}',
  summary: 'Get a widget as pages show it',
  description: 'Answers 304 to a matching `If-None-Match`. Browsers let only pages of the allowed origins read it.',
  tag,
  envelope: 'A',
  params,
  pages: readers,
  answersUnchanged: true,
  success: {
    status: 200,
    schema: Type.Object({
      ...shownProperties,
      merchantName: Type.String(),
      fiatCurrency: Type.String({ description: 'Of all amounts.' }),
      currencies: Type.Array(Type.String(), { description: 'Tickers that it can be paid in.' }),
    }),
    description: 'The widget.',
  },
  errors: ['WIDGET_NOT_FOUND'],
  async answer({ params: { widgetId }, header }, deps) {
    const { row, merchant, currencies } = await widgetOf(deps, widgetId);
    const settings = settingsOf(row);
    return unlessKnown(header('if-none-match'), {
      id: row.id,
      type: settings.type,
      amountMode: settings.amountMode,
      fixedAmount: settings.fixedAmount,
      suggestedAmounts: settings.suggestedAmounts,
      minAmount: settings.minAmount,
      maxAmount: settings.maxAmount,
      donorFields: settings.donorFields,
      requiredDonorFields: settings.requiredDonorFields,
      displayMode: settings.displayMode,
      thankYouText: settings.thankYouText,
      branding: settings.branding,
      isActive: settings.isActive && merchant.status === 'active',
      merchantName: merchant.name,
      fiatCurrency: merchant.displayCurrency,
      currencies: currencies.filter((one) => payableAsset(one, deps.config.LIGHTNING_PAYMENTS) !== undefined),
    });
  },
});

/** Throws RATE_LIMITED. */
async function count({ limits }: ApiDeps, bucket: string, who: string, limit: Limit): Promise<void> {
  const { retryAfterSeconds } = await limits.consume(bucket, who, limit);
  if (retryAfterSeconds !== undefined) throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds });
}

const text = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u0009\\u000b-\\u001f\\ud800-\\udfff]*$' });
const donorSchema = Type.Partial(
  Type.Object({
    name: line(120, 'Name.'),
    email: Type.Union([emailSchema, Type.Literal('')]),
    phone: line(40, 'Phone.'),
    address: text(300),
    comment: text(500),
  }),
);

export const openWidgetCheckout = route({
  name: 'openWidgetCheckout',
  method: 'post',
  path: '/api/v1/public/widgets/{widgetId}/checkout',
  summary: 'Open a checkout of a widget',
  description:
    'From a page of an allowed origin, with the publishable key of its merchant. The price of a widget with a fixed ' +
    'amount is its own, whatever `amount` says. The same `checkoutToken` finds the same checkout ' +
    '(`Idempotency-Replayed: true`): take another one for another amount, and once the checkout has ended.',
  tag,
  envelope: 'A',
  params,
  pages,
  body: Type.Object({
    checkoutToken: Type.String({
      pattern: '^[A-Za-z0-9_-]{16,64}$',
      description: 'Random; 16 to 64 of A-Z a-z 0-9 _ -.',
    }),
    amount: Type.Optional(fiatSchema('Needed where the payer names the amount.')),
    currency: Type.Optional(
      Type.String({ minLength: 1, maxLength: 32, description: 'Ticker, any case; omit to let the payer choose.' }),
    ),
    donor: Type.Optional(donorSchema),
  }),
  marksRepeats: true,
  success: {
    status: 201,
    schema: Type.Object({
      invoiceId: Type.String({ description: 'Public invoice id.' }),
      invoiceUrl: Type.String({ description: 'Path on the checkout host.' }),
      status: statusSchema,
      displayMode: shownProperties.displayMode,
      embedUrl: nullable(Type.String({ description: 'For a frame; null where the widget redirects.' })),
    }),
    description: 'The checkout, new or the first with this token.',
  },
  errors: [
    'INVALID_PUBLISHABLE_KEY',
    'WIDGET_NOT_FOUND',
    'WIDGET_DISABLED',
    'ORIGIN_NOT_ALLOWED',
    'AMOUNT_REQUIRED',
    'DONOR_FIELD_REQUIRED',
    'PAYMENT_CREATION_FAILED',
  ],
  async answer({ params: { widgetId }, body, merchant, ip, requestId, header }, deps) {
    const widget = await widgetOf(deps, widgetId);
    if (widget.merchant.id !== merchant.id) throw new DomainError('INVALID_PUBLISHABLE_KEY');
    const origin = header('origin');
    checkPage(widget, origin);
    await count(deps, 'widgetOfAddress', `${widgetId}/${limitKey(ip)}`, checkoutsPerAddress);
    await count(deps, 'widgetOfAll', widgetId, checkoutsPerWidget);
    try {
      const { row, replayed } = await openCheckout(openingDeps(deps), widget, {
        token: body.checkoutToken,
        origin,
        amount: body.amount === undefined ? undefined : amountText(body.amount),
        currency: body.currency,
        donor: body.donor ?? {},
      });
      const headers: Record<string, string> = replayed ? { 'Idempotency-Replayed': 'true' } : {};
      const isInline = widget.row.display_mode === 'inline';
      return {
        data: {
          invoiceId: row.slug,
          invoiceUrl: `/i/${row.slug}`,
          status: row.status,
          displayMode: widget.row.display_mode,
          embedUrl: isInline ? new URL(`/embed/${row.slug}`, deps.config.CHECKOUT_URL).href : null,
        },
        headers,
      };
    } catch (error) {
      if (error instanceof DomainError && error.code === 'PAYMENT_CREATION_FAILED')
        await noteRefusal(deps.db, { requestId, merchantId: merchant.id, details: error.details });
      throw error;
    }
  },
});

export const getInvoiceEmbedding = route({
  name: 'getInvoiceEmbedding',
  method: 'get',
  path: '/invoice/{invoiceId}/embedding',
  summary: 'Which pages may show an invoice in a frame',
  description: 'For the checkout host: only invoices of inline widgets may be framed.',
  tag: 'Invoices',
  envelope: 'B',
  params: Type.Object({ invoiceId: Type.String({ description: 'Public invoice id (slug).' }) }),
  success: {
    status: 200,
    schema: Type.Object({
      origin: Type.String({ description: 'Of the page that opened the checkout; messages go to it alone.' }),
      frameAncestors: Type.Array(Type.String(), { description: 'Sources for the policy of the frame.' }),
      thankYouText: nullable(Type.String()),
    }),
    description: 'The pages.',
  },
  errors: ['INVOICE_NOT_FOUND'],
  async answer({ params }, { db, config }) {
    const found = await embeddingOf(db, params.invoiceId);
    if (!found?.origin) throw new DomainError('INVOICE_NOT_FOUND');
    return {
      data: {
        origin: found.origin,
        frameAncestors: frameAncestors(found.origins, !config.isProduction),
        thankYouText: found.thank_you_text,
      },
    };
  },
});
