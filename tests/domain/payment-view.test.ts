import { noBranding } from '../../domain/branding/branding';
import fc from 'fast-check';
import {
  paymentJson,
  paymentListJson,
  redirectUrl,
  viewCreated,
  viewInvoice,
  viewPayment,
} from '../../domain/payments/payment-view';
import type { PaymentRow } from '../../domain/payments/payment';
import { times } from '../../domain/money';
import { quote, fitFiat } from '../../domain/pricing/quote';

const at = new Date('2026-01-05T10:00:00.123Z');
const numeric = (amount: string) =>
  amount.includes('.') ? amount.padEnd(amount.indexOf('.') + 19, '0') : `${amount}.${'0'.repeat(18)}`;

/** A row as Postgres hands it over, quoted. */
function aRow(patch: Partial<PaymentRow> = {}, price = { fiat: '25', rate: '64000', fiatCurrency: 'USD' }): PaymentRow {
  const bearer = patch.fee_bearer ?? 'merchant';
  const currency = patch.currency ?? 'BTC';
  const quoted = quote({
    currency,
    fiatAmount: price.fiat,
    rate: price.rate,
    feeBps: 40,
    feeBearer: bearer,
    networkFee: '0.000007',
  });
  return {
    id: 'a'.repeat(24),
    merchant_id: 'b'.repeat(24),
    slug: '2'.repeat(20),
    status: 'WAITING',
    state_version: 1,
    exceptions: [],
    source: 'api',
    idempotency_key: null,
    description: null,
    merchant_order_id: null,
    customer_id: null,
    extra_id: null,
    metadata: null,
    order_id: null,
    ipn_callback_url: null,
    invoice_callback_url: null,
    invoice_cancel_url: null,
    fiat_amount: numeric(price.fiat),
    fiat_currency: price.fiatCurrency,
    fee_bearer: bearer,
    fee_bps: 40,
    tolerance_pct: '1.00',
    underpaid_policy: 'hold',
    currency,
    network: 'bitcoin',
    amount: numeric(quoted.amount),
    quote_amount: numeric(quoted.amount),
    exchange_rate: numeric(price.rate),
    commission_amount: numeric(quoted.commissionAmount),
    network_fee_amount: numeric(quoted.networkFeeAmount),
    fee_amount: numeric(quoted.feeAmount),
    net_amount: numeric(quoted.netAmount),
    rate_id: '1',
    native_rate: '1',
    quoted_at: at,
    quote_expires_at: at,
    required_confirmations: 2,
    destination_tag: null,
    deposit_address: 'bcrt1qexample',
    settlement_address: 'bcrt1qsettle',
    custody: 'platform',
    expires_at: at,
    expires_in: 3600,
    amount_paid: numeric('0'),
    value_paid: null,
    tx_ids: [],
    settled_fee_amount: null,
    settled_net_amount: null,
    settled_stamp_incomplete: false,
    sweep_state: null,
    sweep_tx_id: null,
    address_role: 'primary',
    parent_payment_id: null,
    widget_id: null,
    widget_type: null,
    widget_origin: null,
    allowed_currencies: null,
    child_deposit_id: null,
    original_currency: null,
    original_amount: null,
    accepted_share: null,
    auto_accept_cross_chain_hours: null,
    cross_offer: null,
    cross_chain_auto_accept_at: null,
    confirmed_at: null,
    settled_at: null,
    created_at: at,
    updated_at: at,
    ...patch,
  };
}
const noCurrency: Partial<PaymentRow> = {
  status: 'AWAITING_CURRENCY',
  network: null,
  amount: null,
  exchange_rate: null,
  commission_amount: null,
  network_fee_amount: null,
  fee_amount: null,
  net_amount: null,
  quote_expires_at: null,
  required_confirmations: null,
  deposit_address: null,
  settlement_address: null,
  custody: null,
};
const without = (): PaymentRow => ({ ...aRow(noCurrency), currency: null });
const now = { livemode: true, confirmations: 0, childIds: [], aml: null, other: [], refunded: {} };
type Figure =
  | 'commissionFiat'
  | 'networkFeeFiat'
  | 'feeFiat'
  | 'netFiat'
  | 'grossFiat'
  | 'commissionAmount'
  | 'sweepCostCrypto'
  | 'quotedFeeAmount';
const shown = (row: PaymentRow) =>
  JSON.parse(paymentJson(row, now)) as Record<Figure, number> & Record<string, unknown>;

