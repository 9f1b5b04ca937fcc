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

/** What is longer is no address: it is a Lightning invoice, which nobody reads whole. */
const longest = 200;
/** How much of it is shown at its beginning and at its end. */
const [first, last] = [24, 12];

/** A text from left to right. The style elides the middle of a long one: it is copied whole, by a button or by
 *  selecting it. */
export function elided(text: string): Html {
  if (text.length <= longest) return ltr(text);
  const [head, middle, tail] = [text.slice(0, first), text.slice(first, -last), text.slice(-last)];
  return html`<bdi dir="ltr" class="elided">${head}<span>${middle}</span>${tail}</bdi>`;
}
