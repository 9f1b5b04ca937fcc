import { Type } from 'typebox';
import { assetOf, baseUnits, carrierOf, isByLightning, networks, payableAsset } from '../../domain/chains/assets';
import { coinName, currencyStatus, networkStatuses, sortOffers, usualSeconds } from '../../domain/chains/coins';
import { DomainError, type ErrorCode } from '../../domain/errors';
import { whyNotByLightning, type NodeNow } from '../../domain/lightning/availability';
import { fit } from '../../domain/money';
import { shown } from '../../domain/payments/shown';
import { viewCreated } from '../../domain/payments/payment-view';
import { nodeNow } from '../../db/lightning/node';
import { readInvoice, type InvoiceRead } from '../../db/payments/payment-queries';
import { offersNow } from '../../db/pricing/pricing';
import { quoteAt, type Price } from '../../domain/pricing/price';
import { depthOf } from '../../db/payments/payments';
import { walletsOf } from '../../db/wallets/wallets';
import { invoiceShown } from './await-invoice';
import { checkCurrencyChoice } from './currency-choice';
import { cancelNow, selectNow } from './decide';
import type { ApiDeps } from '../http/deps';
import { iconPath } from '../currencies/icons';
import { streamInvoice } from './invoice-stream';
import { withOwnInvoice } from './own-invoice';
import { presentInvoice } from './present-invoice';
import { route } from '../http/route';
import { unlessKnown } from '../http/unchanged';
import { cancelledSchema, createdSchema, invoiceSchema, nullable } from '../http/schemas';

const tag = 'Invoices';
const invoiceParams = Type.Object({ invoiceId: Type.String({ description: 'Public invoice id (slug).' }) });

/** The invoice with this slug; ids of payments are no slugs. Throws `missing`. */
export async function invoiceOf(deps: ApiDeps, slug: string, missing: ErrorCode): Promise<InvoiceRead> {
  const invoice = await readInvoice(deps.db, slug);
  if (!invoice) throw new DomainError(missing);
  return withOwnInvoice(deps, invoice);
}

export const getInvoiceStatus = route({
  name: 'getInvoiceStatus',
  method: 'get',
  path: '/getInvoiceStatus',
  summary: 'Get an invoice as its payer may see it',
  description: 'Answers 304 to a matching `If-None-Match`; for live pages see the event stream.',
  tag,
  envelope: 'B',
  query: Type.Object({ invoiceId: Type.String({ description: 'Public invoice id (slug).' }) }),
  answersUnchanged: true,
  success: { status: 200, schema: invoiceSchema, description: 'The invoice.' },
  errors: ['INVOICE_NOT_FOUND'],
  async answer({ query, header }, deps) {
    const view = presentInvoice(await invoiceOf(deps, query.invoiceId, 'INVOICE_NOT_FOUND'), deps);
    const { serverTime: _, ...lasting } = view;
    return unlessKnown(header('if-none-match'), lasting, view);
  },
});

export const streamInvoiceEvents = route({
  name: 'streamInvoice',
  method: 'get',
  path: '/invoice/{invoiceId}/events',
  summary: 'Follow an invoice as server-sent events',
  description: 'Each message is the object that getInvoiceStatus returns; the first comes at once.',
  tag,
  envelope: 'B',
  params: invoiceParams,
  success: { status: 200, type: 'text/event-stream', description: 'A stream of invoices.' },
  errors: ['INVOICE_NOT_FOUND'],
  async answer({ params, request, response, ip }, deps) {
    const invoice = await invoiceOf(deps, params.invoiceId, 'INVOICE_NOT_FOUND');
    await streamInvoice(invoice, { request, response, ip }, deps);
    return { handled: true };
  },
});

type Choice = { amount: string; feeAmount: string } | { reason: string };

/** What paying in a currency would cost, or why it cannot be chosen. */
function choiceOf(price: Price | null, { row }: InvoiceRead, currency: string): Choice {
  if (!price) return { reason: 'TEMPORARILY_UNAVAILABLE' };
  try {
    const { quote } = quoteAt(price, {
      currency,
      fiatAmount: row.fiat_amount,
      fiat: row.fiat_currency,
      feeBps: row.fee_bps,
      feeBearer: row.fee_bearer,
    });
    return { amount: fit(quote.amount, 18, 'down'), feeAmount: fit(quote.feeAmount, 18, 'down') };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { reason: error.details['reason'] === 'BELOW_MINIMUM' ? 'BELOW_MINIMUM' : 'NOT_AVAILABLE' };
  }
}

