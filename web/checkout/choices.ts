import { findAsset } from '../../domain/chains/assets';
import { assetIcon } from '../../domain/chains/asset-icons';
import type { InvoiceView } from '../../domain/payments/payment-view';
import { duration } from './formats';
import { html, Html, ltr } from './html';
import { fill, fillText, type Texts } from './texts';

/** What an invoice can be paid in, each a form of its own. */

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

export const choiceForms = (t: Texts, invoice: InvoiceView, choices: readonly Choice[]): Html =>
  html`<ul class="choices">
    ${choices.map(
      (choice) =>
        html`<li id="choice-${choice.currency}">
          <form method="post" action="/i/${invoice.invoiceId}/currency">
            <input type="hidden" name="currency" value="${choice.currency}" />
            <button class="choice" ${new Html(choice.available ? '' : 'disabled')}>${label(t, choice)}</button>
          </form>
        </li>`,
    )}
  </ul>`;

const label = (t: Texts, choice: Choice): Html =>
  html`<svg class="coin" viewBox="0 0 32 32" aria-hidden="true">
      ${new Html(assetIcon(findAsset(choice.currency)?.asset ?? ''))}
    </svg>
    <span class="coin-name"
      ><strong>${choice.name}</strong><small>${fill(t.onNetwork, { network: choice.networkName })}</small></span
    >
    <span class="coin-price">
      ${
        choice.available
          ? html`<strong>${ltr(`${choice.amount ?? ''} ${choice.asset}`)}</strong><small>${arrival(t, choice)}</small>`
          : html`<small>${t.unavailable[choice.reason ?? ''] ?? t.unavailable['NOT_AVAILABLE']}</small>`
      }
    </span>`;

/** In minutes: blocks come at random. */
function arrival(t: Texts, { estimatedSeconds }: Choice): string {
  const minutes = Math.round(estimatedSeconds / 60);
  return minutes < 1 ? t.underMinute : fillText(t.about, { time: duration(t, Math.max(minutes * 60, 90)) });
}
