import { when } from './formats';
import { html, ltr } from './html';
import type { Page } from './page';
import { fill, type Texts } from './texts';

/** The page behind the link that admins get by mail when a settlement address is changed. Looking changes nothing. */

/** A change as the API shows it to the holder of its link. */
export type SettlementChange = Readonly<{
  merchantName: string;
  settlementAddress: string;
  settlementAddressBefore: string;
  status: 'awaiting_approval' | 'cooling_off' | 'applied' | 'stopped' | 'replaced';
  requestedBy: string;
  activeAt: string;
}>;

const isStoppable = ({ status }: SettlementChange): boolean => status !== 'stopped' && status !== 'replaced';

/** `isRefused`: the API would not stop it. */
export const settlementPage = (t: Texts, change: SettlementChange, path: string, isRefused = false): Page => {
  const words = t.settlement;
  return {
    title: `${words.titles[change.status]} · ${change.merchantName}`,
    body: html`<section class="card notice">
      <h1>${words.titles[change.status]}</h1>
      <p>${fill(words.asked, { who: change.requestedBy, merchant: change.merchantName })}</p>
      <p class="label">${words.to}</p>
      <p class="mono">${ltr(change.settlementAddress)}</p>
      <p class="label">${words.before}</p>
      <p class="mono">${ltr(change.settlementAddressBefore)}</p>
      ${change.status === 'cooling_off' && html`<p>${fill(words.from, { time: when(t, change.activeAt) })}</p>`}
      ${isRefused && html`<p class="note" role="alert">${words.refused}</p>`}
      ${
        isStoppable(change) &&
        html`<p class="warning"><span aria-hidden="true">⚠</span> ${words.effect[change.status]}</p>
          <form method="post" action="${path}"><button class="button">${words.stop}</button></form>`
      }
    </section>`,
  };
};