describe('a payment', () => {
  it('is on the quoted basis until it is settled', () => {
    const view = shown(aRow());
    expect(view).toMatchObject({
      basis: 'quoted',
      amount: 0.00039063,
      fiatAmount: 25,
      exchangeRate: 64000,
      grossFiat: 25,
    });
    expect(view).not.toHaveProperty('quotedFeeAmount');
    expect(view.commissionFiat + view.networkFeeFiat).toBeCloseTo(view.feeFiat, 10);
  });

  it('moves the quote aside when the fee was re-run, and leaves the split out', () => {
    const row = aRow();
    const settled = {
      ...row,
      status: 'SETTLED' as const,
      amount_paid: row.amount!,
      settled_fee_amount: '0.00000557',
      settled_net_amount: '0.00038506',
    };
    const view = shown(settled);
    expect(view).toMatchObject({
      basis: 'settled',
      feeAmount: 0.00000557,
      netAmount: 0.00038506,
      quotedFeeAmount: Number(row.fee_amount),
      quotedNetAmount: Number(row.net_amount),
      settledFeeAmount: 0.00000557,
      grossFiat: 25,
      feeFiat: 0.36,
      netFiat: 24.64,
    });
    expect(view.commissionAmount + view.sweepCostCrypto).toBeCloseTo(view.quotedFeeAmount, 12);
    expect(view).not.toHaveProperty('commissionFiat');
    expect(view).not.toHaveProperty('networkFeeFiat');
  });

  it('leaves out what does not apply', () => {
    const view = shown(without());
    for (const name of [
      'currency',
      'amount',
      'expiresAt',
      'publicKey',
      'feeAmount',
      'grossFiat',
      'metadata',
      'merchantOrderId',
    ])
      expect(view).not.toHaveProperty(name);
    expect(view).toMatchObject({ basis: 'quoted', fiatAmount: 25, status: 'AWAITING_CURRENCY' });
    expect(paymentJson(without(), now)).not.toContain('null');
  });

  it('carries metadata byte for byte', () => {
    const metadata = '{"a":12345678901234567890,"a":1,"\\u0000":0}';
    expect(paymentJson(aRow({ metadata }), now).endsWith(`,"metadata":${metadata}}`)).toBe(true);
    expect(paymentListJson(aRow({ metadata: 'null' }), now).endsWith(',"metadata":null}')).toBe(true);
  });

  it('has no minor units in yen', () => {
    const view = shown(aRow({}, { fiat: '5001', rate: '9664000', fiatCurrency: 'JPY' }));
    for (const name of ['grossFiat', 'feeFiat', 'netFiat', 'commissionFiat', 'networkFeeFiat'])
      expect(Number.isInteger(view[name])).toBe(true);
    expect(view.grossFiat).toBe(5001);
  });

  it('adds up, whoever bears the fee', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 100_000_000 }),
        fc.integer({ min: 1000, max: 200_000 }),
        fc.constantFrom('customer' as const, 'merchant' as const),
        (cents, rate, fee_bearer) => {
          const price = fitFiat(String(cents / 100), 'USD');
          const view = shown(aRow({ fee_bearer }, { fiat: price, rate: String(rate), fiatCurrency: 'USD' }));
          expect(view.netFiat + view.feeFiat).toBeCloseTo(view.grossFiat, 6);
          if (fee_bearer === 'customer') expect(view.netFiat).toBe(Number(price));
          else expect(view.grossFiat).toBe(Number(price));
        },
      ),
    );
  });

  it('tells remainder and excess exactly', () => {
    const row = aRow({ amount: numeric('1'), amount_paid: '0.999999999999999999' });
    expect(viewPayment(row, now)).toMatchObject({ amountRemaining: '0.000000000000000001', overpaidAmount: '0' });
    const over = aRow({ amount: numeric('1'), amount_paid: '1.000000000000000001' });
    expect(viewPayment(over, now)).toMatchObject({ amountRemaining: '0', overpaidAmount: '0.000000000000000001' });
  });
});

describe('the creation result', () => {
  it('has only the fiat price while no currency is chosen', () => {
    expect(viewCreated(without())).toEqual({
      paymentId: 'a'.repeat(24),
      amount: 25,
      invoiceUrl: `/i/${'2'.repeat(20)}`,
      status: 'AWAITING_CURRENCY',
    });
  });
});

