import { html, ltr } from './html';
import type { Page } from './page';
import { texts } from './texts';

/** The page behind the link that admins get by mail when a settlement address is changed. Looking changes nothing. */

const words = texts.settlement;

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
export const settlementPage = (change: SettlementChange, path: string, isRefused = false): Page => ({
  title: `${words.titles[change.status]} · ${change.merchantName}`,
  body: html`<section class="card notice">
    <h1>${words.titles[change.status]}</h1>
    <p>${words.asked(change.requestedBy, change.merchantName)}</p>
    <p class="label">${words.to}</p>
    <p class="mono">${ltr(change.settlementAddress)}</p>
    <p class="label">${words.before}</p>
    <p class="mono">${ltr(change.settlementAddressBefore)}</p>
    ${change.status === 'cooling_off' && html`<p>${words.from(change.activeAt)}</p>`}
    ${isRefused && html`<p class="note" role="alert">${words.refused}</p>`}
    ${
      isStoppable(change) &&
      html`<p class="warning"><span aria-hidden="true">⚠</span> ${words.effect[change.status]}</p>
        <form method="post" action="${path}"><button class="button">${words.stop}</button></form>`
    }
  </section>`,
});
