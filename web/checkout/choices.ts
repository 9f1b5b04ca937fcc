import { assetIcon } from '../../domain/chains/asset-icons';
import type { NetworkStatus } from '../../domain/chains/coins';
import type { InvoiceView } from '../../domain/payments/payment-view';
import { fiatDecimals } from '../../domain/pricing/quote';
import { duration, fiat } from './formats';
import { html, Html, ltr } from './html';
import { fillText, type Texts } from './texts';

/** What an invoice can be paid in: first the coin, then its network. A coin that one network carries is one step. */

/** What the API says an invoice can be paid in: coin by coin, the cheapest network of each first. */
export type Choice = Readonly<{
  currency: string;
  asset: string;
  coinName: string;
  networkName: string;
  amount: string | null;
  estimatedSeconds: number;
  available: boolean;
  reason?: string;
  /** What the network takes from the payer, in the fiat money of the invoice; null: not known. */
  payerFeeFiat: number | null;
  status: NetworkStatus;
}>;
type Coin = Readonly<{ cheapest: Choice; networks: readonly Choice[] }>;

/** Coins that can be paid with come before the others. */
function coinsIn(choices: readonly Choice[]): Coin[] {
  const groups = [...Map.groupBy(choices, ({ asset }) => asset).values()];
  const coins = groups.map((networks) => ({ cheapest: networks[0]!, networks }));
  const isOpen = ({ networks }: Coin): boolean => networks.some(({ available }) => available);
  return [...coins.filter(isOpen), ...coins.filter((coin) => !isOpen(coin))];
}

export function choiceForms(t: Texts, invoice: InvoiceView, choices: readonly Choice[]): Html {
  const [only, ...others] = coinsIn(choices);
  const list =
    only && !others.length && only.networks.length > 1
      ? html`<h2 class="only-coin">${icon(only.cheapest)} ${only.cheapest.coinName}</h2>
          ${networkForms(t, invoice, only)}`
      : html`<ul class="choices">
          ${coinsIn(choices).map(
            (coin) => html`<li id="coin-${coin.cheapest.asset}">${coinPart(t, invoice, coin)}</li>`,
          )}
        </ul>`;
  return html`${list}
    <p class="warning">${t.feeNote}</p>`;
}

/** Of several networks it opens, also without scripts; one coin is open at a time. */
function coinPart(t: Texts, invoice: InvoiceView, coin: Coin): Html {
  const { cheapest, networks } = coin;
  return networks.length === 1
    ? form(invoice, cheapest, html`${icon(cheapest)} ${coinOnNetwork(t, invoice, cheapest)}`)
    : html`<details name="coin">
        <summary class="choice">${icon(cheapest)} ${coinOffer(t, invoice, coin)}</summary>
        ${networkForms(t, invoice, coin)}
      </details>`;
}

function networkForms(t: Texts, invoice: InvoiceView, { cheapest, networks }: Coin): Html {
  const next = networks[1];
  const hasCheapest = next?.available === true && (next.payerFeeFiat ?? 0) > (cheapest.payerFeeFiat ?? 0);
  const asks = !isOneAmount(networks);
  return html`<ul class="choices networks" aria-label="${fillText(t.networksOf, { coin: cheapest.coinName })}">
    ${networks.map((choice) => {
      const isCheapest = hasCheapest && choice === cheapest;
      return html`<li id="choice-${choice.currency}">
        ${form(invoice, choice, network(t, invoice, choice, { isCheapest, asks }))}
      </li>`;
    })}
  </ul>`;
}
const isOneAmount = (networks: readonly Choice[]): boolean =>
  new Set(networks.flatMap(({ available, amount }) => (available ? [amount] : []))).size === 1;

const form = (invoice: InvoiceView, { currency, available }: Choice, content: Html): Html =>
  html`<form method="post" action="/i/${invoice.invoiceId}/currency">
    <input type="hidden" name="currency" value="${currency}" />
    <button class="choice" ${new Html(available ? '' : 'disabled')}>${content}</button>
  </form>`;

const icon = ({ asset }: Choice): Html =>
  html`<svg class="coin" viewBox="0 0 32 32" aria-hidden="true">${new Html(assetIcon(asset))}</svg>`;

