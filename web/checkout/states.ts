import { renderSVG } from 'uqr';
import { findAsset, networks, type NetworkId } from '../../domain/chains/assets';
import type { InvoiceView } from '../../domain/payments/payment-view';
import type { RefundStatus } from '../../domain/refunds/refund';
import { html, Html, ltr } from './html';
import type { Page } from './page';
import { linkForm, payerPart } from './payer';
import { texts } from './texts';
import { clock, receivedOther, transactions } from './transactions';

/** What the API says an invoice can be paid in. */
export type Choice = Readonly<{
  currency: string;
  asset: string;
  networkName: string;
  name: string;
  amount: string | null;
  estimatedSeconds: number;
  available: boolean;
  reason?: string;
}>;

const over = new Set<string>(['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED']);
const paid = new Set<string>(['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED']);
const marks: Readonly<Record<string, string>> = { paid: '✓', over: '✕', wait: '…', pay: '→' };

const assetName = (currency: string | null): string => (currency && findAsset(currency)?.asset) ?? currency ?? '';
const networkName = (network: string | null): string =>
  (network && networks[network as NetworkId]?.name) ?? network ?? '';
const fiat = (invoice: InvoiceView): string =>
  new Intl.NumberFormat(texts.language, { style: 'currency', currency: invoice.fiatCurrency }).format(
    invoice.fiatAmount,
  );

/** Whether the amount is guaranteed still: where it is not, nothing may lead to paying it. Contract: 2.2,
 *  quoteExpiresAt. */
const isPriceHeld = ({ quoteExpiresAt, serverTime }: InvoiceView): boolean =>
  quoteExpiresAt === null || quoteExpiresAt > serverTime;
const isPriceOver = (invoice: InvoiceView): boolean =>
  (invoice.status === 'WAITING' || invoice.status === 'PARTIALLY_PAID') && !isPriceHeld(invoice);

/** The page of an invoice in any of its states. `choices`: what it can be paid in, where that is shown. */
export function invoicePage(
  invoice: InvoiceView,
  choices: readonly Choice[] | null,
  { refused, isPayer }: Readonly<{ refused: Refused | null; isPayer: boolean }>,
): Page {
  const title = texts.titles[invoice.status];
  return {
    title: `${title} · ${invoice.merchantName}`,
    slug: invoice.invoiceId,
    isOver: over.has(invoice.status),
    body: html`<div
      class="frame"
      data-status="${invoice.status}"
      data-version="${versionOf(invoice)}"
      data-now="${invoice.serverTime}"
      data-announce="${announcement(invoice)}"
    >
      ${summary(invoice)}
      <section class="card" aria-labelledby="state">
        ${heading(invoice, title)} ${refused && html`<p class="note" role="alert">${refusal(refused, invoice)}</p>`}
        ${notes(invoice, isPayer).map((note) => html`<p class="note">${note}</p>`)} ${content(invoice, choices)}
        ${isPayer && invoice.underpaidRefund === 'awaiting_address' && linkForm(invoice)} ${payerPart(invoice)}
      </section>
    </div>`,
  };
}

/** What the payer asked for and did not get: an act, or an address. */
export type Refused = 'act' | 'address';
const refusal = (refused: Refused, invoice: InvoiceView): string =>
  refused === 'address' && !invoice.refundAddressLocked
    ? texts.claim.refused(networkName(invoice.network))
    : texts.refused;

/** Pages are drawn anew where this differs. */
const versionOf = (invoice: InvoiceView): string =>
  [
    invoice.stateVersion,
    invoice.confirmations,
    ...(isPriceOver(invoice) ? ['over'] : []),
    ...(invoice.refundAddress === null ? [] : [invoice.refundAddress]),
    ...(invoice.refundContested ? ['contested'] : []),
    ...(invoice.networkDelayed ? ['delayed'] : []),
  ].join('.');