/** The same of a currency that comes by Lightning, where our node could not receive the amount now. */
function receivable(choice: Choice, currency: string, node: NodeNow | null): Choice {
  if (!isByLightning(currency) || !('amount' in choice)) return choice;
  return whyNotByLightning(node, baseUnits(currency, choice.amount)) === null
    ? choice
    : { reason: 'TEMPORARILY_UNAVAILABLE' };
}

export const listInvoiceCurrencies = route({
  name: 'listInvoiceCurrencies',
  method: 'get',
  path: '/invoice/{invoiceId}/currencies',
  summary: 'What an invoice can be paid in',
  tag,
  envelope: 'B',
  params: invoiceParams,
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(
        Type.Object({
          currency: Type.String(),
          asset: Type.String(),
          network: Type.String(),
          networkName: Type.String(),
          coinName: Type.String({ description: 'The name of `asset`, whatever its network.' }),
          name: Type.String(),
          iconUrl: Type.String(),
          amount: nullable(Type.String()),
          feeAmount: nullable(Type.String()),
          estimatedSeconds: Type.Integer(),
          available: Type.Boolean(),
          reason: Type.Optional(Type.String({ enum: ['BELOW_MINIMUM', 'TEMPORARILY_UNAVAILABLE', 'NOT_AVAILABLE'] })),
          payerFeeFiat: nullable(
            Type.Number({
              description:
                'About what the network takes beside `amount`, in the fiat currency of the price; null: not known.',
            }),
          ),
          status: Type.String({ enum: [...networkStatuses], description: 'Of the network, as in `listCurrencies`.' }),
          statusMessage: nullable(Type.String()),
        }),
      ),
    }),
    description:
      'Each currency that the merchant takes, with its price now: coin by coin, and of each the cheapest network for ' +
      'the payer first; networks that cannot be chosen come last.',
  },
  errors: ['INVOICE_NOT_FOUND'],
  async answer({ params }, deps) {
    const invoice = await invoiceOf(deps, params.invoiceId, 'INVOICE_NOT_FOUND');
    const { merchant_id: merchantId, fiat_currency: fiat } = invoice.row;
    const { config } = deps;
    const [wallets, node, offers] = await Promise.all([
      walletsOf(deps.db, merchantId),
      nodeNow(deps.db),
      offersNow(deps.db, { merchantId, fiat, maxAgeSeconds: config.RATE_MAX_AGE_SECONDS }),
    ]);
    const { allowed_currencies: allowed } = invoice.row;
    const taken = wallets
      .filter(
        ({ currency, is_active: isActive }) =>
          isActive &&
          (allowed === null || allowed.includes(currency)) &&
          payableAsset(currency, config.LIGHTNING_PAYMENTS) !== undefined,
      )
      .map(({ currency }) => {
        const asset = assetOf(currency);
        const { price, payerFee, ...watch } = offers.get(currency)!;
        const isOn = config.networks.includes(asset.network);
        const told = currencyStatus(asset, watch, node, { isOn, isPriced: price !== null });
        const choice = receivable(choiceOf(told.isOpen ? price : null, invoice, currency), currency, node);
        return { currency, asset: asset.asset, entry: asset, payerFee, ...told, choice, isOpen: 'amount' in choice };
      });
    const items = sortOffers(taken).map(({ entry: asset, choice, payerFee, status, statusMessage, isOpen }) => {
      const network = networks[asset.network];
      return {
        currency: asset.currency,
        asset: asset.asset,
        network: network.id,
        networkName: carrierOf(asset),
        coinName: coinName(asset),
        name: asset.name,
        iconUrl: `${config.API_URL}${iconPath(asset.asset)}`,
        amount: 'amount' in choice ? choice.amount : null,
        feeAmount: 'amount' in choice ? choice.feeAmount : null,
        estimatedSeconds: usualSeconds(network.id, depthOf(asset, config.confirmations)),
        available: isOpen,
        ...('reason' in choice ? { reason: choice.reason } : {}),
        payerFeeFiat: payerFee === null ? null : shown(payerFee, 'up'),
        status,
        statusMessage,
      };
    });
    return { data: { items } };
  },
});

