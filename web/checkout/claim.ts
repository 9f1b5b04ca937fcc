import { baseUnits } from '../../domain/chains/assets';
import type { ClaimView, RefundStatus } from '../../domain/refunds/refund';
import { accentSheet, help, logo } from './branding';
import { assetName, carrierName, fiat, isLightning, networkName } from './formats';
import { elided, html, ltr, type Html } from './html';
import type { Page } from './page';
import { row } from './summary';
import { tagInput, tagLine } from './tag';
import { linkTo } from './transactions';
import { fill, fillText, type Texts } from './texts';

/** The pages on which a payer claims a refund: name an address, look at it once more, see where the money is. */

const namesOf = (claim: ClaimView) => {
  const { currency, network, netToDestination: net } = claim;
  const amount = `${net} ${assetName(currency)}`;
  const satoshi = isLightning(claim) ? baseUnits(currency, net).toString() : '';
  return { asset: assetName(currency), network: networkName(network), amount, satoshi };
};

/** By Lightning a payer names an invoice, and no network confirms anything. */
const wordsFor = ({ claim: words }: Texts, claim: ClaimView): Omit<Texts['claim'], 'byLightning'> =>
  isLightning(claim)
    ? { ...words, ...words.byLightning, texts: { ...words.texts, ...words.byLightning.texts } }
    : words;
const nameOf = (t: Texts, claim: ClaimView): string => (isLightning(claim) ? t.lightning.invoice : t.address);

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

function page(t: Texts, claim: ClaimView, title: string, body: Html): Page {
  const [kind, mark] = marks[claim.status];
  const words = wordsFor(t, claim);
  const inAsset = (amount: string): Html => ltr(`${amount} ${assetName(claim.currency)}`);
  return {
    title: `${title} · ${claim.merchantName}`,
    help: help(t, claim),
    accent: accentSheet(claim),
    body: html`<div class="frame" data-announce="${title}">
      <header class="summary">
        <p class="merchant">${logo(claim)}<span>${claim.merchantName}</span></p>
        <p class="price">${inAsset(claim.netToDestination)}</p>
      </header>
      <section class="card" aria-labelledby="state">
        <h1 id="state" class="state is-${kind}" tabindex="-1">
          <span class="mark" aria-hidden="true">${mark}</span>${title}
        </h1>
        ${body}
      </section>
      <dl class="details">
        ${row(t.claim.amount, inAsset(claim.amount))}
        ${claim.feeBearer === 'payer' && row(words.fee, inAsset(claim.networkFee))}
        ${row(t.claim.worth, ltr(fiat(t, claim.fiatAmount, claim.fiatCurrency)))} ${row(t.network, carrierName(claim))}
        ${row(t.invoice, html`<span class="mono">${ltr(claim.invoiceId)}</span>`)}
      </dl>
    </div>`,
  };
}

export type Typed = Readonly<{ address: string; destinationTag: string }>;
/** Why nothing was named: what was typed is to be mended, or to be sent again later. */
export type NotNamed = 'refused' | 'not-now';
type Unnamed = Typed & Readonly<{ why: NotNamed }>;

/** `typed`: what was not taken. */
export const claimPage = (t: Texts, claim: ClaimView, path: string, typed?: Unnamed): Page =>
  claim.status === 'awaiting_address'
    ? page(t, claim, t.claim.titles.awaiting_address, addressForm(t, claim, path, typed))
    : {
        ...page(t, claim, t.claim.titles[claim.status], progress(t, claim)),
        polls: true,
        isOver: ['completed', 'failed', 'cancelled'].includes(claim.status),
      };

const addressForm = (t: Texts, claim: ClaimView, path: string, typed?: Unnamed): Html => {
  const words = wordsFor(t, claim);
  const isRefused = typed?.why === 'refused';
  return html`<p>${fill(words.ask, namesOf(claim))}</p>
    ${
      typed !== undefined &&
      html`<p class="note" role="alert" id="refused">
        ${isRefused ? fillText(words.refused, namesOf(claim)) : words.notNow}
      </p>`
    }
    <form method="post" action="${path}" class="claim">
      <label for="address">${fill(words.address, namesOf(claim))}</label>
      <input
        id="address"
        name="address"
        class="mono"
        type="text"
        required
        maxlength="${isLightning(claim) ? 2000 : 120}"
        value="${typed?.address ?? ''}"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        ${typed !== undefined && html`aria-describedby="refused"`}
        ${isRefused && html`aria-invalid="true"`}
      />
      ${tagInput(t, claim.network, typed?.destinationTag)}
      <p class="warning"><span aria-hidden="true">⚠</span> ${fill(words.own, namesOf(claim))}</p>
      <button class="button">${words.next}</button>
    </form>`;
};

/** The address once more, as its network spells it, before it is final. */
export const confirmClaimPage = (t: Texts, claim: ClaimView, path: string): Page =>
  page(
    t,
    claim,
    wordsFor(t, claim).sure,
    html`<dl class="figures">
        ${row(t.claim.gets, ltr(`${claim.netToDestination} ${assetName(claim.currency)}`), 'strong')}
        ${row(t.network, carrierName(claim))}
      </dl>
      <p class="label">${nameOf(t, claim)}</p>
      <p class="mono">${elided(claim.address ?? '')}</p>
      ${tagLine(t, claim.destinationTag)}
      <p class="warning"><span aria-hidden="true">⚠</span> ${wordsFor(t, claim).final}</p>
      <form method="post" action="${path}" class="sure">
        <input type="hidden" name="address" value="${claim.address}" />
        ${
          claim.destinationTag !== null &&
          html`<input type="hidden" name="destinationTag" value="${claim.destinationTag}" />`
        }
        <input type="hidden" name="confirm" value="yes" />
        <button class="button">${wordsFor(t, claim).yes}</button>
        <a class="button plain" href="${path}">${t.claim.no}</a>
      </form>`,
  );

function progress(t: Texts, claim: ClaimView): Html {
  return html`<p>${wordsFor(t, claim).texts[claim.status]}</p>
    ${
      claim.address &&
      html`<p class="label">${nameOf(t, claim)}</p>
        <p class="mono">${elided(claim.address)}</p>
        ${tagLine(t, claim.destinationTag)}`
    }
    ${
      claim.txId &&
      html`<p class="label">${isLightning(claim) ? t.lightning.hash : t.transaction}</p>
        <p>${linkTo(claim.txId, claim.explorerTxUrl)}</p>`
    }`;
}
