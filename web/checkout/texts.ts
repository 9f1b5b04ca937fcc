import { Html, write, type Part } from './html';
import { ar } from './texts/ar';
import { de } from './texts/de';
import { en, type Texts } from './texts/en';
import { es } from './texts/es';
import { fr } from './texts/fr';
import { pt } from './texts/pt';

export type { Texts };

/** In the order in which the switch shows them; the first is for whoever reads none of them. */
export const catalogues: readonly Texts[] = [en, de, es, fr, pt, ar];
export const textsIn = (language: unknown): Texts | undefined => catalogues.find((one) => one.language === language);

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
