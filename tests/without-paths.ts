import { root } from '../sandbox/paths';

/** A copy of plain data in which the path of this checkout is gone from every text, also from stack traces. Other
 *  objects (bytes, 64-bit numbers) stay as they are. */
export const withoutPaths = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replaceAll(`${root}/`, '');
  if (Array.isArray(value)) return value.map(withoutPaths);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutPaths(one)]));
};
