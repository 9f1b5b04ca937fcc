import type { AddressReader } from '../../domain/chains/address';
import { feeWithCoins } from '../../domain/chains/costs';
import { exactAmount } from '../../domain/chains/exact-amount';
import { isByLightning, payableAsset, type NetworkId } from '../../domain/chains/assets';
import { wayFee, type InvoiceReader } from '../../domain/lightning/receiver';
import { splitWithdrawal, largestWithdrawal, type FeeMode, type Split } from '../../domain/withdrawals/withdrawal';

import { coinsFor } from '../treasury/coins-for';
import { rateNow } from '../../db/pricing/pricing';
import type { Queryable } from '../../db/query';
import { DomainError } from '../../domain/errors';
import { compare } from '../../domain/money';

export type WithdrawalAsk = Readonly<{
  currency: string;
  amount: string;
  feeMode: FeeMode;
  whitelistId?: string;
  address?: string;
  destinationTag?: string;
  note?: string;
}>;
export type Deps = Readonly<{
  codecs: Readonly<Record<NetworkId, AddressReader>>;
  rateMaxAgeSeconds: number;
  /** What invoices are read with; absent: nothing leaves by Lightning. */
  lightning?: InvoiceReader | undefined;
}>;
export type Estimate = Split & Readonly<{ currency: string; available: string; maxAmount: string; covered: boolean }>;

/** What it would cost, and the most that the balance covers. Throws CURRENCY_NOT_AVAILABLE, VALIDATION_ERROR,
 *  BELOW_MINIMUM, RATE_UNAVAILABLE. */
export async function estimateWithdrawal(
  db: Queryable,
  deps: Deps,
  merchantId: string,
  ask: Pick<WithdrawalAsk, 'currency' | 'amount' | 'feeMode'>,
): Promise<Estimate> {
  const currency = ask.currency.toUpperCase();
  if (!payableAsset(currency, deps.lightning !== undefined)) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  const amount = exactAmount(currency, ask.amount);
  const { networkFee: usual } = await rateNow(db, {
    merchantId,
    currency,
    fiat: 'USD',
    maxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  const [row] = await db.query<Array<{ amount: string }>>(
    `SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = 'L:available:' || $1 AND asset = $2`,
    [merchantId, currency],
  );
  const available = row?.amount ?? '0';
  // By the coins that pay it: many small ones cost more. By Lightning, what the way may take.
  const feeOf = async (some: string): Promise<string> =>
    isByLightning(currency) ? wayFee(some) : feeWithCoins(usual, currency, await coinsFor(db, currency, some));
  const networkFee = await feeOf(amount);
  const split = splitWithdrawal({ amount, feeMode: ask.feeMode, currency, networkFee });
  if (!split) throw new DomainError('BELOW_MINIMUM');
  return {
    ...split,
    currency,
    available,
    maxAmount: largestWithdrawal(available, await feeOf(available), ask.feeMode, currency),
    covered: compare(split.gross, available) <= 0,
  };
}
