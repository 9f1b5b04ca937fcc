import { receiptMail } from '../../domain/mail/receipt-mail';
import { noBranding } from '../../domain/branding/branding';
import type { InvoiceView } from '../../domain/payments/payment-view';
import { qrCode } from '../../web/checkout/qr';
import { invoicePage } from '../../web/checkout/states';
import { catalogues } from '../../web/checkout/texts';
import { en } from '../../web/checkout/texts/en';
import { anInvoice } from './invoices';

/** An invoice that is paid by Lightning, as its payer sees it: no address, no chain, no explorer. */

const text = `lnbcrt10u1p${'q9s8d7f6'.repeat(30)}`;
const hash = 'ab'.repeat(32);
const byLightning = (patch: Partial<InvoiceView> = {}): InvoiceView =>
  anInvoice({
    ...{ currency: 'BTC_LN', network: 'bitcoin', amount: '0.001', amountRemaining: '0.001', exchangeRate: '64000' },
    ...{ depositAddress: text, paymentUri: `lightning:${text}`, requiredConfirmations: 0, ...patch },
  });
const settled = byLightning({
  ...{ status: 'SETTLED', paymentUri: null, cancellable: false, amountPaid: '0.001', amountRemaining: '0' },
  ...{ txIds: [hash], paidAt: '2026-01-05T09:59:00.000Z' },
});
const pageOf = (invoice: InvoiceView, t = en): string =>
  invoicePage(t, invoice, null, { refused: null, isPayer: false }).body.text;
const read = (invoice: InvoiceView): string =>
  pageOf(invoice)
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ');

it('asks for the invoice to be paid, by a link and a code of capitals', () => {
  const page = pageOf(byLightning());
  expect(page).toContain(`href="lightning:${text}"`);
  expect(page).toContain(qrCode(`LIGHTNING:${text.toUpperCase()}`).text);
  expect(page).toContain(`data-copy="${text}"`);
  expect(qrCode(`LIGHTNING:${text.toUpperCase()}`).text.length).toBeLessThan(qrCode(`lightning:${text}`).text.length);
  for (const words of ['Send exactly 0.001 BTC', 'Lightning invoice', 'Network Lightning'])
    expect(read(byLightning())).toContain(words);
});

it('shows the ends of the invoice, and has its middle at hand', () => {
  const page = pageOf(byLightning());
  const [, shown] = /id="value-address"[^>]*>(.*?)<\/output/s.exec(page)!;
  expect(shown!.replace(/<[^>]+>/g, '').trim()).toBe(text);
  expect(shown).toContain(`${text.slice(0, 24)}<span>`);
  expect(shown).toContain(`</span>${text.slice(-12)}`);
  expect(pageOf(anInvoice())).not.toContain('class="elided"');
});

it('says no word of an address, of the Bitcoin network, of confirmations, or of a refund', () => {
  for (const invoice of [byLightning(), settled, byLightning({ networkDelayed: true })])
    for (const word of [/address alone/i, /Copy the address/, /\bBitcoin\b/, /confirmations/i, /go back to/, /BTC_LN/])
      expect(read(invoice)).not.toMatch(word);
});

it('says that the invoice is being made while there is none, and asks for nothing', () => {
  const page = pageOf(byLightning({ depositAddress: null, paymentUri: null }));
  expect(page).toContain(en.lightning.making);
  for (const ask of ['class="qr"', 'data-copy', 'lightning:', 'Open in wallet']) expect(page).not.toContain(ask);
});

it('tells of money for an invoice that has ended that it goes back by itself', () => {
  const over = byLightning({ status: 'EXPIRED', paymentUri: null, cancellable: false });
  expect(read(over)).toContain(en.lightning.over);
  expect(read(over)).not.toContain(en.lateMoney);
});

it('shows the payment hash on its receipt, and no link to an explorer', () => {
  expect(read(settled)).toContain(`Payment hash ${hash}`);
  expect(pageOf(settled)).not.toContain('mempool');
  for (const words of ['0.001 BTC', '1 BTC = 64,000 USD', 'Network Lightning']) expect(read(settled)).toContain(words);
});

it('is named so in the mail of the receipt', () => {
  const payment = {
    ...{ slug: 'k7m2p9q4r8s3t6v1w5x0', fiat_amount: '64', fiat_currency: 'USD', amount_paid: '0.001' },
    ...{ currency: 'BTC_LN', network: 'bitcoin', merchant_order_id: null, description: null },
  };
  const about = { payment, merchantName: 'Teahouse', branding: noBranding, checkoutUrl: 'https://pay.example' };
  expect(receiptMail('a@example.com', 'en', about).text).toContain('Received: 0.001 BTC\nNetwork: Lightning');
});

it.each(catalogues.map((t) => [t.language, t] as const))('has words of its own in %s', (language, t) => {
  expect(pageOf(byLightning(), t)).toContain(t.lightning.only);
  if (language !== 'en')
    for (const [key, words] of Object.entries(t.lightning))
      expect([key, words]).not.toEqual([key, en.lightning[key as keyof typeof en.lightning]]);
});

describe('beside the address of bitcoin', () => {
  const uri = 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?amount=0.001&label=Teahouse&message=A-1047';
  const both = (patch: Partial<InvoiceView> = {}): InvoiceView =>
    anInvoice({
      ...{ currency: 'BTC', network: 'bitcoin', amount: '0.001', amountRemaining: '0.001', exchangeRate: '64000' },
      ...{ depositAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', requiredConfirmations: 2 },
      ...{ paymentUri: `${uri}&lightning=${text}`, ...patch },
    });

  it('has one code and one link for both, and a row to copy for each', () => {
    const page = pageOf(both());
    expect(page).toContain(qrCode(`${uri}&lightning=${text}`).text);
    expect(page).toContain(`href="${uri.replaceAll('&', '&amp;')}&amp;lightning=${text}"`);
    for (const value of [text, both().depositAddress!]) expect(page).toContain(`data-copy="${value}"`);
    for (const words of ['Lightning invoice', 'Address', en.lightning.either]) expect(read(both())).toContain(words);
    expect(page).toContain(qrCode(both().depositAddress!).text); // for wallets that read no URI
  });

  it('says no word of Lightning where there is none', () => {
    expect(read(both({ paymentUri: uri }))).not.toMatch(/lightning/i);
  });

  it.each(catalogues.map((t) => [t.language, t] as const))('says in %s that one of the two is enough', (_, t) => {
    expect(pageOf(both(), t)).toContain(t.lightning.either);
  });
});