describe('where the payer goes on', () => {
  const slug = '2'.repeat(20);
  const urls = { invoice_callback_url: 'https://s.example/ok', invoice_cancel_url: 'https://s.example/no?a=1#top' };
  it.each([
    ['WAITING', null],
    ['CONFIRMING', null],
    ['CONFIRMED', `https://s.example/ok?status=paid&invoice_id=${slug}`],
    ['SETTLED', `https://s.example/ok?status=paid&invoice_id=${slug}`],
    ['EXPIRED', `https://s.example/no?a=1&status=expired&invoice_id=${slug}#top`],
    ['CANCELLED', `https://s.example/no?a=1&status=cancelled&invoice_id=${slug}#top`],
    ['FAILED', `https://s.example/no?a=1&status=failed&invoice_id=${slug}#top`],
  ] as const)('%s', (status, expected) => expect(redirectUrl(aRow({ ...urls, status }))).toBe(expected));
  it('falls back to the one address', () =>
    expect(redirectUrl(aRow({ invoice_callback_url: 'https://s.example/?', status: 'EXPIRED' }))).toBe(
      `https://s.example/?status=expired&invoice_id=${slug}`,
    ));
});

describe('an invoice', () => {
  const view = (row: PaymentRow) =>
    viewInvoice(row, {
      livemode: true,
      confirmations: 1,
      other: [],
      merchantName: 'Shop',
      serverTime: at,
      paymentUri: ({ address, tag }, currency, amount) =>
        `${currency}:${address}?${amount}${tag === null ? '' : `&${tag}`}`,
      isDelayed: false,
      underpaidRefund: null,
      payer: { browser: null, to: null, isContested: false },
      isLocked: false,
      seen: [],
      refunded: {},
      branding: noBranding,
      thankYouText: 'Thanks',
      explorers: {},
    });
  it('names the tag of a payment behind an address that many share', () => {
    const tagged = aRow({ amount: '1', destination_tag: '7' });
    expect(view(tagged)).toMatchObject({ destinationTag: '7', paymentUri: 'BTC:bcrt1qexample?1&7' });
    expect(viewPayment(tagged, now)).toMatchObject({ destinationTag: '7' });
    expect(viewCreated(tagged)).toMatchObject({ destinationTag: '7' });
    expect(viewPayment(aRow(), now).destinationTag).toBeUndefined();
  });
  it('asks for the remainder, and for nothing once it has ended', () => {
    expect(view(aRow({ amount: '1', amount_paid: '0.4', status: 'PARTIALLY_PAID' }))).toMatchObject({
      amountRemaining: '0.6',
      paymentUri: 'BTC:bcrt1qexample?0.6',
      cancellable: false,
    });
    expect(view(aRow({ status: 'EXPIRED' })).paymentUri).toBeNull();
    expect(view(without())).toMatchObject({ amount: null, paymentUri: null, cancellable: true, expiresAt: null });
  });
  it('shows amounts in full', () => expect(view(aRow({ amount: numeric('0.00039063') })).amount).toBe('0.00039063'));
});

describe('E: invoicedFiat', () => {
  const list = (row: PaymentRow) => {
    const now = { livemode: true, confirmations: 0, childIds: [], aml: null, other: [], refunded: {} };
    const { invoicedFiat, receivedFiat } = JSON.parse(paymentListJson(row, now)) as Record<string, number>;
    return { invoicedFiat, receivedFiat };
  };
  it.each([
    ['customer', '80', '1'],
    ['customer', '80', '3211.17'],
    ['customer', '19.99', '64123.45'],
    ['merchant', '80', '3211.17'],
    ['merchant', '33.33', '64123.45'],
  ] as const)('equals receivedFiat for an invoice paid exactly: bearer %s, %s at %s', (fee_bearer, fiat, rate) => {
    const asked = aRow({ fee_bearer }, { fiat, rate, fiatCurrency: 'USD' });
    const value_paid = times(asked.amount!, rate, 18, 'down');
    const paid = { ...asked, status: 'SETTLED', amount_paid: asked.amount!, value_paid } as PaymentRow;
    const { invoicedFiat, receivedFiat } = list(paid);
    expect(invoicedFiat).toBe(receivedFiat);
    expect(list(asked)).toEqual({ invoicedFiat, receivedFiat: 0 });
    const over = {
      ...paid,
      amount_paid: times(paid.amount_paid, '2', 18, 'down'),
      value_paid: times(value_paid, '2', 18, 'down'),
    };
    expect(Math.abs(list(over).invoicedFiat! - invoicedFiat!)).toBeLessThan(0.011);
    expect(list(over).receivedFiat).toBeGreaterThan(list(over).invoicedFiat!);
  });
});
