import type { InvoiceView } from '../../domain/payments/payment-view';
import { compare } from '../../domain/money';
import type { RefundStatus } from '../../domain/refunds/refund';
import { accentSheet, help } from './branding';
import { choiceForms, type Choice } from './choices';
import { assetName, isLightning, networkName } from './formats';
import { html, ltr, type Html } from './html';
import type { Page } from './page';
import { isPriceGuaranteed, isTimeOver, payment, priceOver, sendText } from './pay';
import { linkForm, payerPart } from './payer';
import { receipt, receiptLinks, receiptMailForm } from './receipt';
import { confirmationsText, details, figures, progress, received, row, summary } from './summary';
import { fillText, type Texts } from './texts';
import { askedAndSent, receivedOther, seenOther, transactions } from './transactions';

/** The page of an invoice in each of its states: what the payer sees is what the chain and the status say. */

const over = new Set<string>(['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED']);
const paid = new Set<string>(['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED']);
const marks: Readonly<Record<string, string>> = { paid: '✓', over: '✕', wait: '…', pay: '→' };

/** What the payer asked for and did not get: an act, or an address of a network or for mail. */
export type Refused = 'act' | 'address' | 'email';

/** What is shown: the status, or what is true before a worker has moved it. */
type Shown = InvoiceView['status'] | 'SEEN' | 'OTHER_SEEN' | 'TIME_OVER';
function shownState(invoice: InvoiceView): Shown {
  const { status } = invoice;
  if (invoice.paymentSeen) return compare(invoice.amountSeen, invoice.amountPaid) > 0 ? 'SEEN' : 'OTHER_SEEN';
  return (status === 'WAITING' || status === 'PARTIALLY_PAID') && isTimeOver(invoice) ? 'TIME_OVER' : status;
}

function titleOf(t: Texts, state: Shown): string {
  if (state === 'SEEN') return t.seen.title;
  if (state === 'OTHER_SEEN') return t.seen.otherTitle;
  return state === 'TIME_OVER' ? t.over.title : t.titles[state];
}

/** The page of an invoice in any of its states. `choices`: what it can be paid in, where that is shown. */
export function invoicePage(
  t: Texts,
  invoice: InvoiceView,
  choices: readonly Choice[] | null,
  {
    refused,
    isPayer,
    isReceiptAsked,
  }: Readonly<{ refused: Refused | null; isPayer: boolean; isReceiptAsked?: boolean }>,
): Page {
  const state = shownState(invoice);
  const title = titleOf(t, state);
  const isPriced = state === 'CONFIRMING' || state === 'SEEN' || isPayable(invoice, state);
  return {
    title: `${title} · ${invoice.merchantName}`,
    slug: invoice.invoiceId,
    help: help(t, invoice),
    accent: accentSheet(invoice),
    isOver: over.has(invoice.status),
    body: html`<div
      class="frame"
      data-status="${invoice.status}"
      data-now="${invoice.serverTime}"
      data-announce="${announcement(t, invoice, state)}"
    >
      ${summary(t, invoice)}
      <section class="card" aria-labelledby="state">
        ${heading(invoice, state, title)}
        ${refused && html`<p class="note" role="alert">${refusal(t, refused, invoice)}</p>`}
        ${isReceiptAsked && html`<p class="note" role="status">${t.mail.kept}</p>`}
        ${notes(t, invoice, isPayer).map((note) => html`<p class="note">${note}</p>`)}
        ${content(t, invoice, state, choices)}
        ${isPayer && invoice.underpaidRefund === 'awaiting_address' && linkForm(t, invoice)} ${payerPart(t, invoice)}
        ${receiptMailForm(t, invoice)}
      </section>
      ${!paid.has(state) && details(t, invoice, isPriced)}
    </div>`,
  };
}

const isPayable = (invoice: InvoiceView, state: Shown): boolean =>
  (state === 'WAITING' || state === 'PARTIALLY_PAID') && isPriceGuaranteed(invoice);

const refusal = (t: Texts, refused: Refused, invoice: InvoiceView): string =>
  refused === 'email'
    ? t.mail.refused
    : refused === 'address' && !invoice.refundAddressLocked
      ? fillText(t.claim.refused, { network: networkName(invoice.network) })
      : t.refused;

/** What was out of the ordinary, in words: what was accepted all the same reads otherwise than what was not. */
function notes(t: Texts, invoice: InvoiceView, isPayer: boolean): string[] {
  const isTaken = invoice.status === 'CONFIRMING' || paid.has(invoice.status);
  const delays =
    invoice.networkDelayed && !isLightning(invoice)
      ? [fillText(t.networkDelayed, { network: networkName(invoice.network) })]
      : [];
  const exceptions = invoice.exceptions.flatMap((exception) => {
    if (isTaken && t.accepted[exception]) return t.accepted[exception];
    if (exception === 'underpaid' && invoice.underpaidRefund !== null)
      return refundNote(t, invoice.underpaidRefund, isPayer);
    return t.exceptions[exception] ?? [];
  });
  return [...delays, ...exceptions];
}

/** The link is not on this page: the page is for everybody who has its address, the refund is for who paid. */
const refundNote = (t: Texts, status: RefundStatus, isPayer: boolean): string =>
  status === 'awaiting_address'
    ? isPayer
      ? t.claim.comesBack
      : t.claim.note
    : `${t.claim.titles[status]}. ${t.claim.texts[status]}`;

function announcement(t: Texts, invoice: InvoiceView, state: Shown): string {
  const title = titleOf(t, state);
  if (state === 'CONFIRMING')
    return `${title}. ${confirmationsText(t, invoice.confirmations, invoice.requiredConfirmations ?? 0)}`;
  if (state !== 'WAITING') return title;
  return `${title}. ${isPriceGuaranteed(invoice) ? sendText(t, invoice) : t.quoteOver}`;
}