/** What was out of the ordinary, in words: what was accepted all the same reads otherwise than what was not. */
function notes(invoice: InvoiceView, isPayer: boolean): string[] {
  const isTaken = invoice.status === 'CONFIRMING' || paid.has(invoice.status);
  const delays = invoice.networkDelayed ? [texts.networkDelayed(networkName(invoice.network))] : [];
  const exceptions = invoice.exceptions.flatMap((exception) => {
    if (isTaken && texts.accepted[exception]) return texts.accepted[exception];
    if (exception === 'underpaid' && invoice.underpaidRefund !== null)
      return refundNote(invoice.underpaidRefund, isPayer);
    return texts.exceptions[exception] || [];
  });
  return [...delays, ...exceptions];
}

/** The link is not on this page: the page is for everybody who has its address, the refund is for who paid. */
const refundNote = (status: RefundStatus, isPayer: boolean): string =>
  status === 'awaiting_address'
    ? isPayer
      ? texts.claim.comesBack
      : texts.claim.note
    : `${texts.claim.titles[status]}. ${texts.claim.texts[status]}`;

function announcement(invoice: InvoiceView): string {
  const title = texts.titles[invoice.status];
  if (invoice.status === 'CONFIRMING')
    return `${title}. ${texts.confirmations(invoice.confirmations, invoice.requiredConfirmations ?? 0)}`;
  if (invoice.status !== 'WAITING') return title;
  return `${title}. ${isPriceHeld(invoice) ? texts.send(invoice.amount ?? '', assetName(invoice.currency)) : texts.quoteOver}`;
}

function heading(invoice: InvoiceView, title: string): Html {
  const kind = paid.has(invoice.status)
    ? 'paid'
    : over.has(invoice.status)
      ? 'over'
      : invoice.status === 'CONFIRMING' || invoice.status === 'CROSS_CHAIN_PENDING'
        ? 'wait'
        : 'pay';
  return html`<h1 id="state" class="state is-${kind}">
    <span class="mark" aria-hidden="true">${marks[kind]}</span>${title}
  </h1>`;
}

function summary(invoice: InvoiceView): Html {
  const asset = assetName(invoice.currency);
  const isPriced = invoice.amount !== null && !isPriceOver(invoice);
  return html`<header class="summary">
    <p class="merchant">${invoice.merchantName}</p>
    <p class="price">${fiat(invoice)}</p>
    <dl>
      ${
        isPriced &&
        html`<div>
          <dt>${texts.amount}</dt>
          <dd>${ltr(`${invoice.amount} ${asset}`)}</dd>
        </div>`
      }
      ${
        isPriced &&
        invoice.exchangeRate &&
        html`<div>
          <dt>${texts.rate}</dt>
          <dd>${ltr(`1 ${asset} = ${invoice.exchangeRate} ${invoice.fiatCurrency}`)}</dd>
        </div>`
      }
      ${
        invoice.network &&
        html`<div>
          <dt>${texts.network}</dt>
          <dd>${networkName(invoice.network)}</dd>
        </div>`
      }
      <div>
        <dt>${texts.invoice}</dt>
        <dd class="mono">${ltr(invoice.invoiceId)}</dd>
      </div>
    </dl>
  </header>`;
}

function content(invoice: InvoiceView, choices: readonly Choice[] | null): Html {
  switch (invoice.status) {
    case 'AWAITING_CURRENCY':
      return html`<p>${texts.choose}</p>
        ${choiceForms(invoice, choices ?? [])} ${cancelLink(invoice)}`;
    case 'WAITING':
      return html`${isPriceHeld(invoice) ? html`${payment(invoice)} ${quoteLine(invoice)}` : priceOver(invoice)}
        <nav class="other">
          ${
            choices &&
            html`<details>
              <summary>${texts.change}</summary>
              ${choiceForms(invoice, choices)}
            </details>`
          }
          ${cancelLink(invoice)}
        </nav>`;
    case 'PARTIALLY_PAID':
      return isPriceHeld(invoice)
        ? html`${figures(invoice)} ${payment(invoice)} ${quoteLine(invoice)}`
        : html`${received(invoice)} ${priceOver(invoice)}`;
    case 'CROSS_CHAIN_PENDING':
      return html`<p>${texts.crossChain}</p>
        ${figures(invoice)} ${transactions(invoice)} ${receivedOther(invoice)}`;
    case 'CONFIRMING':
      return html`${progress(invoice)}
        <p>${texts.mayClose}</p>
        ${transactions(invoice)} ${receivedOther(invoice)} ${returnLink(invoice)}`;
    case 'CONFIRMED':
    case 'SWEEP_QUEUED':
    case 'SETTLED':
      return html`<p>${texts.done}</p>
        ${receipt(invoice)} ${receivedOther(invoice)} ${returnLink(invoice)}
        <button type="button" class="quiet needs-script" data-print>${texts.print}</button>`;
    case 'EXPIRED':
    case 'CANCELLED':
      return html`<p>${texts.lateMoney}</p>
        ${transactions(invoice)} ${receivedOther(invoice)} ${returnLink(invoice)}`;
    case 'FAILED':
      return html`${figures(invoice)}
        <p>${texts.lateMoney}</p>
        ${transactions(invoice)} ${receivedOther(invoice)} ${returnLink(invoice)}`;
  }
}

