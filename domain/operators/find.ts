import { isId, isSlug } from '../ids';

/** What the text of an operator's search may mean, by its shape alone. */
export type Term = Readonly<{
  text: string;
  /** The spellings under which a transaction may be stored; empty: it is none. */
  txIds: readonly string[];
  /** 24 hex digits. */
  id: string | null;
  slug: string | null;
  /** The number of an intent. */
  number: string | null;
  email: string | null;
}>;

export function readTerm(given: string): Term {
  const text = given.trim();
  const hash = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase();
  const lower = text.toLowerCase();
  return {
    text,
    txIds: hash === undefined ? [] : [hash, `0x${hash}`],
    id: isId(lower) ? lower : null,
    slug: isSlug(text) ? text : null,
    number: /^[1-9]\d{0,17}$/.test(text) ? text : null,
    email: /^[^\s@]+@[^\s@]+$/.test(text) ? text : null,
  };
}
