import type { InvoiceView } from '../../domain/payments/payment-view';
import { invoiceIn } from '../../domain/lightning/unified-uri';
import { assetName, carrierName, countdown, isLightning, whenToday } from './formats';
import { elided, html, Html, ltr } from './html';
import { qrCode } from './qr';
import { fill, fillText, type Texts } from './texts';
import { walletPlace } from './wallets';

/** The part of the page that asks for money: amount, wallet, address, time, QR code. */

/** Whether the amount is guaranteed still: where it is not, nothing may lead to paying it. Contract: 2.2,
 *  quoteExpiresAt. */
export const isPriceGuaranteed = ({ quoteExpiresAt, serverTime }: InvoiceView): boolean =>
  quoteExpiresAt === null || quoteExpiresAt > serverTime;
/** Whether the time to pay is over, though nobody has ended the invoice yet. */
export const isTimeOver = ({ expiresAt, serverTime }: InvoiceView): boolean =>
  expiresAt !== null && expiresAt <= serverTime;

/** What to send, in words. */
export function sendText(t: Texts, invoice: InvoiceView): string {
  const isRest = invoice.status === 'PARTIALLY_PAID';
  const amount = (isRest ? invoice.amountRemaining : invoice.amount) ?? '';
  return fillText(isRest ? t.sendRest : t.send, { amount, asset: assetName(invoice.currency) });
}

/** In the order in which a phone needs them; the code is for another device, and a phone shows it when asked to. */
export function payment(t: Texts, invoice: InvoiceView): Html {
  const asset = assetName(invoice.currency);
  const isRest = invoice.status === 'PARTIALLY_PAID';
  const amount = (isRest ? invoice.amountRemaining : invoice.amount) ?? '';
  const uri = invoice.paymentUri ?? '';
  if (isLightning(invoice) && uri === '') return html`<p>${t.lightning.making}</p>`;
  const words = receiverWords(t, invoice);
  const beside = invoiceIn(uri);
  return html`${clock(t, invoice)}
    <div class="pay">
      <div class="fields">
        <div class="field">
          <h2 class="value" id="value-amount">
            ${fill(isRest ? t.sendRest : t.send, { amount: ltr(amount), asset: ltr(asset) })}
          </h2>
          ${copy(t, amount, t.copyAmount)}
        </div>
        <a class="button" href="${uri}">${t.openWallet}</a>
        ${walletPlace(t, uri)}
        <div class="field">
          <span class="label" id="label-address">${words.name}</span>
          <output class="value mono" id="value-address" aria-labelledby="label-address"
            >${elided(invoice.depositAddress ?? '')}</output
          >
          ${copy(t, invoice.depositAddress ?? '', words.copy)}
        </div>
        ${invoice.destinationTag !== null && tagField(t, invoice.destinationTag)}
        ${beside !== null && besideField(t, beside)}
        <p class="warning"><span aria-hidden="true">⚠</span> ${words.only}</p>
      </div>
      <div class="code">
        <input type="checkbox" id="show-code" class="unseen" /><label class="button plain" for="show-code"
          >${t.showCode}</label
        >
        <div class="qr" role="img" aria-label="${words.code}">${qrCode(words.isBare ? uri.toUpperCase() : uri)}</div>
        ${invoice.destinationTag === null && !words.isBare && bareCode(t, invoice.depositAddress ?? '')}
      </div>
    </div>`;
}

/** How the place to pay to is called. `isBare`: it says all by itself, in letters of either case, of which a code of
 *  capitals has the fewest modules. */
function receiverWords(t: Texts, invoice: InvoiceView) {
  const asset = assetName(invoice.currency);
  const { lightning } = t;
  return isLightning(invoice)
    ? { name: lightning.invoice, copy: lightning.copy, only: lightning.only, code: lightning.qr, isBare: true }
    : {
        name: t.address,
        copy: t.copyAddress,
        only: fill(t.onlySend, { asset, network: carrierName(invoice) }),
        code: fillText(t.qr, { asset }),
        isBare: false,
      };
}

/** For wallets that read no URI. Not where a tag belongs to the address: it would be left out. */
const bareCode = (t: Texts, address: string): Html =>
  html`<details id="bare">
    <summary>${t.bareCode}</summary>
    <p>${t.bareWhy}</p>
    <div class="bare" role="img" aria-label="${t.bareCode}">${qrCode(address)}</div>
  </details>`;

/** Whoever leaves it out pays somebody whom nobody knows. */
const tagField = (t: Texts, tag: string): Html =>
  html`<div class="field">
      <span class="label" id="label-tag">${t.tag}</span>
      <output class="value mono" id="value-tag" aria-labelledby="label-tag">${ltr(tag)}</output>
      ${copy(t, tag, t.copyTag)}
    </div>
    <p class="warning"><span aria-hidden="true">⚠</span> ${t.needsTag}</p>`;

/** The other half of bitcoin: what is paid first counts. */
const besideField = (t: Texts, text: string): Html =>
  html`<div class="field">
      <span class="label" id="label-invoice">${t.lightning.invoice}</span>
      <output class="value mono" id="value-invoice" aria-labelledby="label-invoice">${ltr(text)}</output>
      ${copy(t, text, t.lightning.copy)}
    </div>
    <p>${t.lightning.either}</p>`;

const copy = (t: Texts, value: string, label: string): Html =>
  html`<button type="button" class="copy needs-script" data-copy="${value}" aria-label="${label}">${t.copy}</button>`;

/** One clock: until the price ends, or where both end together, the invoice. */
function clock(t: Texts, { quoteExpiresAt, expiresAt, serverTime }: InvoiceView): Html | null {
  const isLast = quoteExpiresAt === null || (expiresAt !== null && quoteExpiresAt >= expiresAt);
  return clockLine(t, isLast ? expiresAt : quoteExpiresAt, serverTime, isLast);
}

const clockLine = (t: Texts, end: string | null, now: string, isLast: boolean): Html | null =>
  end === null
    ? null
    : html`<p class="clock">
        ${fill(isLast ? t.clock.last : t.clock.price, {
          left: html`<strong data-countdown="${end}" data-warn="${isLast ? '300,60' : '60'}"
            >${countdown(now, end)}</strong
          >`,
          end: whenToday(t, end),
        })}
      </p>`;

/** A look changes nothing: the form renews the price, or the script in its place while nothing has come.
 *  In place of amount, address and QR code: paying them would be paying a price that nobody holds. */
export const priceOver = (t: Texts, invoice: InvoiceView): Html =>
  isTimeOver(invoice)
    ? html`<p>${t.tooLate}</p>`
    : html`<form
          method="post"
          action="/i/${invoice.invoiceId}/refresh"
          ${new Html(invoice.cancellable ? 'data-renew' : '')}
        >
          <p>${t.quoteOver}</p>
          <button class="button">${t.refresh}</button>
        </form>
        ${clockLine(t, invoice.expiresAt, invoice.serverTime, true)}`;