/** A coin that one network carries. */
const coinOnNetwork = (t: Texts, invoice: InvoiceView, choice: Choice): Html =>
  lines(
    choice.coinName,
    choice.available ? amountOf(choice) : null,
    [
      fillText(t.onNetwork, { network: choice.networkName }),
      ...(choice.available ? [feeText(t, invoice, choice, t.fee), arrival(t, choice)] : [unavailable(t, choice)]),
    ],
    lateness(t, choice),
  );

/** One network of a coin: what differs from the others is the fee. `asks`: so does the amount. */
function network(t: Texts, invoice: InvoiceView, choice: Choice, { isCheapest, asks }: Compared): Html {
  const { networkName, available } = choice;
  if (!available) return lines(networkName, null, [unavailable(t, choice)]);
  const badge = isCheapest && html` · <b class="badge">${t.lowestFee}</b>`;
  const facts = [asks && `${choice.amount} ${choice.asset}`, arrival(t, choice)];
  return lines(networkName, feeText(t, invoice, choice, t.fee), facts, lateness(t, choice), badge);
}
type Compared = Readonly<{ isCheapest: boolean; asks: boolean }>;

const lateness = (t: Texts, { available, status }: Choice): Html | false =>
  available &&
  status === 'delayed' &&
  html`<small class="slow"><span aria-hidden="true">⚠</span> ${t.slowNetwork}</small>`;

/** How many networks of a coin are named before it is opened. */
const named = 3;
function coinOffer(t: Texts, invoice: InvoiceView, { cheapest, networks }: Coin): Html {
  const open = networks.filter(({ available }) => available);
  if (!open.length) return lines(cheapest.coinName, null, [unavailable(t, cheapest)]);
  const more = open.length > named ? ` +${open.length - named}` : '';
  const names = open.slice(0, named).map(({ networkName }) => networkName);
  return lines(cheapest.coinName, isOneAmount(open) ? amountOf(cheapest) : ltr(cheapest.asset), [
    ltr(`${names.join(', ')}${more}`),
    feeText(t, invoice, cheapest, open.length > 1 ? t.feeFrom : t.fee),
  ]);
}

const amountOf = ({ amount, asset }: Choice): Html => ltr(`${amount ?? ''} ${asset}`);
const unavailable = (t: Texts, { reason, status }: Choice): string =>
  t.unavailable[status === 'disabled' ? 'NETWORK_OFF' : (reason ?? '')] ?? t.unavailable['NOT_AVAILABLE']!;

/** A name and a figure, and facts below them. */
const lines = (
  name: string,
  figure: Html | string | null,
  facts: readonly (Html | string | false | null)[],
  more: Html | false = false,
  badge: Html | false = false,
): Html =>
  html`<span class="offer"
    ><span class="offer-line"><strong>${name}</strong>${figure !== null && html`<strong>${figure}</strong>`}</span
    ><small>${dotted(facts)}${badge}</small>${more}</span
  >`;

const dotted = (facts: readonly (Html | string | false | null)[]): Html[] =>
  facts.filter(Boolean).map((fact, index) => html`${index > 0 && ' · '}${fact}`);

/** `words`: with `{fee}` in them. What is less than the smallest unit of the money is not told as nothing. */
function feeText(t: Texts, { fiatCurrency }: InvoiceView, { payerFeeFiat }: Choice, words: string): string | null {
  if (payerFeeFiat === null) return null;
  const least = 10 ** -(fiatDecimals[fiatCurrency] ?? 2);
  return payerFeeFiat < least
    ? fillText(t.feeUnder, { fee: fiat(t, least, fiatCurrency) })
    : fillText(words, { fee: fiat(t, payerFeeFiat, fiatCurrency) });
}

/** In minutes: blocks come at random. */
function arrival(t: Texts, { estimatedSeconds }: Choice): string {
  const minutes = Math.round(estimatedSeconds / 60);
  return minutes < 1 ? t.underMinute : fillText(t.about, { time: duration(t, Math.max(minutes * 60, 90)) });
}
