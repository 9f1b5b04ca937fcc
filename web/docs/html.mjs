import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../../sandbox/setup/places.mjs';

// Templates are those of the checkout, as they are compiled.
const { html, Html, write } = createRequire(import.meta.url)(join(root, 'dist/web/checkout/html.js'));
export { html, write as escape };

/** Markup that is inserted as it is. */
export const raw = (text) => new Html(text);

const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** Words of a piece of our own markup, without code blocks and drawings. */
export const wordsOf = (markup) =>
  markup
    .replace(/<(pre|svg)\b[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity])
    .replace(/\s+/g, ' ')
    .trim();
