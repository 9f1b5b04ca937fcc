import MiniSearch from 'minisearch';
import { indexOptions } from './client/words.mjs';
import { wordsOf } from './html.mjs';

const most = 140;
const shortened = (text) => (text.length > most ? `${text.slice(0, text.lastIndexOf(' ', most))} …` : text);

/** The sections of a page: each begins at an element with an id that is a heading, or a row of a table of codes. */
function sectionsOf({ url, content }) {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(content)[1];
  const page = wordsOf(/<h1[^>]*>[\s\S]*?<\/h1>/.exec(main)[0]);
  const starts = [...main.matchAll(/<(h[1-4]|tr) id="([^"]+)"[^>]*>/g)];
  return starts.map(({ 0: opening, 1: tag, 2: id, index }, at) => {
    const inside = main.slice(index + opening.length, starts[at + 1]?.index);
    const end = inside.indexOf(`</${tag}>`);
    const isRow = tag === 'tr';
    const text = wordsOf(isRow ? inside.slice(0, end) : inside.slice(end));
    const heading = wordsOf(isRow ? inside.split('</td>')[1] : inside.slice(0, end));
    return { url: tag === 'h1' ? url : `${url}#${id}`, title: heading, page, text, about: shortened(text) };
  });
}

/** The search index of pages (`url` from the base, `content`), as the browser loads it. */
export function searchIndex(pages) {
  const index = new MiniSearch(indexOptions);
  const sections = [...pages].sort((a, b) => (a.url < b.url ? -1 : 1)).flatMap(sectionsOf);
  sections.forEach((section, id) => index.add({ id, ...section }));
  return JSON.stringify(index);
}
