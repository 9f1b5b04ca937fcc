import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { wordsOf } from './html.mjs';
import { prepare } from './markdown.mjs';
import { groups, pages, partFolders } from './pages.mjs';
import { referencePages } from './reference.mjs';

const siteTitle = 'Crypto payments';
const parts = { integrators: 'API reference', dashboard: 'API of the dashboard', operators: 'API of operators' };

/** Headings of the second and third level of a page, for its outline. */
const outlineOf = (content) =>
  [...content.matchAll(/<h([23]) id="([^"]+)"[^>]*>([\s\S]*?)<\/h\1>/g)].map(([, level, id, title]) => ({
    level,
    id,
    title: wordsOf(title),
  }));

/** Sets Eleventy up: guides from Markdown as they are in the repository, and the reference from the documents of the
 *  API. `taken`: gets every page as it is written. */
export const configured =
  ({ root, base, documents, icon, style, script, taken }) =>
  (eleventy) => {
    const md = prepare(new MarkdownIt());
    eleventy.setLibrary('md', md);
    eleventy.addFilter('outline', outlineOf);
    eleventy.addGlobalData('site', { title: siteTitle, base, icon, style, script });

    const guides = pages.map((page) => {
      const text = readFileSync(join(root, page.from), 'utf8');
      const title = /^# (.+)$/m.exec(text)?.[1];
      if (!title) throw new Error(`${page.from} has no title`);
      return { ...page, title, text };
    });
    const reference = Object.entries(documents).flatMap(([part, document]) =>
      referencePages(document, parts[part], { folder: partFolders[part], base, markdown: md }),
    );
    eleventy.addGlobalData('navigation', [
      ...groups.map(({ title }) => ({ title, pages: guides.filter(({ group }) => group === title) })),
      ...Object.values(parts).map((title) => ({ title, pages: reference.filter(({ group }) => group === title) })),
    ]);

    const layout = 'layout.njk';
    const addressOf = (to) => (to ? `${to}/index.html` : 'index.html');
    for (const { text, ...data } of guides)
      eleventy.addTemplate(`${data.to || 'index'}.md`, text, {
        ...data,
        root,
        base,
        layout,
        permalink: addressOf(data.to),
      });
    for (const { body, ...data } of reference)
      eleventy.addTemplate(`${data.to}.html`, body, { ...data, layout, permalink: addressOf(data.to) });
    const missing = `<h1>There is no such page</h1>
<p>Its address is mistyped, or it has moved. Search above, or begin at the <a href="${base}">first page</a>.</p>`;
    eleventy.addTemplate('404.html', missing, { title: 'There is no such page', layout, permalink: '404.html' });

    eleventy.on('eleventy.after', ({ results }) => {
      for (const { url, content } of results) if (url !== '/404.html') taken.push({ url: url.slice(1), content });
    });
    return {
      dir: { input: 'site', includes: '_includes' },
      templateFormats: ['md', 'html'],
      markdownTemplateEngine: false,
      htmlTemplateEngine: false,
    };
  };
