import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { rawProperty } from '../../domain/payments/json-text';
import { Decimal } from '../../domain/money';
import { paymentJson, viewCreated } from '../../domain/payments/payment-view';
import { openPayment } from '../../commands/payments/create';
import { readPayment, type PaymentRead } from '../../db/payments/payment-queries';
import { noteRefusal } from '../../db/access/request-log';
import { timelineOf } from '../../db/payments/timeline';
import { openingDeps, type ApiDeps } from '../http/deps';
import { idempotencyKeyOf } from '../http/idempotency';
import { chosenWithInvoice, openedWithInvoice } from './await-invoice';
import { withOwnInvoice } from './own-invoice';
import { checkCurrencyChoice } from './currency-choice';
import { cancelNow, selectNow } from './decide';
import { route } from '../http/route';
import {
  anyText,
  callbackUrl,
  cancelledSchema,
  createdSchema,
  line,
  named,
  nullable,
  paymentSchema,
  receivedOtherSchema,
  statusSchema,
  time,
} from '../http/schemas';
import { workflowIds } from '../../domain/workflow-ids';
import { workflowUrl } from '../operators/workflow-url';

export const tag = 'Payments';
export const paymentParams = Type.Object({ paymentId: Type.String({ description: '24-hex payment id.' }) });

/** `metadata.custom.orderId`, which the list can be filtered by: a string, or a number as it is written. */
function orderIdOf(metadata: string | null): string | null {
  const raw = rawProperty(rawProperty(metadata ?? '', 'custom') ?? '', 'orderId') ?? '';
  if (!/^["\d-]/.test(raw)) return null;
  const orderId = raw.startsWith('"') ? (JSON.parse(raw) as string) : raw;
  return orderId.length <= 256 && orderId.isWellFormed() && !orderId.includes('\0') ? orderId : null;
}

export const createPayment = route({
  name: 'createPayment',
  method: 'post',
  path: '/api/v1/payments',
  summary: 'Create a payment',
  description:
    'With a currency, the answer has the deposit address and the quote; without, the payer chooses on the hosted ' +
    'invoice. In `BTC_LN` it waits a moment for the Lightning invoice, which stands for the address; where none ' +
    'comes, the payment is cancelled and the answer is 503: ask again with the same key. The same idempotency key ' +
    'returns the first payment, whatever the body, if it is valid ' +
    '(`Idempotency-Replayed: true`). ' +
    'The reason of a generic refusal is kept for you under the request id: see request logs.',
  tag,
  envelope: 'B',
  deepProperty: 'metadata',
  headers: { 'Idempotency-Key': '1 to 255 printable ASCII characters, no spaces. One per order.' },
  body: Type.Object({
    amount: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000_000_000,
      description: 'Fiat price in your display currency, in whole minor units (a thousandth of one is rounded).',
    }),
    currency: Type.Optional(
      Type.String({ minLength: 1, maxLength: 32, description: 'Ticker, any case; omit to let the payer choose.' }),
    ),
    merchantOrderId: Type.Optional(anyText(256, 'Your order id: any characters but U+0000.')),
    description: Type.Optional(line(200, 'What it is for: shown to the payer on the page and the receipt.')),
    customerId: Type.Optional(line(256, 'Your customer id.')),
    extraId: Type.Optional(line(256, 'Anything else to find the payment by.')),
    metadata: Type.Optional(Type.Unknown({ description: 'Any JSON, at most 8192 bytes, echoed byte for byte.' })),
    idempotencyKey: Type.Optional(Type.String({ description: 'In place of the header, which comes first.' })),
    ipnCallbackUrl: Type.Optional(
      callbackUrl(
        'Events of this payment are posted here: https, port 443 or 8443, no internal address; a sandbox takes any.',
      ),
    ),
    invoiceCallbackUrl: Type.Optional(callbackUrl('Where the payer goes after paying.')),
    invoiceCancelUrl: Type.Optional(callbackUrl('Where the payer goes otherwise; else invoiceCallbackUrl.')),
    expiresIn: Type.Optional(
      Type.Number({ minimum: 60, maximum: 172_800, description: 'Seconds; parts of one are rounded up.' }),
    ),
  }),
  marksRepeats: true,
  success: { status: 201, schema: createdSchema, description: 'The payment, new or the first with this key.' },
  errors: [
    'INVALID_IDEMPOTENCY_KEY',
    'RESERVED_IDEMPOTENCY_KEY',
    'CALLBACK_NOT_HTTPS',
    'CALLBACK_INTERNAL',
    'METADATA_TOO_LARGE',
    'PAYMENT_CREATION_FAILED',
  ],
  async answer({ merchant, source, body, rawBody, header, requestId }, deps) {
    const idempotencyKey = idempotencyKeyOf(header('idempotency-key'), body.idempotencyKey);
    const metadata = rawProperty(rawBody, 'metadata') ?? null;
    try {
      const { row, replayed } = await openPayment(openingDeps(deps), merchant, {
        ...body,
        amount: new Decimal(body.amount).toFixed(),
        source,
        idempotencyKey,
        metadata,
        orderId: orderIdOf(metadata),
        expiresIn: body.expiresIn && Math.ceil(body.expiresIn),
      });
      const headers: Record<string, string> = replayed ? { 'Idempotency-Replayed': 'true' } : {};
      return { data: viewCreated(await openedWithInvoice(deps, row)), headers };
    } catch (error) {
      if (error instanceof DomainError && error.code === 'PAYMENT_CREATION_FAILED')
        await noteRefusal(deps.db, { requestId, merchantId: merchant.id, details: error.details });
      throw error;
    }
  },
});

