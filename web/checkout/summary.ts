import type { InvoiceView } from '../../domain/payments/payment-view';
import { contact, logo } from './branding';
import { assetName, carrierName, decimal, fiat } from './formats';
import { html, ltr, type Html, type Part } from './html';
import type { Texts } from './texts';

/** Who is paid and how much, and the figures of an invoice. */

export const row = (name: string, value: Part, kind = ''): Html =>
  html`<div class="${kind}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

export const summary = (t: Texts, invoice: InvoiceView): Html =>
  html`<header class="summary">
    <p class="merchant">${logo(invoice)}<span>${invoice.merchantName}</span></p>
    <p class="price">${ltr(fiat(t, invoice.fiatAmount, invoice.fiatCurrency))}</p>
    ${invoice.description !== null && html`<p class="for"><bdi>${invoice.description}</bdi></p>`}
  </header>`;

/** `isPriced`: somebody pays, or has paid, at this rate. The amount itself stands where it is paid. */
export const details = (t: Texts, invoice: InvoiceView, isPriced: boolean): Html =>
  html`<dl class="details">
    ${
      isPriced &&
      invoice.exchangeRate &&
      row(t.rate, ltr(`1 ${assetName(invoice.currency)} = ${decimal(t, invoice.exchangeRate)} ${invoice.fiatCurrency}`))
    }
    ${invoice.network && row(t.network, carrierName(invoice))}
    ${invoice.merchantOrderId !== null && row(t.order, ltr(invoice.merchantOrderId))}
    ${row(t.invoice, html`<span class="mono">${ltr(invoice.invoiceId)}</span>`)}
    ${contact(invoice) && row(t.contact, contact(invoice))}
  </dl>`;

/** What was asked for, what has come, and while money is asked for, what is missing. */
export function figures(t: Texts, invoice: InvoiceView, isAsked: boolean): Html {
  const inAsset = (amount: string): Html => ltr(`${amount} ${assetName(invoice.currency)}`);
  return html`<dl class="figures">
    ${row(t.price, inAsset(invoice.amount ?? ''))} ${row(t.received, inAsset(invoice.amountPaid))}
    ${isAsked && row(t.remaining, inAsset(invoice.amountRemaining ?? ''), 'strong')}
  </dl>`;
}

/** What has come of a price whose rest nobody can name before it is quoted anew. */
export const received = (t: Texts, invoice: InvoiceView): Html =>
  html`<dl class="figures">${row(t.received, ltr(`${invoice.amountPaid} ${assetName(invoice.currency)}`))}</dl>`;

export function progress(t: Texts, { requiredConfirmations, confirmations }: InvoiceView): Html {
  const needed = requiredConfirmations ?? 1;
  const text = confirmationsText(t, confirmations, needed);
  return html`<div class="progress">
    <progress max="${needed}" value="${Math.min(confirmations, needed)}" aria-label="${text}"></progress>
    <p>${text}</p>
  </div>`;
}

/** They stop counting where enough are there. */
export const confirmationsText = (t: Texts, now: number, needed: number): string =>
  t.confirmations.replace('{now}', String(Math.min(now, needed))).replace('{needed}', String(needed));
