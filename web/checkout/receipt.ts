import type { InvoiceView } from '../../domain/payments/payment-view';
import { isPositive } from '../../domain/money';
import { contact, contactText } from './branding';
import { assetName, carrierName, dayAndTime, decimal, fiat, when } from './formats';
import { html, ltr, type Html } from './html';
import { row } from './summary';
import type { Texts } from './texts';
import { transactions } from './transactions';

/** What was paid, when, to whom and for what: on the page and as a file. It says nothing of what the merchant knows. */

const paid = new Set<string>(['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED']);
/** Whether there is anything to give a receipt of. */
export const hasReceipt = ({ status }: InvoiceView): boolean => paid.has(status);

type Line = Readonly<{ name: string; text: string; time?: string; link?: Html | null }>;

/** The lines of a receipt, without its transactions. */
export function receiptLines(t: Texts, invoice: InvoiceView): Line[] {
  const asset = assetName(invoice.currency);
  const { exchangeRate, fiatCurrency, paidAt, merchantOrderId, description, refundedAmount } = invoice;
  const ask = contactText(invoice);
  return [
    { name: t.merchant, text: invoice.merchantName },
    ...(merchantOrderId === null ? [] : [{ name: t.order, text: merchantOrderId }]),
    ...(description === null ? [] : [{ name: t.description, text: description }]),
    { name: t.invoice, text: invoice.invoiceId },
    ...(paidAt === null ? [] : [{ name: t.paidOn, text: dayAndTime(t, paidAt), time: paidAt }]),
    { name: t.price, text: fiat(t, invoice.fiatAmount, fiatCurrency) },
    { name: t.received, text: `${invoice.amountPaid} ${asset}` },
    ...(exchangeRate === null
      ? []
      : [{ name: t.rate, text: `1 ${asset} = ${decimal(t, exchangeRate)} ${fiatCurrency}` }]),
    { name: t.network, text: carrierName(invoice) },
    ...(isPositive(refundedAmount) ? [{ name: t.refunded, text: `${refundedAmount} ${asset}` }] : []),
    ...(ask === null ? [] : [{ name: t.contact, text: ask, link: contact(invoice) }]),
  ];
}

export const receipt = (t: Texts, invoice: InvoiceView): Html =>
  html`<h2>${t.receipt}</h2>
    <dl class="figures">
      ${receiptLines(t, invoice).map(({ name, text, time, link }) =>
        row(name, link ?? (time ? when(t, time) : ltr(text))),
      )}
    </dl>
    ${transactions(t, invoice)}`;

/** For a payment that is paid, or may be. What was left is shown to nobody, not even here. */
export const receiptMailForm = ({ mail }: Texts, { status, invoiceId }: InvoiceView): Html | false =>
  !['EXPIRED', 'CANCELLED', 'FAILED'].includes(status) &&
  html`<details class="mail">
    <summary>${mail.ask}</summary>
    <form method="post" action="/i/${invoiceId}/receipt-email" class="claim">
      <label for="receipt-email">${mail.address}</label>
      <input id="receipt-email" name="email" type="email" maxlength="254" autocomplete="email" required />
      <p>${mail.why}</p>
      <button class="button plain">${mail.send}</button>
    </form>
  </details>`;

export const receiptLinks = (t: Texts, invoice: InvoiceView): Html =>
  html`<p class="files">
    <a class="quiet" href="/i/${invoice.invoiceId}/receipt.pdf" target="_blank" rel="noopener">${t.pdf}</a>
    <button type="button" class="quiet needs-script" data-print>${t.print}</button>
  </p>`;
