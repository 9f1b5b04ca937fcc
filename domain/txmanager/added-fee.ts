import { assetOf, type Currency } from '../chains/assets';
import { add, compare, isPositive, subtract } from '../money';

/** What a receiver bears above the network fee that was quoted, where the fee is deducted: an estimate moves it from
 *  what he gets to the fee, once. docs/decisions/0082-who-pays-for-a-new-account.md */

/** The columns of a row that leaves which say it. `added_fee`: what of `network_fee` was added; null: nothing. */
export type FeeColumns = Readonly<{ network_fee: string; net_amount: string; added_fee: string | null }>;

/** A fee as it was quoted, and what was added to it. */
export type AddedFee = Readonly<{ quoted: string; added: string }>;

/** What was added to the fees of these rows. */
export const addedFeesOf = (rows: readonly FeeColumns[]): AddedFee[] =>
  rows.flatMap(({ network_fee: fee, added_fee: added }) =>
    added === null ? [] : [{ quoted: subtract(fee, added), added }],
  );

/** The network fee as it is charged: of its row, and what the merchant was charged beside that. */
export const chargedFee = (row: Readonly<{ network_fee: string; charged_gas?: string | null }>): string =>
  add(row.network_fee, row.charged_gas ?? '0');

/** What a receiver gets who bears this too; null: nothing that is worth sending. */
export function leftAfter(net: string, added: string, currency: Currency): string | null {
  const left = subtract(net, added);
  return isPositive(left) && compare(left, assetOf(currency).dust) >= 0 ? left : null;
}
