import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import xml from 'highlight.js/lib/languages/xml';
import { stateDiagram } from './diagram.mjs';
import { escape } from './html.mjs';
import { pages } from './pages.mjs';

const languages = { sh: bash, js: javascript, ts: javascript, json, python, go, php, html: xml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
const names = { sh: 'Shell', js: 'JavaScript', ts: 'TypeScript', json: 'JSON', python: 'Python', go: 'Go' };

/** A block of code in colours, by classes alone. */
export function codeBlock(text, language = '') {
  const isKnown = Object.hasOwn(languages, language);
  const code = isKnown ? hljs.highlight(text.trimEnd(), { language }).value : escape(text.trimEnd());
  const label = names[language] ?? (language ? language.toUpperCase() : 'Code');
  return `<pre class="code" tabindex="0" role="group" aria-label="${escape(label)}"><code>${code}</code></pre>\n`;
}

/** The anchor that GitHub gives a heading; `used` counts them. */
function slugOf(text, used) {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
  const count = used.get(slug) ?? 0;
  used.set(slug, count + 1);
  return count ? `${slug}-${count}` : slug;
}
const plain = (inline) =>
  inline.children
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('');

/** Where a link of a Markdown file leads on the site; null where it leads to a file of the repository that is no page.
 *  Throws where there is no such file. */
function resolved(href, { from, base, root }) {
  if (/^([a-z]+:|#|\/)/i.test(href)) return href;
  const [path, anchor] = href.split('#');
  const target = posix.normalize(posix.join(posix.dirname(from), path));
  const page = pages.find((one) => one.from === target);
  if (page) return `${base}${page.to ? `${page.to}/` : ''}${anchor ? `#${anchor}` : ''}`;
  if (!existsSync(join(root, target))) throw new Error(`${from} links to ${target}, which is not there`);
  return null;
}

function anchors(state) {
  const used = new Map();
  state.tokens.forEach((token, at) => {
    if (token.type === 'heading_open') token.attrSet('id', slugOf(plain(state.tokens[at + 1]), used));
  });
}

/** Rows of a table of codes get anchors: `CODE` its code; `CODE` (NAME) its name, and the first of them the code too
 *  where no row has the code alone. */
function rowAnchors(state) {
  if (!state.env.hasRowAnchors) return;
  const rows = [];
  let row, cell;
  for (const token of state.tokens) {
    if (token.type === 'tr_open') row = token;
    if (token.type === 'td_open') cell = token;
    if (!row || token.type !== 'inline') continue;
    const [, code, name] = /^`([A-Z_]+)`(?: \(([A-Z_]+)\))?$/.exec(token.content) ?? [];
    if (!code) continue;
    rows.push({ row, cell, code, name });
    row = undefined;
  }
  const used = new Set(rows.filter(({ name }) => !name).map(({ code }) => code));
  for (const one of rows) {
    one.row.attrSet('id', one.name ?? one.code);
    if (used.has(one.code)) continue;
    used.add(one.code);
    one.cell.attrSet('id', one.code);
  }
}

/** Links between Markdown files lead to pages; those to other files of the repository become their words. */
function links(state) {
  if (!state.env.from) return;
  for (const token of state.tokens) {
    if (!token.children) continue;
    let isDropped = false;
    token.children = token.children.filter((one) => {
      if (one.type === 'link_open') {
        const href = resolved(one.attrGet('href'), state.env);
        isDropped = href === null;
        if (!isDropped) one.attrSet('href', href);
        return !isDropped;
      }
      if (one.type !== 'link_close' || !isDropped) return true;
      isDropped = false;
      return false;
    });
  }
}

/** Sets a markdown-it up for the site. `env` of a page: `from`, `root`, `base`, `hasRowAnchors`. */
export function prepare(md) {
  md.set({ html: false, linkify: false, typographer: false });
  // `<!-- made: … -->` says to the repository what the build of the guides fills in.
  md.block.ruler.before('paragraph', 'made', (state, start, end, silent) => {
    const text = state.getLines(start, start + 1, state.blkIndent, false).trim();
    if (!/^<!-- (made: \S+|end) -->$/.test(text)) return false;
    if (!silent) state.line = start + 1;
    return true;
  });
  md.core.ruler.push('anchors', anchors);
  md.core.ruler.push('row_anchors', rowAnchors);
  md.core.ruler.push('links', links);
  md.renderer.rules.fence = (tokens, at) => {
    const { info, content } = tokens[at];
    return info.trim() === 'mermaid' ? stateDiagram(content) : codeBlock(content, info.trim());
  };
  md.renderer.rules.table_open = () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n';
  md.renderer.rules.table_close = () => '</table></div>\n';
  md.renderer.rules.th_open = () => '<th scope="col">';
  return md;
}
