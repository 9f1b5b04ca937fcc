import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../sandbox/paths';
import type { Person } from '../person';

/** What a page in German must not say: English texts of the catalogues. */

type Node = string | ((...args: never[]) => string) | { readonly [name: string]: Node };
/** Stands where a text has what it is called with. */
const gap = '\u0001';

function textsOf(node: Node): string[] {
  if (typeof node === 'string') return [node];
  if (typeof node === 'object') return Object.values(node).flatMap(textsOf);
  return [1, 2].map((count) =>
    node(...(Array.from({ length: node.length }, () => new Count(count)) as unknown as never[])),
  );
}

/** A number to count with, that is read as a gap. */
class Count {
  constructor(private readonly count: number) {}
  valueOf = (): number => this.count;
  toString = (): string => gap;
  [Symbol.toPrimitive] = (hint: string): string | number => (hint === 'number' ? this.count : gap);
}

const dashboard = join(root, 'web', 'dashboard');
const catalogues = readdirSync(dashboard, { recursive: true, withFileTypes: true })
  .filter(({ name, parentPath }) => name === 'en.ts' && parentPath.endsWith('texts'))
  .map(({ parentPath }) => parentPath);
const catalogue = (language: 'en' | 'de'): string[] =>
  catalogues.flatMap((folder) => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- which files there are is known at run time only
    const found = require(join(folder, `${language}.ts`)) as Readonly<Record<string, Node>>;
    return textsOf(found[language]!);
  });

const german = new Set(catalogue('de'));
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** Texts of two words or more that are no German ones as well. */
const english = [...new Set(catalogue('en'))]
  .filter((text) => !german.has(text) && text.replaceAll(gap, '').trim().split(/\s+/).length > 1)
  .map((text) => new RegExp(`^${escaped(text.trim()).replaceAll(gap, '.+')}$`));

const strings = `(() => {
  const found = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) found.add(walk.currentNode.nodeValue.trim());
  for (const one of document.querySelectorAll('[aria-label], [title], [alt], [placeholder]'))
    for (const name of ['aria-label', 'title', 'alt', 'placeholder']) found.add(one.getAttribute(name) ?? '');
  return [...found];
})()`;

/** English texts on the page that is open. */
export async function englishOn(person: Person): Promise<string[]> {
  const shown = await person.page.evaluate<string[]>(strings);
  return shown.filter((text) => english.some((pattern) => pattern.test(text)));
}
