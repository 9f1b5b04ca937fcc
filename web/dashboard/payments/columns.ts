import { useState } from 'react';

/** Which columns the list of payments has: a choice of this browser. The payment itself is always shown. */

export const columns = [
  'status',
  'price',
  'amount',
  'received',
  'net',
  'order',
  'created',
  'expires',
  'changed',
] as const;
export type ColumnName = (typeof columns)[number];

const usual: readonly ColumnName[] = ['status', 'price', 'received', 'order', 'created'];
const place = 'dashboard.payment-columns';

function stored(): readonly ColumnName[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place) ?? 'null');
    if (Array.isArray(kept)) return columns.filter((name) => kept.includes(name));
  } catch {
    // written by something else, or storage is off: the usual ones serve
  }
  return usual;
}

/** The columns that are shown, in their order, and how to choose others; null: the usual ones again. */
export function useColumns(): readonly [readonly ColumnName[], (chosen: readonly ColumnName[] | null) => void] {
  const [shown, setShown] = useState(stored);
  const choose = (chosen: readonly ColumnName[] | null): void => {
    setShown(chosen ?? usual);
    try {
      if (chosen) localStorage.setItem(place, JSON.stringify(chosen));
      else localStorage.removeItem(place);
    } catch {
      // storage is off: the choice holds until the page is left
    }
  };
  return [shown, choose];
}
