import { compare, Decimal } from '../money';

/** The double next to a finite `value`, towards plus or minus infinity. */
function nextTo(value: number, towards: 'up' | 'down'): number {
  if (value === 0) return towards === 'up' ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const isLarger = value > 0 === (towards === 'up');
  view.setBigInt64(0, view.getBigInt64(0) + (isLarger ? 1n : -1n));
  return view.getFloat64(0);
}

/** A display number: an exact amount as a JSON number, a double of 15 to 17 digits. The text that JSON makes of it is
 *  never above the amount with `down`, and never below it with `up`. Contract: 2.1, 2.2 (fee rules). */
export function shown(amount: string, rounding: 'up' | 'down' | 'nearest' = 'nearest'): number {
  const nearest = Number(amount);
  if (rounding === 'nearest' || !Number.isFinite(nearest)) return nearest;
  const side = compare(new Decimal(nearest).toFixed(), amount);
  return rounding === 'down'
    ? side > 0
      ? nextTo(nearest, 'down')
      : nearest
    : side < 0
      ? nextTo(nearest, 'up')
      : nearest;
}