/** The merchant's payment. Throws INVALID_PAYMENT_ID, and `missing` for an unknown or foreign one. */
export async function ownPayment(
  deps: ApiDeps,
  merchantId: string,
  id: string,
  missing: 'PAYMENT_NOT_FOUND' | 'PAYMENT_NOT_CANCELLABLE' | 'CURRENCY_NOT_CHANGEABLE',
): Promise<PaymentRead> {
  if (!isId(id)) throw new DomainError('INVALID_PAYMENT_ID');
  const found = await readPayment(deps.db, merchantId, id);
  if (!found) throw new DomainError(missing);
  return withOwnInvoice(deps, found);
}

export const getPayment = route({
  name: 'getPayment',
  method: 'get',
  path: '/api/v1/payments/{paymentId}',
  summary: 'Get a payment',
  tag,
  envelope: 'B',
  params: paymentParams,
  success: { status: 200, schema: paymentSchema, description: 'The payment.' },
  errors: ['INVALID_PAYMENT_ID', 'PAYMENT_NOT_FOUND'],
  async answer({ merchant, params }, deps) {
    const { row, now } = await ownPayment(deps, merchant.id, params.paymentId, 'PAYMENT_NOT_FOUND');
    return { json: paymentJson(row, now) };
  },
});

const rateSchema = named('PaymentRate', {
  currency: Type.String(),
  fiat: Type.String(),
  value: Type.String({ description: 'Fiat per unit. Exact decimal string.' }),
  takenAt: time,
  sources: Type.Array(
    Type.Object({
      source: Type.String(),
      value: Type.String(),
      takenAt: Type.String(),
      refused: Type.Optional(Type.String({ description: 'Why it did not count.' })),
    }),
    { description: 'What each source said.' },
  ),
});
const changeSchema = named('PaymentChange', {
  kind: Type.Literal('change'),
  at: time,
  from: nullable(statusSchema),
  to: statusSchema,
  cause: Type.String(),
  reason: nullable(Type.String({ description: 'As it was given.' })),
  by: nullable(Type.String({ description: 'Who decided it, of the merchant: the address of a person, or a key.' })),
  stateVersion: Type.Integer(),
  txIds: Type.Array(Type.String(), { description: 'The transactions behind it.' }),
  receivedOther: receivedOtherSchema,
  confirmations: nullable(Type.Integer({ description: 'At that time.' })),
  rate: Type.Union([rateSchema, Type.Null()], { description: 'The rate that it locked, with its evidence.' }),
});
const deliverySchema = named('PaymentDelivery', {
  kind: Type.Literal('delivery'),
  at: time,
  deliveryId: Type.String(),
  type: Type.String({ description: 'Type of the event.' }),
  stateVersion: Type.Integer({ description: 'Of the change that it tells of.' }),
  endpointId: Type.String({ description: 'ipn, or the id of the webhook endpoint.' }),
  attempt: Type.Integer(),
  statusCode: nullable(Type.Integer()),
  error: nullable(Type.String()),
  durationMs: Type.Integer(),
});

