import { useState } from 'react';
import type { Filter } from './filter';
import type { Row } from './read-list';

/** The payments that a person has chosen in the list, by their ids. They stay chosen on other pages of the same filter,
 *  and are forgotten with it. */

/** What an act on the chosen payments asks of the API at most. */
export const mostChosen = 100;

export type Chosen = Readonly<{
  rows: ReadonlyMap<string, Row>;
  toggle: (row: Row) => void;
  /** All of these, or none of them. */
  set: (rows: readonly Row[], isChosen: boolean) => void;
  clear: () => void;
}>;

const keyOf = ({ page: _, ...filter }: Filter): string => JSON.stringify(filter);
type Kept = Readonly<{ key: string; rows: ReadonlyMap<string, Row> }>;

export function useChosen(filter: Filter): Chosen {
  const key = keyOf(filter);
  const [kept, setKept] = useState<Kept>({ key, rows: new Map() });
  const rowsIn = (one: Kept): ReadonlyMap<string, Row> => (one.key === key ? one.rows : new Map());
  const rows = rowsIn(kept);
  const set = (changed: readonly Row[], isChosen: boolean): void =>
    setKept((before) => {
      const next = new Map(rowsIn(before));
      for (const row of changed)
        if (!isChosen) next.delete(row._id);
        else if (next.size < mostChosen) next.set(row._id, row);
      return { key, rows: next };
    });
  return {
    rows,
    toggle: (row) => set([row], !rows.has(row._id)),
    set,
    clear: () => setKept({ key, rows: new Map() }),
  };
}
