/** Text that is HTML already; everything else is escaped when it enters a template. */
export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

export type Part = Html | string | number | null | undefined | false | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!);

/** A part of a page as HTML text. */
export function write(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(write).join('');
  return escape(String(part as string | number));
}

/** A template whose values are escaped unless they are Html; null, undefined and false leave nothing. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(
    strings.reduce((text, string, index) => text + string + (index < parts.length ? write(parts[index]) : ''), ''),
  );

/** Text that reads from left to right in any language: amounts, addresses, ids. */
export const ltr = (text: string): Html => html`<bdi dir="ltr">${text}</bdi>`;
