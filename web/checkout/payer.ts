import type { Context } from 'koa';
import type { InvoiceView } from '../../domain/payments/payment-view';
import { assetName, isLightning, networkName } from './formats';
import { html, ltr, type Html } from './html';
import { tagInput, tagLine } from './tag';
import { fill, type Texts } from './texts';

/** How a payer says where money would go back to: before it comes, and by an act. docs/decisions/0024. */

const cookieName = (slug: string): string => `payer_${slug}`;
const days = 90;

/** The token of a browser that became the payer's. */
export function payerToken(ctx: Context, slug: string): string | undefined {
  const token = ctx.cookies.get(cookieName(slug));
  return token !== undefined && /^[0-9a-f]{40}$/.test(token) ? token : undefined;
}

/** Keeps it in the browser: for the pages of this invoice alone, and for no script. */
export const keepPayerToken = (ctx: Context, slug: string, token: string, isSecure: boolean): unknown =>
  ctx.res.appendHeader(
    'Set-Cookie',
    `${cookieName(slug)}=${token}; Path=/i/${slug}; Max-Age=${days * 86_400}; HttpOnly; SameSite=Lax` +
      (isSecure ? '; Secure' : ''),
  );

/** Where money would go back to, and the form that says it while it can still be said. */
export function payerPart(t: Texts, invoice: InvoiceView): Html {
  const { payer } = t;
  return html`${invoice.refundContested && html`<p class="note">${payer.contested}</p>`}
  ${
    invoice.refundAddress !== null &&
    html`<p class="label">${payer.goesTo}</p>
      <p class="mono">${ltr(invoice.refundAddress)}</p>
      ${tagLine(t, invoice.refundDestinationTag)}
      <p>${invoice.refundAddressLocked ? payer.locked : payer.yours}</p>`
  }
  ${!invoice.refundAddressLocked && invoice.currency !== null && !isLightning(invoice) && form(t, invoice)}`;
}

const form = (t: Texts, invoice: InvoiceView): Html => {
  const words = t.payer;
  return html`<details>
    <summary>${words.ask}</summary>
    <form method="post" action="/i/${invoice.invoiceId}/payer" class="claim">
      <label for="refund-address"
        >${fill(words.address, { asset: assetName(invoice.currency), network: networkName(invoice.network) })}</label
      >
      <input
        id="refund-address"
        name="address"
        class="mono"
        type="text"
        maxlength="120"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
      />
      ${tagInput(t, invoice.network)}
      <p>${fill(words.why, { network: networkName(invoice.network) })}</p>
      <button class="button plain">${words.save}</button>
    </form>
  </details>`;
};

/** For the browser that became the payer's, while the refund waits for its address. */
export const linkForm = ({ payer }: Texts, invoice: InvoiceView): Html =>
  html`<form method="post" action="/i/${invoice.invoiceId}/refund-link">
    <button class="button">${payer.name}</button>
  </form>`;
