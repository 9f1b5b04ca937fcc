import type { InvoiceView } from '../../domain/payments/payment-view';
import { qrCode } from '../../web/checkout/qr';
import { invoicePage } from '../../web/checkout/states';
import { en as texts } from '../../web/checkout/texts/en';
import { walletCall } from '../../web/checkout/wallets';
import { anInvoice, choices, inSeconds, invoices, txOf } from './invoices';

/** The pages of an invoice as text: what each state says, and what it must not say. */

const pageOf = (invoice: InvoiceView): string =>
  invoicePage(texts, invoice, invoice.status === 'AWAITING_CURRENCY' ? choices : null, {
    refused: null,
    isPayer: false,
  }).body.text;
/** What is read of it. */
const read = (invoice: InvoiceView): string =>
  pageOf(invoice)
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ');
const asksForMoney = ['class="qr"', 'data-copy', 'ethereum:', 'Send exactly', 'Send the remaining', 'Open in wallet'];

describe('B1: money that the chain shows and no worker has counted', () => {
  it.each(['seen', 'seen-part', 'seen-other'] as const)('%s: nothing asks for it once more', (name) => {
    const page = pageOf(invoices[name]);
    for (const words of asksForMoney) expect(page).not.toContain(words);
    expect(page).not.toContain('/cancel');
  });

  it('says what was seen, and how far it is', () => {
    const page = read(invoices.seen);
    for (const words of ['We have seen your payment', '1263.868066 USDT', '3 of 12 confirmations', 'do not pay again'])
      expect(page).toContain(words);
    expect(pageOf(invoices.seen)).toContain(txOf('a'));
    const short = read(invoices['seen-part']);
    expect(short).toContain('Seen on the network 1000 USDT');
    expect(short).toContain('how much is missing');
    expect(short).not.toContain('confirmations');
  });

  it('names another coin before it is confirmed', () => {
    const page = read(invoices['seen-other']);
    for (const words of ['Another coin is on its way', '70 USDC', 'This invoice asks for USDT'])
      expect(page).toContain(words);
  });

  it('asks again for what is not there any more', () => {
    expect(pageOf(anInvoice({ amountSeen: '0' }))).toContain('class="qr"');
    expect(pageOf(invoices.part)).toContain('Send the remaining');
  });
});

describe('B2: a wrong coin', () => {
  it.each([
    ['other', 'The merchant decides whether to accept it'],
    ['other-accepted', 'It is accepted as your payment on'],
  ] as const)('%s: is told with coin, amount, hash, deadline and what happens next', (name, next) => {
    const page = read(invoices[name]);
    for (const words of [
      'You sent 70 USDC. This invoice asks for 1263.868066 USDT on the Ethereum network.',
      'USD Coin',
      '$69.98',
      next,
      'do not pay again',
    ])
      expect(page).toContain(words);
    const html = pageOf(invoices[name]);
    expect(html).toContain(txOf('b'));
    const deadline = invoices[name].crossChainRejectAt ?? invoices[name].crossChainAutoAcceptAt;
    expect(html).toContain(`datetime="${deadline}"`);
    for (const words of ['Still missing', ...asksForMoney]) expect(html).not.toContain(words);
  });
});

describe('B5: one clock, in one line', () => {
  it.each(['waiting', 'last-minutes', 'part', 'price-over', 'bitcoin'] as const)('%s', (name) => {
    expect(pageOf(invoices[name]).match(/data-countdown/g)).toHaveLength(1);
  });
  it('says until when the price is held, and what comes then', () => {
    expect(read(invoices.waiting)).toMatch(/This price is held for 10:29, until 10:10.AM UTC\. After that/);
    expect(read(invoices['last-minutes'])).toMatch(/Time left to pay: 4:10, until 10:04.AM UTC\./);
    expect(read(invoices['last-minutes'])).not.toContain('price is held');
  });
});

describe('B6: what a phone needs first', () => {
  it('comes first: time, amount, wallet, address, then the code', () => {
    const page = pageOf(invoices.waiting);
    const order = ['data-countdown', 'id="value-amount"', 'Open in wallet', 'id="value-address"', 'class="qr"'];
    const places = order.map((words) => page.indexOf(words));
    expect(places.every((place) => place > 0)).toBe(true);
    expect([...places].sort((a, b) => a - b)).toEqual(places);
  });
  it.each(['waiting', 'bitcoin'] as const)('%s: names the amount once', (name) => {
    expect(read(invoices[name]).split(invoices[name].amount!)).toHaveLength(2);
  });
});

describe('B7: confirmations', () => {
  it('stop where enough are there', () => {
    const many = anInvoice({ ...invoices.confirming, confirmations: 1382 });
    expect(read(many)).toContain('12 of 12 confirmations');
    expect(pageOf(many)).not.toContain('1382');
  });
});

describe('B14: final states', () => {
  const final = ['expired', 'cancelled', 'failed', 'failed-refund', 'settled', 'overpaid'] as const;
  it.each(final)('%s: asks for nothing, and shows nothing as missing', (name) => {
    const page = pageOf(invoices[name]);
    for (const words of ['Still missing', 'data-countdown', ...asksForMoney]) expect(page).not.toContain(words);
  });
  it.each(['expired', 'cancelled', 'failed'] as const)('%s: shows no rate that nobody pays at', (name) =>
    expect(read(invoices[name])).not.toContain('1 USDT ='),
  );
  it('says what came of a payment that failed', () =>
    expect(read(invoices.failed)).toMatch(/Received 1000 USDT.*do not send more/));
  it('does not wait for money once the time to pay is over, though no worker has ended the invoice', () => {
    const page = read(invoices['time-over']);
    expect(page).toContain('The time to pay is over');
    expect(page).not.toContain('Waiting for your payment');
    const late = anInvoice({ ...invoices.part, quoteExpiresAt: inSeconds(-1), expiresAt: inSeconds(-1) });
    expect(read(late)).toMatch(/The time to pay is over.*Received 1000 USDT/);
  });
});

describe('B10: other ways to hand over address and amount', () => {
  it('a code of the address alone stands beside the one with the amount', () => {
    for (const name of ['waiting', 'bitcoin'] as const) {
      const page = pageOf(invoices[name]);
      expect(page).toContain(qrCode(invoices[name].paymentUri!).text);
      expect(page).toContain(qrCode(invoices[name].depositAddress!).text);
    }
  });
  it('a wallet of the browser is asked for what the payment URI says', () => {
    const to = '0x52908400098527886E0F7030069857D2E4169EE7';
    expect(walletCall(`ethereum:${to}@31337?value=7812500000000000`)).toEqual({
      chain: '0x7a69',
      to,
      value: '0x1bc16d674ec800',
      data: '',
    });
    expect(walletCall(invoices.waiting.paymentUri!)).toMatchObject({ chain: '0x1', value: '0x0' });
    for (const uri of [invoices.bitcoin.paymentUri!, `ethereum:${to}`, `ethereum:${to}@1?value=1&gas=9`, ''])
      expect(walletCall(uri)).toBeNull();
    expect(pageOf(invoices.bitcoin)).not.toContain('id="wallets"');
  });
});
