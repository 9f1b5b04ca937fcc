import { findAsset, networks, type NetworkId } from '../../domain/chains/assets';
import type { ClaimView, RefundStatus } from '../../domain/refunds/refund';
import { html, ltr, type Html } from './html';
import type { Page } from './page';
import { texts } from './texts';

/** The pages on which a payer claims a refund: name an address, look at it once more, see where the money is. */

const words = texts.claim;
const asset = (claim: ClaimView): string => findAsset(claim.currency)?.asset ?? claim.currency;
const network = (claim: ClaimView): string => networks[claim.network as NetworkId]?.name ?? claim.network;
const marks: Readonly<Record<RefundStatus, readonly [kind: string, mark: string]>> = {
  awaiting_address: ['pay', '→'],
  awaiting_approval: ['wait', '…'],
  pending: ['wait', '…'],
  processing: ['wait', '…'],
  broadcast: ['wait', '…'],
  completed: ['paid', '✓'],
  failed: ['over', '✕'],
  cancelled: ['over', '✕'],
};

const row = (name: string, value: Html | string, kind = ''): Html =>
  html`<div class="${kind}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

function page(claim: ClaimView, title: string, body: Html): Page {
  const [kind, mark] = marks[claim.status];
  return {
    title: `${title} · ${claim.merchantName}`,
    body: html`<div class="frame" data-version="${claim.status}" data-announce="${title}">
      <header class="summary">
        <p class="merchant">${claim.merchantName}</p>
        <p class="price">${ltr(`${claim.netToDestination} ${asset(claim)}`)}</p>
        <dl>
          ${row(words.amount, ltr(`${claim.amount} ${asset(claim)}`))}
          ${claim.feeBearer === 'payer' && row(words.fee, ltr(`${claim.networkFee} ${asset(claim)}`))}
          ${row(words.worth, ltr(`${claim.fiatAmount} ${claim.fiatCurrency}`))} ${row(texts.network, network(claim))}
          ${row(texts.invoice, ltr(claim.invoiceId))}
        </dl>
      </header>
      <section class="card" aria-labelledby="state">
        <h1 id="state" class="state is-${kind}"><span class="mark" aria-hidden="true">${mark}</span>${title}</h1>
        ${body}
      </section>
    </div>`,
  };
}

/** `typed`: what was refused, to be mended. */
export const claimPage = (claim: ClaimView, path: string, typed?: string): Page =>
  claim.status === 'awaiting_address'
    ? page(claim, words.titles.awaiting_address, addressForm(claim, path, typed))
    : {
        ...page(claim, words.titles[claim.status], progress(claim)),
        polls: true,
        isOver: ['completed', 'failed', 'cancelled'].includes(claim.status),
      };

const addressForm = (claim: ClaimView, path: string, typed?: string): Html =>
  html`<p>${words.ask(asset(claim), network(claim))}</p>
    ${typed !== undefined && html`<p class="note" role="alert" id="refused">${words.refused(network(claim))}</p>`}
    <form method="post" action="${path}" class="claim">
      <label for="address">${words.address(asset(claim), network(claim))}</label>
      <input
        id="address"
        name="address"
        class="mono"
        type="text"
        required
        maxlength="120"
        value="${typed ?? ''}"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        ${typed !== undefined && html`aria-invalid="true" aria-describedby="refused"`}
      />
      <p class="warning"><span aria-hidden="true">⚠</span> ${words.own(asset(claim), network(claim))}</p>
      <button class="button">${words.next}</button>
    </form>`;

/** The address once more, as its network spells it, before it is final. */
export const confirmClaimPage = (claim: ClaimView, path: string): Page =>
  page(
    claim,
    words.sure,
    html`<dl class="figures">
        ${row(words.gets, ltr(`${claim.netToDestination} ${asset(claim)}`), 'strong')}
        ${row(texts.network, network(claim))}
      </dl>
      <p class="label">${texts.address}</p>
      <p class="mono">${ltr(claim.address ?? '')}</p>
      <p class="warning"><span aria-hidden="true">⚠</span> ${words.final}</p>
      <form method="post" action="${path}" class="sure">
        <input type="hidden" name="address" value="${claim.address}" />
        <input type="hidden" name="confirm" value="yes" />
        <button class="button">${words.yes}</button>
        <a class="button plain" href="${path}">${words.no}</a>
      </form>`,
  );

function progress(claim: ClaimView): Html {
  const explorer = networks[claim.network as NetworkId]?.explorerTxUrl;
  return html`<p>${words.texts[claim.status]}</p>
    ${
      claim.address &&
      html`<p class="label">${texts.address}</p>
        <p class="mono">${ltr(claim.address)}</p>`
    }
    ${
      claim.txId &&
      html`<p class="label">${texts.transaction}</p>
        <p class="mono">
          ${
            explorer
              ? html`<a rel="noreferrer noopener" href="${explorer.replace('{txId}', claim.txId)}"
                  >${ltr(claim.txId)}</a
                >`
              : ltr(claim.txId)
          }
        </p>`
    }`;
}