export const selectInvoiceCurrency = route({
  name: 'selectInvoiceCurrency',
  method: 'post',
  path: '/invoice/{invoiceId}/select-currency',
  summary: 'The payer chooses or changes the currency',
  tag,
  envelope: 'B',
  params: invoiceParams,
  body: Type.Object({ currency: Type.String({ minLength: 1, maxLength: 32, description: 'Ticker, any case.' }) }),
  success: { status: 200, schema: createdSchema, description: 'The invoice with its address and quote.' },
  errors: ['CURRENCY_NOT_CHANGEABLE', 'RATE_UNAVAILABLE'],
  async answer({ params, body }, deps) {
    const { row } = await invoiceOf(deps, params.invoiceId, 'CURRENCY_NOT_CHANGEABLE');
    const currency = await checkCurrencyChoice(deps, row, body.currency);
    if (currency) await selectNow(deps, row, currency, 'payer');
    const chosen = (await invoiceOf(deps, params.invoiceId, 'CURRENCY_NOT_CHANGEABLE')).row;
    return { data: viewCreated((await invoiceShown(deps, chosen)) ?? chosen) };
  },
});

/** Whether an invoice waits for money still: all of it, or the rest. */
const isAsked = ({ row }: InvoiceRead): boolean => row.status === 'WAITING' || row.status === 'PARTIALLY_PAID';
/** Whether the quote of an invoice that waits for money is still in force. */
const isInForce = (invoice: InvoiceRead): boolean => isAsked(invoice) && isGuaranteed(invoice);
const isGuaranteed = ({ row, serverTime }: InvoiceRead): boolean =>
  row.quote_expires_at !== null && serverTime < row.quote_expires_at;

export const refreshInvoiceQuote = route({
  name: 'refreshInvoiceQuote',
  method: 'post',
  path: '/invoice/{invoiceId}/refresh-quote',
  summary: 'Renew a quote that has expired',
  description:
    'While the quote holds, the answer is the invoice as it is. Where a part has come, it keeps its rate, and what ' +
    'is missing gets a new one.',
  tag,
  envelope: 'B',
  params: invoiceParams,
  body: Type.Object({}),
  success: { status: 200, schema: createdSchema, description: 'The invoice with its quote.' },
  errors: ['QUOTE_NOT_REFRESHABLE', 'OUTCOME_UNKNOWN'],
  async answer({ params }, deps) {
    const invoice = await invoiceOf(deps, params.invoiceId, 'QUOTE_NOT_REFRESHABLE');
    if (isInForce(invoice)) return { data: viewCreated(invoice.row) };
    const isOver = invoice.serverTime >= invoice.row.expires_at;
    if (!isAsked(invoice) || isOver) throw new DomainError('QUOTE_NOT_REFRESHABLE');
    const refusal = await deps.commands.refreshQuote(invoice.row).then(
      () => null,
      (error: unknown) => error,
    );
    const renewed = await invoiceOf(deps, params.invoiceId, 'QUOTE_NOT_REFRESHABLE');
    // Another page may have renewed it a moment before.
    if (refusal && !(refusal instanceof DomainError && refusal.code === 'QUOTE_NOT_REFRESHABLE' && isInForce(renewed)))
      throw refusal;
    return { data: viewCreated((await invoiceShown(deps, renewed.row)) ?? renewed.row) };
  },
});

export const cancelInvoice = route({
  name: 'cancelInvoice',
  method: 'post',
  path: '/invoice/{invoiceId}/cancel',
  summary: 'The payer cancels an invoice that nobody has paid',
  tag,
  envelope: 'B',
  params: invoiceParams,
  body: Type.Object({ confirm: Type.Literal(true) }),
  success: { status: 200, schema: cancelledSchema, description: 'Cancelled.' },
  errors: ['PAYMENT_NOT_CANCELLABLE'],
  async answer({ params }, deps) {
    const { row } = await invoiceOf(deps, params.invoiceId, 'PAYMENT_NOT_CANCELLABLE');
    if (row.status !== 'WAITING' && row.status !== 'AWAITING_CURRENCY')
      throw new DomainError('PAYMENT_NOT_CANCELLABLE');
    const { status } = await cancelNow(deps, row, null);
    if (status !== 'CANCELLED') throw new DomainError('PAYMENT_NOT_CANCELLABLE');
    return { data: { success: true, status } };
  },
});
