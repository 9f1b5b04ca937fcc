import {
  carrierOf,
  isByLightning,
  networks,
  payableAsset,
  type Asset,
  type NetworkId,
} from '../../domain/chains/assets';
import { html, type Html } from './html';
import type { Texts } from './texts';

/** Numbers, times and names as a language writes them. Amounts to be paid are never among them: they stand as wallets
 *  take them. */

/** What a payment may be in; undefined: a ticker of another release. */
export const payable = (currency: string): Asset | undefined => payableAsset(currency, true);
export const assetName = (currency: string | null): string => (currency && payable(currency)?.asset) ?? currency ?? '';
export const networkName = (network: string | null): string =>
  (network && networks[network as NetworkId]?.name) ?? network ?? '';

type Asked = Readonly<{ currency: string | null; network: string | null }>;
export const isLightning = ({ currency }: Pick<Asked, 'currency'>): boolean =>
  currency !== null && isByLightning(currency);
/** What an invoice is paid over. */
export const carrierName = ({ currency, network }: Asked): string => {
  const asset = currency === null ? undefined : payable(currency);
  return asset ? carrierOf(asset) : networkName(network);
};

export const fiat = ({ locale }: Texts, amount: number | string, currency: string): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency }).format(amount as number);

/** An exact decimal with its digits grouped, none of them lost. */
export const decimal = ({ locale }: Texts, exact: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(exact as `${number}`);

/** About so long. */
export function duration({ locale }: Texts, seconds: number): string {
  const isShort = seconds < 90;
  const unit = isShort ? 'second' : 'minute';
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(isShort ? seconds : Math.ceil(seconds / 60));
}

const day = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const minute = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const;

export const dayAndTime = ({ locale }: Texts, iso: string): string =>
  new Intl.DateTimeFormat(locale, { ...day, ...minute, timeZone: 'UTC' }).format(new Date(iso));

/** A moment in UTC, which the script writes in the payer's own zone. */
export const when = (t: Texts, iso: string): Html =>
  html`<time datetime="${iso}" data-zoned="day">${dayAndTime(t, iso)}</time>`;

/** The same without its day. */
export const whenToday = ({ locale }: Texts, iso: string): Html =>
  html`<time datetime="${iso}" data-zoned="minute"
    >${new Intl.DateTimeFormat(locale, { ...minute, timeZone: 'UTC' }).format(new Date(iso))}</time
  >`;

/** What is left of a time, as the script goes on counting it: hours, minutes, seconds. */
export function countdown(from: string, to: string): string {
  const left = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  const pad = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(left / 3600), Math.floor((left % 3600) / 60)];
  return `${hours ? `${hours}:${pad(minutes)}` : minutes}:${pad(left % 60)}`;
}
