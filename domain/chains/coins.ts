import { add, compare, fromUnits, subtract, times } from '../money';
import { whyNotByLightning, type NodeNow, type NotByLightning } from '../lightning/availability';
import {
  assetOf,
  assets,
  isByLightning,
  networkOf,
  networks,
  type Asset,
  type Currency,
  type NetworkId,
} from './assets';
import { workOfTransfer, nativeCost, settlementWork } from './costs';

/** Coins, and how the networks that carry one compare for the person who pays: fee, time, and whether they work now. */

/** In words, without what tells the coin's networks apart: that stands in parentheses at the end of an asset's name. */
export const coinName = ({ asset }: Pick<Asset, 'asset'>): string =>
  (assets.find((one) => one.asset === asset)?.name ?? asset).replace(/ \([^()]*\)$/, '');

/** What the follower of a network has said of it last. */
export type NetworkWatch = Readonly<{
  /** How far its scan is behind; null: it was never scanned. */
  lagSeconds: number | null;
  /** Its node stands still. */
  isStale: boolean;
}>;
export const networkStatuses = ['active', 'delayed', 'disabled'] as const;
export type NetworkStatus = (typeof networkStatuses)[number];

/** A network whose scan is this far behind, beside one block, is slow to notice payments. */
const delayedAfterSeconds = 120;

/** How payments in a currency fare. `isOpen`: some can be made now. */
type CurrencyStatus = Readonly<{ status: NetworkStatus; statusMessage: string | null; isOpen: boolean }>;

const messagesOfLightning: Readonly<Record<NotByLightning, string>> = {
  none: 'Nothing is received by Lightning at the moment',
  away: 'The Lightning node is not heard of; new payments have to wait',
  behind: 'The Lightning node is behind the chain; new payments have to wait',
  'too much': 'The Lightning node has no room to receive at the moment',
};

/** Without the word of a node that was heard of just now there is no invoice, and so no payment: late is not at all. */
function lightningStatus(node: NodeNow | null, isPriced: boolean): CurrencyStatus {
  const why = whyNotByLightning(node, 1n);
  if (why === null) return { ...pricedStatus(isPriced), isOpen: isPriced };
  return { status: why === 'none' ? 'disabled' : 'delayed', statusMessage: messagesOfLightning[why], isOpen: false };
}

/** Whether payments in a currency can be made now, and are noticed in time. */
export function currencyStatus(
  { currency, network }: Pick<Asset, 'currency' | 'network'>,
  watch: NetworkWatch,
  node: NodeNow | null,
  { isOn, isPriced }: Readonly<{ isOn: boolean; isPriced: boolean }>,
): CurrencyStatus {
  if (isOn && isByLightning(currency)) return lightningStatus(node, isPriced);
  const told = networkStatus(network, watch, { isOn, isPriced });
  return { ...told, isOpen: told.status !== 'disabled' && isPriced };
}

const pricedStatus = (isPriced: boolean): Readonly<{ status: NetworkStatus; statusMessage: string | null }> =>
  isPriced
    ? { status: 'active', statusMessage: null }
    : { status: 'delayed', statusMessage: 'No current price; new payments have to wait' };

/** Whether payments on a network are noticed, and in time. `isOn`: this deployment has it. `isPriced`: there is a fresh
 *  rate, and a fresh fee. */
export function networkStatus(
  network: NetworkId,
  { lagSeconds, isStale }: NetworkWatch,
  { isOn, isPriced }: Readonly<{ isOn: boolean; isPriced: boolean }>,
): Readonly<{ status: NetworkStatus; statusMessage: string | null }> {
  if (!isOn || lagSeconds === null)
    return { status: 'disabled', statusMessage: 'This network is not watched at the moment' };
  if (isStale || lagSeconds > delayedAfterSeconds + networks[network].blockSeconds)
    return { status: 'delayed', statusMessage: 'Payments are noticed late at the moment' };
  return pricedStatus(isPriced);
}

/** How long a payment usually takes until so many confirmations are there, in whole seconds. */
export const usualSeconds = (network: NetworkId, confirmations: number): number =>
  Math.ceil(confirmations * networks[network].blockSeconds);

/** Of a network, as the follower stores it: `unitPrice` with what is kept for data on another chain, `dataPart`. */
export type NetworkPrice = Readonly<{ unitPrice: string; dataPart: string }>;

/** About what a wallet pays the network for sending us one payment, in whole native coins, rounded up: of one coin to
 *  two recipients, its change included, or for one transfer. */
export function payerFee(currency: Currency, { unitPrice, dataPart }: NetworkPrice): string {
  const network = networkOf(currency);
  if (network.kind === 'utxo') return nativeCost(currency, unitPrice, settlementWork(currency));
  const gas = times(subtract(unitPrice, dataPart), workOfTransfer(currency).toString(), 0, 'up');
  // A token's transfer takes more gas than a native one, and hardly more data.
  const data = times(dataPart, (network.dataFee?.gas ?? 0n).toString(), 0, 'up');
  return fromUnits(BigInt(add(gas, data)), assetOf(network.native).decimals);
}

/** Fees of a fraction of a cent are told too, so that networks can be compared. */
const feeDecimals = 6;

/** The same in fiat money, rounded up. `nativeRate`: fiat per whole native coin. */
export const payerFeeFiat = (currency: Currency, price: NetworkPrice, nativeRate: string): string =>
  times(payerFee(currency, price), nativeRate, feeDecimals, 'up');

/** What stands in a list of coins and their networks. */
export type Offered = Readonly<{
  currency: Currency;
  asset: string;
  /** Whether it can be paid with now. */
  isOpen: boolean;
  /** In any fiat money that all of them have; null: not known. */
  payerFee: string | null;
}>;

/** Coins in the order of the registry, and of each the networks that can be paid on, the cheapest for the payer first;
 *  then the others. */
export function sortOffers<T extends Offered>(offers: readonly T[]): T[] {
  const place = (of: (one: Asset) => boolean): number => assets.findIndex(of);
  return [...offers].sort(
    (a, b) =>
      place(({ asset }) => asset === a.asset) - place(({ asset }) => asset === b.asset) ||
      before(a.isOpen, b.isOpen) ||
      compareFees(a.payerFee, b.payerFee) ||
      place(({ currency }) => currency === a.currency) - place(({ currency }) => currency === b.currency),
  );
}
/** What is true comes first. */
const before = (a: boolean, b: boolean): number => (a === b ? 0 : a ? -1 : 1);
const compareFees = (a: string | null, b: string | null): number =>
  a !== null && b !== null ? compare(a, b) : before(a !== null, b !== null);
