import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { prepare } from '../docs/markdown.mjs';
import { pages } from '../docs/pages.mjs';

/** What operators read beside an incident: sections of its runbook as trees of elements, so that the page needs no
 *  markup to show them. */

const runbookFile = 'docs/operations/incidents.md';
/** The same in other languages. Their links are those of the page, whose place they take. */
const translations = { de: 'web/dashboard/operators/incidents.de.md' };
/** Its address below that of the documentation. */
export const runbookPage = `${pages.find(({ from }) => from === runbookFile).to}/`;
/** Elements that a section may have; the page knows no others. */
const known = ['p', 'ol', 'ul', 'li', 'strong', 'em', 'code', 'a'];

/** A text stays a string. `href`: where a link leads, below the documentation unless it has a scheme. */
function treeOf(tokens) {
  const top = { children: [] };
  const open = [top];
  for (const token of tokens) {
    const into = open.at(-1).children;
    if (token.type === 'inline') into.push(...treeOf(token.children).children);
    else if (token.type === 'text') into.push(token.content);
    else if (token.type === 'softbreak') into.push(' ');
    else if (token.type === 'code_inline') into.push({ tag: 'code', children: [token.content] });
    else if (token.nesting === -1) open.pop();
    else if (token.nesting === 1 && known.includes(token.tag)) open.push(elementOf(token, into));
    else throw new Error(`${runbookFile} has a ${token.type}, which the page of an incident does not show`);
  }
  return top;
}

function elementOf({ tag, hidden, attrs }, into) {
  if (hidden) return { children: into }; // the paragraph of an item that has one alone
  const { href } = Object.fromEntries(attrs ?? []);
  const element = {
    tag,
    ...(href ? { href: href.startsWith('#') ? `${runbookPage}${href}` : href } : {}),
    children: [],
  };
  into.push(element);
  return element;
}

/** The sections of the runbook, each by its language and the kind of incident that is its heading: `de/fee-cap`. */
export const runbookSections = (root) =>
  Object.fromEntries(
    Object.entries({ en: runbookFile, ...translations }).flatMap(([language, file]) =>
      sectionsOf(root, file).map(([kind, section]) => [`${language}/${kind}`, section]),
    ),
  );

function sectionsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  const tokens = prepare(new MarkdownIt()).parse(text, { from: runbookFile, root, base: '' });
  const heads = tokens.flatMap(({ type, tag }, at) => (type === 'heading_open' && tag === 'h2' ? [at] : []));
  return heads.map((at, n) => [tokens[at + 1].content, treeOf(tokens.slice(at + 3, heads[n + 1])).children]);
}
