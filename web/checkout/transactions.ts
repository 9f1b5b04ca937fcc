import type { InvoiceView } from '../../domain/payments/payment-view';
import { assetName, carrierName, fiat, isLightning, payable, when } from './formats';
import { html, ltr, type Html } from './html';
import { row } from './summary';
import { fill, type Texts } from './texts';

/** What has come on chain, with links to an explorer. */

/** The hash of a transaction; a link where its chain has a public explorer. */
export const linkTo = (txId: string, explorer: string | null | undefined): Html =>
  explorer
    ? html`<a class="mono" rel="noreferrer noopener" href="${explorer.replace('{txId}', txId)}">${ltr(txId)}</a>`
    : html`<span class="mono">${ltr(txId)}</span>`;

const explorerOf = ({ explorerTxUrls }: InvoiceView, network: string | null | undefined): string | undefined =>
  new Map(Object.entries(explorerTxUrls)).get(network ?? '');

function transaction(txId: string, explorer: string | null | undefined, label: string): Html {
  return html`<li>
    <span class="label">${label}</span>
    ${linkTo(txId, explorer)}
  </li>`;
}

/** The deposits in the invoice's own coin. Those in others: `otherCoins`. */
export function transactions(t: Texts, invoice: InvoiceView): Html | false {
  const other = new Set<string | null>(invoice.receivedOther.map(({ txId }) => txId));
  const own = invoice.txIds.filter((txId) => !other.has(txId));
  return (
    own.length > 0 &&
    html`<ul class="transactions">
      ${own.map((txId) =>
        isLightning(invoice)
          ? transaction(txId, null, t.lightning.hash)
          : transaction(txId, explorerOf(invoice, invoice.network), t.transaction),
      )}
    </ul>`
  );
}

type Other = Readonly<{ currency: string; amount: string; txId: string | null; fiatValue?: string | null }>;

const listOf = (t: Texts, invoice: InvoiceView, others: readonly Other[]): Html =>
  html`<dl class="figures">
      ${others.map(({ currency, amount, fiatValue }) =>
        row(
          payable(currency)?.name ?? currency,
          html`${ltr(`${amount} ${assetName(currency)}`)}
          ${fiatValue && html`<small>${ltr(fiat(t, fiatValue, invoice.fiatCurrency))}</small>`}`,
        ),
      )}
    </dl>
    <ul class="transactions">
      ${others.map(
        ({ txId, currency }) =>
          txId !== null && transaction(txId, explorerOf(invoice, payable(currency)?.network), t.transaction),
      )}
    </ul>`;

/** What came in other coins, and what happens next and when. */
export const receivedOther = (t: Texts, invoice: InvoiceView): Html | false =>
  invoice.receivedOther.length > 0 &&
  html`<h2>${t.other.title}</h2>
    ${listOf(t, invoice, invoice.receivedOther)}
    <p>${whatIsNext(t, invoice)}</p>`;

/** What is on its way in other coins than the one that is asked for. */
export const seenOther = (t: Texts, invoice: InvoiceView): Html =>
  listOf(t, invoice, [...invoice.receivedOther, ...invoice.seenOther]);

/** What was sent, and what was asked for, in a sentence. */
export const askedAndSent = (t: Texts, invoice: InvoiceView): Html =>
  fill(t.other.asked, {
    received: new Intl.ListFormat(t.locale)
      .formatToParts(invoice.receivedOther.map(({ amount, currency }) => `${amount} ${assetName(currency)}`))
      .map(({ type, value }) => (type === 'element' ? ltr(value) : value)),
    amount: ltr(invoice.amount ?? ''),
    asset: assetName(invoice.currency),
    network: carrierName(invoice),
  });

function whatIsNext(t: Texts, { status, crossChainAutoAcceptAt, crossChainRejectAt }: InvoiceView): Html | string {
  if (status !== 'CROSS_CHAIN_PENDING') return t.other.held;
  if (crossChainAutoAcceptAt !== null) return fill(t.other.acceptedAt, { time: when(t, crossChainAutoAcceptAt) });
  return fill(t.other.decidedBy, { time: when(t, crossChainRejectAt!) });
}