function heading({ status }: InvoiceView, state: Shown, title: string): Html {
  const isWaiting = ['CONFIRMING', 'CROSS_CHAIN_PENDING', 'SEEN', 'OTHER_SEEN'].includes(state);
  const kind = paid.has(status)
    ? 'paid'
    : over.has(status) || state === 'TIME_OVER'
      ? 'over'
      : isWaiting
        ? 'wait'
        : 'pay';
  return html`<h1 id="state" class="state is-${kind}" tabindex="-1">
    <span class="mark" aria-hidden="true">${marks[kind]}</span>${title}
  </h1>`;
}

function content(t: Texts, invoice: InvoiceView, state: Shown, choices: readonly Choice[] | null): Html {
  switch (state) {
    case 'AWAITING_CURRENCY':
      return html`<p>${t.choose}</p>
        ${choiceForms(t, invoice, choices ?? [])} ${cancelLink(t, invoice)}`;
    case 'WAITING':
      return html`${isPriceGuaranteed(invoice) ? payment(t, invoice) : priceOver(t, invoice)}
        <nav class="other">
          ${
            choices &&
            html`<details>
              <summary>${t.change}</summary>
              ${choiceForms(t, invoice, choices)}
            </details>`
          }
          ${cancelLink(t, invoice)}
        </nav>`;
    case 'PARTIALLY_PAID':
      return isPriceGuaranteed(invoice)
        ? html`${figures(t, invoice, true)} ${payment(t, invoice)}`
        : html`${received(t, invoice)} ${priceOver(t, invoice)}`;
    case 'TIME_OVER':
      return html`${invoice.status === 'PARTIALLY_PAID' && received(t, invoice)} ${priceOver(t, invoice)}`;
    case 'SEEN':
      return seen(t, invoice);
    case 'OTHER_SEEN':
      return html`<p>${fillText(t.seen.other, { asset: assetName(invoice.currency) })}</p>
        ${seenOther(t, invoice)}`;
    case 'CROSS_CHAIN_PENDING':
      return html`<p>${askedAndSent(t, invoice)} ${t.other.notLost}</p>
        ${invoice.amountPaid !== '0' && received(t, invoice)} ${transactions(t, invoice)} ${receivedOther(t, invoice)}`;
    case 'CONFIRMING':
      return html`${progress(t, invoice)}
        <p>${t.mayClose}</p>
        ${transactions(t, invoice)} ${receivedOther(t, invoice)} ${returnLink(t, invoice)}`;
    case 'CONFIRMED':
    case 'SWEEP_QUEUED':
    case 'SETTLED':
      return html`${invoice.thankYouText !== null && html`<p class="thanks"><bdi>${invoice.thankYouText}</bdi></p>`}
        <p>${t.done}</p>
        ${receipt(t, invoice)} ${receivedOther(t, invoice)} ${returnLink(t, invoice)} ${receiptLinks(t, invoice)}`;
    case 'EXPIRED':
    case 'CANCELLED':
    case 'FAILED':
      return html`${invoice.amountPaid !== '0' && figures(t, invoice, false)}
        <p>${isLightning(invoice) ? t.lightning.over : t.lateMoney}</p>
        ${transactions(t, invoice)} ${receivedOther(t, invoice)} ${returnLink(t, invoice)}`;
  }
}

/** Money that the chain shows and no worker has counted yet: nothing on the page asks for it once more. */
function seen(t: Texts, invoice: InvoiceView): Html {
  const inAsset = (amount: string): Html => ltr(`${amount} ${assetName(invoice.currency)}`);
  const isWhole = invoice.amount !== null && compare(invoice.amountSeen, invoice.amount) >= 0;
  return html`${isWhole && progress(t, invoice)}
    <dl class="figures">
      ${row(t.price, inAsset(invoice.amount ?? ''))} ${row(t.seen.sum, inAsset(invoice.amountSeen), 'strong')}
    </dl>
    <p>${isWhole ? t.seen.whole : t.seen.part}</p>
    ${transactions(t, invoice)}
    ${(invoice.seenOther.length > 0 || invoice.receivedOther.length > 0) && seenOther(t, invoice)}`;
}

const cancelLink = (t: Texts, invoice: InvoiceView): Html | false =>
  invoice.cancellable && html`<a class="quiet" href="/i/${invoice.invoiceId}/cancel">${t.cancel}</a>`;

/** Only to an address that the API has checked, and only over http(s). */
const returnLink = (t: Texts, invoice: InvoiceView): Html | false | null =>
  invoice.redirectUrl !== null &&
  /^https?:\/\//.test(invoice.redirectUrl) &&
  html`<a class="button" href="${invoice.redirectUrl}">${fillText(t.back, { merchant: invoice.merchantName })}</a>`;

/** Asks once more before an invoice is cancelled. */
export const cancelPage = (t: Texts, invoice: InvoiceView): Page => ({
  title: t.cancelTitle,
  help: help(t, invoice),
  accent: accentSheet(invoice),
  body: html`<div class="frame">
    ${summary(t, invoice)}
    <section class="card">
      <h1>${t.cancelTitle}</h1>
      <p>${t.cancelSure}</p>
      <form method="post" action="/i/${invoice.invoiceId}/cancel" class="sure">
        <button class="button danger">${t.cancelYes}</button>
        <a class="button plain" href="/i/${invoice.invoiceId}">${t.cancelNo}</a>
      </form>
    </section>
    ${details(t, invoice, false)}
  </div>`,
});
