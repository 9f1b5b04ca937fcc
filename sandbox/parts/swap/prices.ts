import { readFileSync } from 'node:fs';
import { assetOf } from '../../../domain/chains/assets';
import { compare, divide, isAmount, isPositive, subtract, times } from '../../../domain/money';
import { Refusal } from './orders';

/** The provider's names of a coin and its network. */
export const byTicker: Readonly<Record<string, string>> = {
  'btc/btc': 'BTC',
  'eth/eth': 'ETH',
  'usdt/eth': 'USDT_ERC20',
  'usdc/eth': 'USDC_ERC20',
};
export const tickerOf = (currency: string): string[] =>
  Object.keys(byTicker)
    .find((key) => byTicker[key] === currency)!
    .split('/');
/** What paying out costs a customer, beside the spread. */
export const payoutFee: Readonly<Record<string, string>> = {
  BTC: '0.00005',
  ETH: '0.0004',
  USDT_ERC20: '1.2',
  USDC_ERC20: '1.2',
};
const spread = '0.995';
/** US dollars. */
const least = '20';
const most = '200000';

/** What the provider trades, and at which price: that of the sandbox's file, less its spread and fee. */
export function pricesOf(priceFile: string) {
  function price(currency: string): string {
    const prices = JSON.parse(readFileSync(priceFile, 'utf8')) as { USD: Record<string, string> };
    const usd = prices.USD[currency];
    if (!isAmount(usd)) throw new Refusal(400, 'pair_is_inactive', 'This pair is not traded now');
    return usd;
  }
  function worth(from: string, to: string, amount: string): string {
    const { decimals } = assetOf(to);
    const gross = divide(
      times(times(amount, price(from), 40, 'down'), spread, 40, 'down'),
      price(to),
      decimals,
      'down',
    );
    const net = subtract(gross, payoutFee[to]!);
    return isPositive(net) ? net : '0';
  }
  const bound = (currency: string, usd: string): string =>
    divide(usd, price(currency), Math.min(8, assetOf(currency).decimals), 'up');

  function pairOf(fields: Readonly<Record<string, unknown>>): { from: string; to: string } {
    const from = byTicker[`${String(fields.fromCurrency)}/${String(fields.fromNetwork)}`];
    const to = byTicker[`${String(fields.toCurrency)}/${String(fields.toNetwork)}`];
    if (!from || !to || from === to) throw new Refusal(400, 'pair_is_inactive', 'Pair is inactive');
    if (fields.flow !== 'fixed-rate') throw new Refusal(400, 'bad_params', 'Only the fixed-rate flow is here');
    return { from, to };
  }

  function amountOf(from: string, amount: unknown): string {
    if (!isAmount(amount)) throw new Refusal(400, 'bad_params', 'fromAmount is no amount');
    if (compare(amount, bound(from, least)) < 0) throw new Refusal(400, 'deposit_too_small', 'Out of min amount');
    if (compare(amount, bound(from, most)) > 0) throw new Refusal(400, 'deposit_too_big', 'Out of max amount');
    return amount;
  }

  const range = (from: string): { least: string; most: string } => ({
    least: bound(from, least),
    most: bound(from, most),
  });

  return { worth, pairOf, amountOf, range };
}

export type Prices = ReturnType<typeof pricesOf>;
