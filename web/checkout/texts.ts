import { Html, write, type Part } from './html';
import { en } from './texts/en';

/** The words of the pages, one catalogue per language. */
export type Texts = Readonly<typeof en>;
export const texts: Texts = en;

const placeholder = /\{(\w+)\}/;

/** A text with its placeholders filled in, as HTML: values are escaped unless they are HTML already. */
export const fill = (template: string, values: Readonly<Record<string, Part>>): Html =>
  new Html(
    template
      .split(placeholder)
      .map((part, index) => write(index % 2 ? values[part] : part))
      .join(''),
  );

/** The same as plain text, for titles and attributes. */
export const fillText = (template: string, values: Readonly<Record<string, string | number>>): string =>
  template
    .split(placeholder)
    .map((part, index) => (index % 2 ? String(values[part] ?? '') : part))
    .join('');
