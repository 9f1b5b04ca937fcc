import PDFDocument from 'pdfkit';
import type { InvoiceView } from '../../domain/payments/payment-view';
import { isLightning } from './formats';
import { receiptLines } from './receipt';
import type { Texts } from './texts';
import { en } from './texts/en';

/** The receipt as a file of one page. */

/** The standard fonts of PDF have the letters of Western Europe; what they lack is a question mark. */
const printable = (text: string): string =>
  text.replaceAll(/[\u202f\u2007]/g, ' ').replaceAll(/[^\u0020-\u007e\u00a0-\u00ff]/gu, '?');

const margin = 56;
const labels = 120;

/** In English where the fonts lack the letters of the language. */
export async function receiptPdf(texts: Texts, invoice: InvoiceView): Promise<Buffer> {
  const t = texts.direction === 'ltr' ? texts : en;
  const made: Buffer[] = [];
  const pdf = new PDFDocument({
    size: 'A5',
    margin,
    lang: t.language,
    info: {
      Title: `${t.receipt} · ${invoice.merchantName} · ${invoice.merchantOrderId ?? invoice.invoiceId}`,
      CreationDate: new Date(invoice.paidAt ?? invoice.serverTime),
    },
  });
  pdf.on('data', (chunk: Buffer) => made.push(chunk));
  const ended = new Promise((resolve) => pdf.on('end', resolve));
  const width = pdf.page.width - 2 * margin - labels;
  pdf.font('Helvetica-Bold').fontSize(18).text(printable(t.receipt), margin).moveDown(0.8);
  if (!invoice.livemode)
    pdf
      .fontSize(9)
      .text(printable(t.testMode), margin, pdf.y, { width: width + labels })
      .moveDown(0.8);
  const put = (name: string, text: string): void => {
    const { y } = pdf;
    pdf
      .font('Helvetica-Bold')
      .fontSize(9)
      .text(printable(name), margin, y, { width: labels - 8 });
    const below = pdf.y;
    pdf.font('Helvetica').text(printable(text), margin + labels, y, { width });
    pdf.y = Math.max(below, pdf.y) + 5;
  };
  for (const { name, text } of receiptLines(t, invoice)) put(name, text);
  for (const txId of invoice.txIds) put(isLightning(invoice) ? t.lightning.hash : t.transaction, txId);
  pdf.end();
  await ended;
  return Buffer.concat(made);
}