function choiceForms(invoice: InvoiceView, choices: readonly Choice[]): Html {
  return html`<ul class="choices">
    ${choices.map((choice) => {
      const label = html`<span class="coin" aria-hidden="true">${choice.asset.slice(0, 1)}</span>
        <span class="coin-name"
          ><strong>${choice.name}</strong><small>${texts.onNetwork(choice.networkName)}</small></span
        >
        <span class="coin-price">
          ${
            choice.available
              ? html`<strong>${ltr(`${choice.amount ?? ''} ${choice.asset}`)}</strong
                  ><small>${texts.about(Math.round(choice.estimatedSeconds / 60))}</small>`
              : html`<small>${texts.unavailable[choice.reason ?? ''] ?? texts.unavailable.NOT_AVAILABLE}</small>`
          }
        </span>`;
      return html`<li>
        <form method="post" action="/i/${invoice.invoiceId}/currency">
          <input type="hidden" name="currency" value="${choice.currency}" />
          <button class="choice" ${new Html(choice.available ? '' : 'disabled')}>${label}</button>
        </form>
      </li>`;
    })}
  </ul>`;
}

/** QR, amount, address and the time that is left. */
function payment(invoice: InvoiceView): Html {
  const asset = assetName(invoice.currency);
  const isRest = invoice.status === 'PARTIALLY_PAID';
  const amount = (isRest ? invoice.amountRemaining : invoice.amount) ?? '';
  const uri = invoice.paymentUri ?? '';
  return html`<div class="pay">
      <div class="qr" role="img" aria-label="${texts.qr(asset)}">
        ${new Html(renderSVG(uri, { border: 3, ecc: 'M' }))}
      </div>
      <div class="fields">
        <h2>${isRest ? texts.sendRest(amount, asset) : texts.send(amount, asset)}</h2>
        ${field('amount', texts.amount, amount, asset, texts.copyAmount)}
        ${field('address', texts.address, invoice.depositAddress ?? '', '', texts.copyAddress)}
        <a class="button" href="${uri}">${texts.openWallet}</a>
      </div>
    </div>
    <p class="warning"><span aria-hidden="true">⚠</span> ${texts.onlySend(asset, networkName(invoice.network))}</p>
    ${timeLeft(invoice)}`;
}

const timeLeft = ({ expiresAt }: InvoiceView): Html | null =>
  expiresAt === null
    ? null
    : html`<p class="time">
        <span class="needs-script"
          ><span>${texts.expires}</span> <strong data-countdown="${expiresAt}" data-warn="300,60">–</strong></span
        >
        <noscript>${texts.payBefore(clock(expiresAt))}</noscript>
      </p>`;

const field = (id: string, label: string, value: string, unit: string, copyLabel: string): Html =>
  html`<div class="field">
    <span class="label" id="label-${id}">${label}</span>
    <output class="value mono" id="value-${id}" aria-labelledby="label-${id}">${ltr(value)}</output>
    ${unit && html`<span class="unit">${unit}</span>`}
    <button type="button" class="copy needs-script" data-copy="${value}" aria-label="${copyLabel}">
      ${texts.copy}
    </button>
  </div>`;

