import { Type, type TProperties, type TSchema } from 'typebox';
import { fiatDecimals } from '../../domain/pricing/quote';
import { paymentExceptions, paymentStatuses } from '../../domain/payments/payment';
import { refundStatuses } from '../../domain/refunds/refund';
import { riskBands, screenStatuses } from '../../domain/screening/screening';

/** Shapes that several routes share. Enum values may grow within a version. */

const id = (description: string) => Type.String({ pattern: '^[0-9a-f]{24}$', description });
const timeOf = (description: string) => Type.String({ format: 'date-time', description });
const optional = Type.Optional;
/** An object that the API reference lists under a name of its own; elsewhere it is named after its operation. */
export const named = <Properties extends TProperties>(title: string, properties: Properties) =>
  Type.Object(properties, { title });
const decimal = (description: string) =>
  Type.String({ pattern: '^-?\\d{1,42}(\\.\\d{1,18})?$', description: `${description} Exact decimal string.` });
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const time = Type.String({ format: 'date-time' });
export const exact = (description: string) => Type.String({ description: `${description} Exact decimal string.` });

/** How many rows one answer of a list has; `pageOf` reads it. Contract: 4.5. */
export const limit = Type.Integer({ minimum: 1, default: 50, description: 'At most 100; more is 100.' });
/** Query of a list that goes by pages. */
export const paging = { page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }), limit };
/** A filter that is on or off, and how it is read. */
export const flag = (description: string) =>
  Type.Optional(Type.String({ enum: ['1', 'true', '0', 'false', ''], description }));
export const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';
export const heldFlag = flag(
  '1: only what is held before it is signed: by a limit, a pause of its currency, a hold of the account, or a check.',
);
/** How files were asked for before they had routes of their own. Still answered, left out of the API reference. */
export const oldFormat = (...formats: readonly string[]) =>
  Type.Optional(Type.String({ enum: ['json', ...formats], undocumented: true }));
/** The query of a list, with no more rows than one answer has. */
export const pageOf = <Query extends { limit: number }>(query: Query): Query => ({
  ...query,
  limit: Math.min(query.limit, 100),
});

export const statusSchema = Type.String({
  enum: [...paymentStatuses],
  description: 'Lifecycle status.',
  title: 'PaymentStatus',
});
const tagOfPayment = 'Of the payment, where others share its address: money without it is not found by itself.';
const exceptionsSchema = Type.Array(Type.String({ enum: [...paymentExceptions] }), {
  description: 'What was out of the ordinary; independent of the status.',
});
const fiatSchema = Type.String({ description: `Fiat currency: ${Object.keys(fiatDecimals).join(', ')}.` });

const screenStatusSchema = Type.String({
  enum: [...screenStatuses],
  description: '`unavailable` and `skipped` mean: not screened.',
});
const riskScoreSchema = Type.Integer({ minimum: 0, maximum: 100, description: 'Present when there is a result.' });
/** Contract: 2.9. */
export const screenSchema = named('ScreenResult', {
  status: screenStatusSchema,
  riskScore: optional(riskScoreSchema),
  riskBand: optional(Type.String({ enum: [...riskBands], description: 'From the score.' })),
  severity: optional(
    Type.String({ enum: [...riskBands], description: 'From score and categories; present on a match.' }),
  ),
  categories: optional(Type.Array(Type.String(), { description: 'Risks that matched.' })),
  checkedAt: timeOf('When the screen ran.'),
  reason: optional(Type.String({ description: 'Say, why it is unavailable.' })),
  skipCause: optional(Type.String({ description: 'Present only when skipped.' })),
});

export const receivedOtherSchema = Type.Array(
  named('OtherDeposit', {
    currency: Type.String(),
    amount: decimal('What arrived.'),
    txId: nullable(Type.String({ description: 'null where no transaction tells of it: found by balance.' })),
    fiatValue: nullable(decimal('Worth when it was noticed, rounded down; null where no rate was known.')),
  }),
  { description: 'Confirmed deposits of other coins than `currency`.' },
);

