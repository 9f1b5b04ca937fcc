/** Parts of a filter that an address states: what a value cannot mean is left out. */

export const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim().slice(0, 256) : '';
  return text || undefined;
};
export const dayOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

/** A page after the first. */
export const pageOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 1 && value <= 1_000_000 ? value : undefined;

export const oneOf = <T extends string>(list: readonly T[], value: unknown): T | undefined =>
  list.find((one) => one === value);

/** A filter that is on, or is not stated. */
export const onlyOn = (value: unknown): true | undefined => (value === true || value === 1 ? true : undefined);

/** A filter without the parts that say nothing. */
export const stated = <T extends object>(filter: T): T =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as T;

const nextDay = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

/** A period as the API reads it: whole days in UTC, the last one included. */
export const periodOf = ({ from, to }: Readonly<{ from?: string | undefined; to?: string | undefined }>) => ({
  ...(from ? { dateFrom: from } : {}),
  ...(to ? { dateTo: nextDay(to) } : {}),
});
