import { stated, textOf } from '../design/filter';

/** Where the stream is read from, and which types; all of it is in the address. */
export type EventFilter = Readonly<{ after?: string | undefined; types?: string | undefined }>;

export function eventFilterOf(search: Readonly<Record<string, unknown>>): EventFilter {
  const after = textOf(search['after']);
  return stated({ after: after && /^[1-9]\d{0,17}$/.test(after) ? after : undefined, types: textOf(search['types']) });
}