const quoteLine = (invoice: InvoiceView): Html | null =>
  invoice.quoteExpiresAt === null
    ? null
    : html`<p class="quote needs-script">
        ${texts.quoteHeld} <strong data-countdown="${invoice.quoteExpiresAt}">–</strong>
      </p>`;

/** A look changes nothing: the form renews the price, or the script in its place while nothing has come.
 *  In place of amount, address and QR code: paying them would be paying a price that nobody holds. */
const priceOver = (invoice: InvoiceView): Html =>
  (invoice.expiresAt ?? '') <= invoice.serverTime
    ? html`<p>${texts.tooLate}</p>`
    : html`<form
          method="post"
          action="/i/${invoice.invoiceId}/refresh"
          ${new Html(invoice.cancellable ? 'data-renew' : '')}
        >
          <p>${texts.quoteOver}</p>
          <button class="button">${texts.refresh}</button>
        </form>
        ${timeLeft(invoice)}`;

const cancelLink = (invoice: InvoiceView): Html | false =>
  invoice.cancellable && html`<a class="quiet" href="/i/${invoice.invoiceId}/cancel">${texts.cancel}</a>`;

function figures(invoice: InvoiceView): Html {
  const asset = assetName(invoice.currency);
  return html`<dl class="figures">
    <div>
      <dt>${texts.price}</dt>
      <dd>${ltr(`${invoice.amount ?? ''} ${asset}`)}</dd>
    </div>
    <div>
      <dt>${texts.received}</dt>
      <dd>${ltr(`${invoice.amountPaid} ${asset}`)}</dd>
    </div>
    <div class="strong">
      <dt>${texts.remaining}</dt>
      <dd>${ltr(`${invoice.amountRemaining ?? ''} ${asset}`)}</dd>
    </div>
  </dl>`;
}

/** What has come of a price whose rest nobody can name before it is quoted anew. */
const received = (invoice: InvoiceView): Html =>
  html`<dl class="figures">
    <div>
      <dt>${texts.received}</dt>
      <dd>${ltr(`${invoice.amountPaid} ${assetName(invoice.currency)}`)}</dd>
    </div>
  </dl>`;

function progress(invoice: InvoiceView): Html {
  const needed = invoice.requiredConfirmations ?? 1;
  const now = Math.min(invoice.confirmations, needed);
  return html`<div class="progress">
    <progress max="${needed}" value="${now}" aria-label="${texts.confirmations(now, needed)}"></progress>
    <p>${texts.confirmations(now, needed)}</p>
  </div>`;
}

function receipt(invoice: InvoiceView): Html {
  const asset = assetName(invoice.currency);
  return html`<h2>${texts.receipt}</h2>
    <dl class="figures">
      <div>
        <dt>${texts.price}</dt>
        <dd>${fiat(invoice)}</dd>
      </div>
      <div>
        <dt>${texts.received}</dt>
        <dd>${ltr(`${invoice.amountPaid} ${asset}`)}</dd>
      </div>
      <div>
        <dt>${texts.network}</dt>
        <dd>${networkName(invoice.network)}</dd>
      </div>
    </dl>
    ${transactions(invoice)}`;
}

/** Only to an address that the API has checked, and only over http(s). */
const returnLink = (invoice: InvoiceView): Html | false | null =>
  invoice.redirectUrl !== null &&
  /^https?:\/\//.test(invoice.redirectUrl) &&
  html`<a class="button" href="${invoice.redirectUrl}">${texts.back(invoice.merchantName)}</a>`;

/** Asks once more before an invoice is cancelled. */
export const cancelPage = (invoice: InvoiceView): Page => ({
  title: texts.cancelTitle,
  body: html`<div class="frame">
    ${summary(invoice)}
    <section class="card">
      <h1>${texts.cancelTitle}</h1>
      <p>${texts.cancelSure}</p>
      <form method="post" action="/i/${invoice.invoiceId}/cancel" class="sure">
        <button class="button danger">${texts.cancelYes}</button>
        <a class="button plain" href="/i/${invoice.invoiceId}">${texts.cancelNo}</a>
      </form>
    </section>
  </div>`,
});