/** What a merchant shows of themselves to payers. */
export const brandingSchema = named('Branding', {
  supportEmail: nullable(Type.String({ description: 'Where payers write to.' })),
  supportUrl: nullable(Type.String({ description: 'Where payers ask.' })),
  termsUrl: nullable(Type.String({ description: 'The merchant’s terms.' })),
  accentColor: nullable(Type.String({ description: '`#rrggbb`.' })),
  logoUrl: nullable(Type.String({ description: 'Path of the logo, on the API and on the checkout host.' })),
});

/** Contract: 2.2, G1. */
export const livemode = Type.Boolean({ description: 'false in a test instance, whose coins are worth nothing.' });
const paymentProperties = {
  _id: id('Payment id.'),
  status: statusSchema,
  stateVersion: Type.Integer({ description: 'Grows by one with each visible change; drop older ones.' }),
  exceptions: exceptionsSchema,
  livemode,
  currency: optional(Type.String({ description: 'Ticker the payer pays in; absent until one is chosen.' })),
  createdAt: timeOf('Creation.'),
  updatedAt: timeOf('Last change.'),
  expiresAt: optional(timeOf('Expiry of the invoice.')),
  quoteExpiresAt: optional(timeOf('The crypto quote is guaranteed until then.')),
  amount: optional(Type.Number({ description: 'Payable, in units of `currency`.' })),
  amountPaid: Type.Number({ description: 'What arrived, in units of `currency`.' }),
  amountRemaining: optional(decimal('Still missing.')),
  overpaidAmount: optional(decimal('Above the amount.')),
  fiatAmount: Type.Number({ description: 'Fiat price.' }),
  fiatCurrency: fiatSchema,
  exchangeRate: optional(
    Type.Number({
      description:
        'Fiat per unit of `currency`: of the current quote until the price is met, then fiat value received by ' +
        'amount paid.',
    }),
  ),
  basis: Type.String({ enum: ['quoted', 'settled'], description: 'On which feeAmount and netAmount stand.' }),
  feeAmount: optional(Type.Number({ description: 'Total fee, crypto.' })),
  quotedFeeAmount: optional(Type.Number()),
  commissionAmount: optional(Type.Number({ description: 'Commission part, crypto, at the quote.' })),
  sweepCostCrypto: optional(Type.Number({ description: 'Network-fee provision, crypto, at the quote.' })),
  netAmount: optional(Type.Number({ description: 'Credited to the merchant, crypto.' })),
  quotedNetAmount: optional(Type.Number()),
  settledFeeAmount: optional(Type.Number()),
  settledNetAmount: optional(Type.Number()),
  settledStampIncomplete: optional(Type.Boolean()),
  grossFiat: optional(Type.Number()),
  commissionFiat: optional(Type.Number()),
  networkFeeFiat: optional(Type.Number()),
  feeFiat: optional(Type.Number()),
  netFiat: optional(Type.Number()),
  feeBearer: Type.String({ enum: ['customer', 'merchant'] }),
  publicKey: optional(Type.String({ description: 'The deposit address.' })),
  destinationTag: optional(Type.String({ description: tagOfPayment })),
  addressRole: Type.String({ enum: ['primary', 'repeat'] }),
  merchantSettlementAddress: optional(Type.String()),
  txIds: Type.Array(Type.String(), { description: 'Hashes of the deposits, other coins included.' }),
  receivedOther: receivedOtherSchema,
  confirmations: Type.Integer(),
  requiredConfirmations: optional(Type.Integer()),
  sweep: optional(
    Type.Object({
      state: Type.String({ enum: ['queued', 'broadcast', 'confirmed'] }),
      txId: nullable(Type.String()),
    }),
  ),
  refundStatus: Type.String({
    enum: ['none', 'partial', 'full'],
    description: 'By completed refunds in any currency; `full`: every coin that came has been refunded whole.',
  }),
  refundedAmount: decimal('Refunded so far, in units of `currency`.'),
  refundedOther: Type.Array(Type.Object({ currency: Type.String(), amount: decimal('Refunded so far.') }), {
    description: 'Refunds in other coins than `currency`.',
  }),
  parentPaymentId: optional(id('The payment whose address received this one.')),
  repeatDepositChildIds: Type.Array(Type.String()),
  crossChainAutoAcceptAt: optional(
    timeOf('When a pending wrong-currency deposit is accepted, if what is there then covers the price.'),
  ),
  crossChainRejectAt: optional(timeOf('When the payment fails unless the wrong-currency deposit has been accepted.')),
  originalCurrency: optional(Type.String()),
  originalAmount: optional(decimal('Before a wrong-currency deposit was accepted.')),
  source: Type.String({ enum: ['api', 'platform'] }),
  idempotencyKey: optional(Type.String()),
  shortSlug: Type.String({ description: 'Public invoice id.' }),
  invoiceUrl: Type.String({ description: 'Path of the hosted invoice on the checkout host.' }),
  aml: optional(
    Type.Object({
      status: screenStatusSchema,
      riskScore: optional(riskScoreSchema),
      checkedAt: timeOf('When the screen ran.'),
    }),
  ),
  description: optional(Type.String({ description: 'What it is for, in words for the payer.' })),
  merchantOrderId: optional(Type.String()),
  customerId: optional(Type.String()),
  extraId: optional(Type.String()),
  metadata: optional(Type.Unknown({ description: 'As it came, byte for byte.' })),
};
export const paymentSchema = named('Payment', paymentProperties);
export const paymentListSchema = Type.Object({
  items: Type.Array(
    named('PaymentRow', {
      ...paymentProperties,
      invoicedFiat: Type.Number({ description: 'What the payer was asked for, in fiat.' }),
      receivedFiat: Type.Number({ description: 'What arrived, in fiat at the rate of the quote.' }),
    }),
  ),
  total: Type.Integer(),
});

