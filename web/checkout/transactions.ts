import { findAsset, networks, type NetworkId } from '../../domain/chains/assets';
import type { InvoiceView } from '../../domain/payments/payment-view';
import { html, ltr, type Html } from './html';
import { texts } from './texts';

/** What has come on chain, with links to an explorer. */

export const clock = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;

function transaction(txId: string, network: string | null): Html {
  const explorer = network ? networks[network as NetworkId]?.explorerTxUrl : undefined;
  return html`<li>
    <span class="label">${texts.transaction}</span>
    ${
      explorer
        ? html`<a class="mono" rel="noreferrer noopener" href="${explorer.replace('{txId}', txId)}">${ltr(txId)}</a>`
        : html`<span class="mono">${ltr(txId)}</span>`
    }
  </li>`;
}

/** The deposits in the invoice's own coin. Those in others: `receivedOther`. */
export function transactions(invoice: InvoiceView): Html | false {
  const other = new Set<string | null>(invoice.receivedOther.map(({ txId }) => txId));
  const own = invoice.txIds.filter((txId) => !other.has(txId));
  return (
    own.length > 0 &&
    html`<ul class="transactions">
      ${own.map((txId) => transaction(txId, invoice.network))}
    </ul>`
  );
}

/** What came in other coins, and what happens next and when. */
export function receivedOther(invoice: InvoiceView): Html | false {
  return (
    invoice.receivedOther.length > 0 &&
    html`<h2>${texts.other.title}</h2>
      <dl class="figures">
        ${invoice.receivedOther.map(
          ({ currency, amount, fiatValue }) =>
            html`<div>
              <dt>${findAsset(currency)?.name ?? currency}</dt>
              <dd>
                ${ltr(`${amount} ${findAsset(currency)?.asset ?? currency}`)}
                ${fiatValue && html`<small>${ltr(`${fiatValue} ${invoice.fiatCurrency}`)}</small>`}
              </dd>
            </div>`,
        )}
      </dl>
      <ul class="transactions">
        ${invoice.receivedOther.map(
          ({ txId, currency }) => txId !== null && transaction(txId, findAsset(currency)?.network ?? null),
        )}
      </ul>
      <p>${whatIsNext(invoice)}</p>`
  );
}

function whatIsNext({ status, crossChainAutoAcceptAt, crossChainRejectAt }: InvoiceView): string {
  if (status !== 'CROSS_CHAIN_PENDING') return texts.other.held;
  if (crossChainAutoAcceptAt !== null) return texts.other.acceptedAt(clock(crossChainAutoAcceptAt));
  return texts.other.decidedBy(clock(crossChainRejectAt!));
}
