import { stated, textOf } from '../design/filter';

/** Which events are looked at: those before a number, and of which types; all of it is in the address. */
export type EventFilter = Readonly<{ before?: string | undefined; types?: string | undefined }>;

/** The number of an event, if the text is one. */
export function seqOf(text: string | undefined): string | undefined {
  const seq = text?.trim();
  return seq && /^[1-9]\d{0,17}$/.test(seq) ? seq : undefined;
}

export function eventFilterOf(search: Readonly<Record<string, unknown>>): EventFilter {
  return stated({ before: seqOf(textOf(search['before'])), types: textOf(search['types']) });
}