export const getTimeline = route({
  name: 'getPaymentTimeline',
  method: 'get',
  path: '/api/v1/payments/{paymentId}/timeline',
  summary: 'What happened to a payment, oldest first',
  tag,
  envelope: 'A',
  params: paymentParams,
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(Type.Union([changeSchema, deliverySchema])),
      workflow: Type.Object({
        id: Type.String(),
        url: nullable(Type.String({ description: 'In the Temporal UI.' })),
      }),
    }),
    description: 'Every change, every attempt to deliver an event of it, and the workflow that looks after it.',
  },
  errors: ['INVALID_PAYMENT_ID', 'PAYMENT_NOT_FOUND'],
  async answer({ merchant, params }, deps) {
    const { row } = await ownPayment(deps, merchant.id, params.paymentId, 'PAYMENT_NOT_FOUND');
    const id = workflowIds.payment(row.id);
    return { data: { items: await timelineOf(deps.db, row.id), workflow: { id, url: workflowUrl(deps, id) } } };
  },
});

export const cancelPayment = route({
  name: 'cancelPayment',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/cancel',
  summary: 'Cancel a payment that nobody has paid',
  tag,
  envelope: 'B',
  params: paymentParams,
  body: Type.Object({ reason: Type.Optional(line(256, 'Kept in the timeline.')) }),
  success: { status: 200, schema: cancelledSchema, description: 'Cancelled.' },
  errors: ['INVALID_PAYMENT_ID', 'PAYMENT_NOT_CANCELLABLE'],
  async answer({ merchant, params, body, ...caller }, deps) {
    const { row } = await ownPayment(deps, merchant.id, params.paymentId, 'PAYMENT_NOT_CANCELLABLE');
    if (row.status !== 'WAITING' && row.status !== 'AWAITING_CURRENCY')
      throw new DomainError('PAYMENT_NOT_CANCELLABLE');
    const { status } = await cancelNow(deps, row, caller, body.reason);
    if (status !== 'CANCELLED') throw new DomainError('PAYMENT_NOT_CANCELLABLE');
    return { data: { success: true, status } };
  },
});

export const selectCurrency = route({
  name: 'selectPaymentCurrency',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/select-currency',
  summary: 'Choose or change the currency of a payment that nobody has paid',
  tag,
  envelope: 'B',
  params: paymentParams,
  body: Type.Object({ currency: Type.String({ minLength: 1, maxLength: 32, description: 'Ticker, any case.' }) }),
  success: { status: 200, schema: createdSchema, description: 'The payment with its address and quote.' },
  errors: ['INVALID_PAYMENT_ID', 'CURRENCY_NOT_CHANGEABLE', 'RATE_UNAVAILABLE'],
  async answer({ merchant, params, body }, deps) {
    const { row } = await ownPayment(deps, merchant.id, params.paymentId, 'CURRENCY_NOT_CHANGEABLE');
    const currency = await checkCurrencyChoice(deps, row, body.currency);
    if (currency) await selectNow(deps, row, currency, 'merchant');
    const chosen = await ownPayment(deps, merchant.id, row.id, 'CURRENCY_NOT_CHANGEABLE');
    return { data: viewCreated(await chosenWithInvoice(deps, chosen.row)) };
  },
});
