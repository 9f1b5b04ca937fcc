import Base from 'decimal.js';

/** The one Decimal of the project: enough digits for 30 integer and 30 fraction places multiplied by a rate. */
export const Decimal = Base.clone({ precision: 80, toExpNeg: -80, toExpPos: 80 });
export type Decimal = InstanceType<typeof Decimal>;

export type Rounding = 'up' | 'down';
const mode = { up: Base.ROUND_UP, down: Base.ROUND_DOWN } as const;

/** What a decimal string on the wire looks like. Invariants: 7, Numbers. */
export const amountPattern = '^\\d{1,30}(\\.\\d{1,30})?$';
const amountRegex = new RegExp(amountPattern);
export const isAmount = (text: unknown): text is string => typeof text === 'string' && amountRegex.test(text);

/** Amounts are decimal strings in whole units of one asset; these functions never lose a digit. Results have no
 *  trailing zeros. */
const plain = (value: Decimal): string => value.toFixed();
export const add = (...amounts: readonly string[]): string =>
  plain(amounts.reduce((sum, amount) => sum.plus(amount), new Decimal(0)));
export const subtract = (from: string, amount: string): string => plain(new Decimal(from).minus(amount));
export const negate = (amount: string): string => plain(new Decimal(amount).negated());
/** -1, 0 or 1, as `a` is below, equal to or above `b`. */
export const compare = (a: string, b: string): number => new Decimal(a).comparedTo(b);
export const isZero = (amount: string): boolean => new Decimal(amount).isZero();
export const isPositive = (amount: string): boolean => new Decimal(amount).greaterThan(0);
export const smaller = (a: string, b: string): string =>
  compare(a, b) <= 0 ? plain(new Decimal(a)) : plain(new Decimal(b));
export const larger = (a: string, b: string): string =>
  compare(a, b) >= 0 ? plain(new Decimal(a)) : plain(new Decimal(b));

/** `amount` × `factor`, cut to `decimals` places in the direction named. */
export const times = (amount: string, factor: string, decimals: number, rounding: Rounding): string =>
  plain(new Decimal(amount).times(factor).toDecimalPlaces(decimals, mode[rounding]));

/** `amount` ÷ `divisor`, cut to `decimals` places in the direction named. Throws on a zero divisor. */
export function divide(amount: string, divisor: string, decimals: number, rounding: Rounding): string {
  const by = new Decimal(divisor);
  if (by.isZero()) throw new RangeError('Division by zero');
  return plain(new Decimal(amount).dividedBy(by).toDecimalPlaces(decimals, mode[rounding]));
}

/** `amount` cut to `decimals` places in the direction named. */
export const fit = (amount: string, decimals: number, rounding: Rounding): string =>
  plain(new Decimal(amount).toDecimalPlaces(decimals, mode[rounding]));

/** `amount` as Postgres prints a numeric, without the zeros at its end. */
export const trim = (amount: string): string => (amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount);

/** Whole units → base units. Throws where a digit would be lost. */
export function toUnits(amount: string, decimals: number): bigint {
  const scaled = new Decimal(amount).times(new Decimal(10).pow(decimals));
  if (!scaled.isInteger()) throw new RangeError(`${amount} has more than ${decimals} decimals`);
  return BigInt(scaled.toFixed(0));
}

/** Base units → whole units. */
export const fromUnits = (units: bigint, decimals: number): string =>
  plain(new Decimal(units.toString()).dividedBy(new Decimal(10).pow(decimals)));
