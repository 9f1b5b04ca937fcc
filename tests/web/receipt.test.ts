import { inflateSync } from 'node:zlib';
import type { InvoiceView } from '../../domain/payments/payment-view';
import { receipt } from '../../web/checkout/receipt';
import { receiptPdf } from '../../web/checkout/receipt-pdf';
import { invoicePage } from '../../web/checkout/states';
import { catalogues, textsIn } from '../../web/checkout/texts';
import { en } from '../../web/checkout/texts/en';
import { anInvoice, invoices, txOf } from './invoices';

const read = (invoice: Parameters<typeof invoicePage>[1]): string =>
  invoicePage(en, invoice, null, { refused: null, isPayer: false })
    .body.text.replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ');
/** What is written in a PDF, line by line. */
function textsOf(file: Buffer): string {
  const raw = file.toString('latin1');
  expect([raw.slice(0, 5), raw.trimEnd().slice(-5)]).toEqual(['%PDF-', '%%EOF']);
  const head = '/Filter /FlateDecode\n>>\nstream\n';
  return [...raw.matchAll(new RegExp(head, 'g'))]
    .flatMap(({ index }) => {
      const from = index + head.length;
      const content = inflateSync(file.subarray(from, raw.indexOf('\nendstream', from))).toString('latin1');
      return [...content.matchAll(/\[(.*?)\] TJ/g)].map(([, parts]) =>
        [...parts!.matchAll(/<([0-9a-f]+)>/g)].map(([, hex]) => Buffer.from(hex!, 'hex').toString('latin1')).join(''),
      );
    })
    .join('\n');
}
const whole = [
  'Teahouse',
  'A-1047',
  invoices.settled.invoiceId,
  '1263.868066 USDT',
  '$1,264.50',
  '1 USDT = 1.0005 USD',
  'Ethereum',
];

describe('B11: the receipt', () => {
  it('is complete on the page: merchant, order, date, price, amount, rate, network, transaction', () => {
    const page = read(invoices.settled);
    for (const words of [...whole, txOf('a')]) expect(page).toContain(words);
    expect(page).toMatch(/Paid on Jan 5, 2026, 9:59.AM UTC/);
  });

  it('is complete as a file, in the language of the page', async () => {
    const file = textsOf(await receiptPdf(en, invoices.settled));
    for (const words of whole) expect(file).toContain(words);
    expect(file.replaceAll('\n', '')).toContain(txOf('a'));
    expect(file).toMatch(/Jan 5, 2026, 9:59.AM UTC/);
    expect(textsOf(await receiptPdf(textsIn('de')!, invoices.settled))).toContain('Bezahlt am');
    expect(textsOf(await receiptPdf(textsIn('ar')!, invoices.settled))).toContain('Paid on');
  });

  it('says as a file too that the coins of a test instance are worth nothing', async () => {
    const words = async (livemode: boolean): Promise<string> =>
      textsOf(await receiptPdf(en, { ...invoices.settled, livemode })).replaceAll('\n', ' ');
    expect(await words(false)).toContain(en.testMode);
    expect(await words(true)).not.toContain(en.testMode);
  });

  it('links each transaction to an explorer of its own network, and to none without one', () => {
    const seenOn = (explorerTxUrls: InvoiceView['explorerTxUrls']): string =>
      receipt(en, { ...invoices.settled, explorerTxUrls }).text;
    expect(seenOn({ ethereum: 'https://sepolia.example/tx/{txId}' })).toContain(
      `href="https://sepolia.example/tx/${txOf('a')}"`,
    );
    for (const others of [{}, { bitcoin: 'https://bitcoin.example/{txId}' }]) {
      expect(seenOn(others)).toContain(txOf('a'));
      expect(seenOn(others)).not.toContain('href="https://');
    }
  });

  it('says what went back, and nothing where nothing did', async () => {
    expect(read(invoices.refunded)).toContain('Refunded 63.868066 USDT');
    expect(textsOf(await receiptPdf(en, invoices.refunded))).toContain('63.868066 USDT');
    expect(read(invoices.settled)).not.toContain('Refunded');
  });

  it('claims nothing of what the merchant was told', () => {
    for (const t of catalogues)
      for (const text of [t.done, t.mayClose])
        expect(text).not.toMatch(/told|informed|informiert|avisado|informé|أُبلغ/i);
  });

  it('is of what was paid alone, without an order where there is none', () => {
    const page = read(anInvoice({ ...invoices.settled, merchantOrderId: null }));
    expect(page).not.toContain('Order');
    for (const name of ['waiting', 'confirming', 'failed', 'expired'] as const)
      expect(read(invoices[name])).not.toContain('Receipt');
  });
});