/** Contract: 2.3. */
export const createdSchema = named('CreatedPayment', {
  paymentId: id('Payment id.'),
  depositAddress: optional(
    Type.String({ description: 'In `BTC_LN` the Lightning invoice; absent while it is being made for a payer.' }),
  ),
  destinationTag: optional(Type.String({ description: tagOfPayment })),
  amount: Type.Number({ description: 'Crypto amount; without a currency the fiat price.' }),
  feeAmount: optional(Type.Number()),
  netAmount: optional(Type.Number()),
  expiresAt: optional(timeOf('Expiry of the invoice.')),
  quoteExpiresAt: optional(timeOf('End of the quote.')),
  currency: optional(Type.String()),
  invoiceUrl: Type.String({ description: 'Path on the checkout host.' }),
  status: statusSchema,
});

/** Contract: G2. */
export const invoiceSchema = named('Invoice', {
  invoiceId: Type.String(),
  livemode,
  status: statusSchema,
  exceptions: exceptionsSchema,
  stateVersion: Type.Integer(),
  serverTime: timeOf('The clock that deadlines know.'),
  merchantName: Type.String(),
  merchantOrderId: nullable(Type.String({ description: 'The merchant’s own number of the order.' })),
  description: nullable(Type.String({ description: 'What the payment is for.' })),
  branding: brandingSchema,
  thankYouText: nullable(Type.String({ description: 'Of the merchant’s widget, once it is paid.' })),
  fiatAmount: Type.Number(),
  fiatCurrency: fiatSchema,
  currency: nullable(Type.String()),
  network: nullable(Type.String()),
  exchangeRate: nullable(decimal('Fiat per unit.')),
  amount: nullable(decimal('Payable.')),
  amountPaid: decimal('What arrived.'),
  amountRemaining: nullable(decimal('Still missing.')),
  amountSeen: decimal('What the chain shows of it, whether or not the status counts it yet.'),
  seenOther: Type.Array(
    Type.Object({ currency: Type.String(), amount: decimal('Exact.'), txId: nullable(Type.String()) }),
    { description: 'Deposits in other coins that wait for their confirmations.' },
  ),
  paymentSeen: Type.Boolean({
    description: 'Money has been seen that the status does not count yet: nothing is to be paid until it does.',
  }),
  overpaidAmount: decimal('Above the amount.'),
  depositAddress: nullable(Type.String()),
  destinationTag: nullable(Type.String({ description: tagOfPayment })),
  paymentUri: nullable(Type.String({ description: 'Opens a wallet.' })),
  createdAt: timeOf('Creation.'),
  paidAt: nullable(timeOf('When it was confirmed.')),
  refundedAmount: decimal('What of it went back.'),
  expiresAt: nullable(timeOf('Expiry; null until a currency is chosen.')),
  quoteExpiresAt: nullable(timeOf('End of the quote.')),
  confirmations: Type.Integer({ description: 'Never more than the required ones.' }),
  requiredConfirmations: nullable(Type.Integer()),
  txIds: Type.Array(Type.String(), { description: 'Hashes of the deposits, other coins included.' }),
  explorerTxUrls: Type.Record(Type.String(), Type.String(), {
    description: 'By network: a public page of a transaction, with `{txId}` in it. None for chains that have none.',
  }),
  receivedOther: receivedOtherSchema,
  crossChainAutoAcceptAt: nullable(timeOf('When the other coin is accepted, if what is there then covers the price.')),
  crossChainRejectAt: nullable(timeOf('When the payment fails unless the merchant has accepted the other coin.')),
  cancellable: Type.Boolean(),
  redirectUrl: nullable(Type.String({ description: 'Where the payer goes on, with the outcome appended.' })),
  underpaidRefund: nullable(
    Type.String({
      enum: [...refundStatuses],
      description:
        'Where the refund of what came too short stands, where the merchant’s policy has opened one. The merchant ' +
        'hands on its link: whoever has the link says where the money goes.',
    }),
  ),
  networkDelayed: Type.Boolean({
    description: 'The network is not read up to now: money is seen later, and the invoice does not expire meanwhile.',
  }),
  refundAddress: nullable(
    Type.String({ description: 'Where a refund by policy would go: left by the payer before the first deposit.' }),
  ),
  refundDestinationTag: nullable(Type.String({ description: 'Of that address, where its network has tags.' })),
  refundContested: Type.Boolean({ description: 'Several say they are the payer: a user of the merchant decides.' }),
  refundAddressLocked: Type.Boolean({ description: 'No address can be left any more.' }),
});

export const cancelledSchema = named('Cancellation', {
  success: Type.Boolean(),
  status: Type.Literal('CANCELLED'),
});

export const minimumSchema = named('MinimumOrder', {
  currency: Type.String(),
  minAmountCrypto: Type.Number(),
  minAmountUsd: Type.Number(),
  feeBps: Type.Integer(),
});

/** Text columns cannot hold NUL, and half a surrogate pair is no text. */
export const line = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u001f\\ud800-\\udfff]*$', description });
/** The same with every other character, line ends and controls too. */
export const anyText = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^[^\\u0000\\ud800-\\udfff]*$', description });
export const callbackUrl = (description: string) => Type.String({ minLength: 1, maxLength: 2048, description });

/** What mail can be sent to; compared in lower case. */
export const emailSchema = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@<>"(),:;\\\\\\u0000-\\u001f\\ud800-\\udfff]{1,64}@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$',
  description: 'E-mail address.',
});
export const passwordSchema = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000\\ud800-\\udfff]*$',
  description: 'At least 8 characters, with small and capital letters, digits and special characters.',
});
