import type { InvoiceView } from '../../domain/payments/payment-view';
import { html, ltr, type Html } from './html';
import { fill, type Texts } from './texts';

/** What a merchant shows of themselves: a logo, a colour, whom to ask, terms. */

/** An invoice, or a refund of it. */
type Branded = Pick<InvoiceView, 'branding' | 'invoiceId'>;

const isWeb = (url: string | null): url is string => url !== null && /^https?:\/\//.test(url);

export const logo = ({ branding: { logoUrl } }: Branded): Html | false =>
  logoUrl !== null && html`<img class="logo" src="${logoUrl}" alt="" />`;

/** Where the merchant answers: a page of theirs, or an address to write to. */
export function contact({ branding: { supportUrl, supportEmail }, invoiceId }: Branded): Html | null {
  if (isWeb(supportUrl))
    return html`<a href="${supportUrl}" target="_blank" rel="noopener">${ltr(new URL(supportUrl).host)}</a>`;
  if (supportEmail === null) return null;
  return html`<a href="mailto:${supportEmail}?subject=${encodeURIComponent(invoiceId)}">${ltr(supportEmail)}</a>`;
}

/** The same as text. */
export const contactText = ({ branding: { supportUrl, supportEmail } }: Branded): string | null =>
  isWeb(supportUrl) ? supportUrl : supportEmail;

export function help(t: Texts, invoice: Branded): Html {
  const { termsUrl } = invoice.branding;
  const link = contact(invoice);
  return html`<p>${link ? fill(t.helpAt, { contact: link }) : t.help}</p>
    ${isWeb(termsUrl) && html`<p><a href="${termsUrl}" target="_blank" rel="noopener">${t.terms}</a></p>`}`;
}

/** The style sheet of a colour. The policy of the pages allows no styles within them. */
export const accentSheet = ({ branding: { accentColor } }: Branded): string | undefined =>
  accentColor === null ? undefined : `/static/accent-${accentColor.slice(1)}.css`;
