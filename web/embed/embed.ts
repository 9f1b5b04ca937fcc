import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packedTexts } from './texts';

/** The script that shops put into their pages, and the one of the frame that it opens. Contract: 4.9, G14. */

export type EmbedFile = Readonly<{ text: string; etag: string }>;

const file = (text: string): EmbedFile => ({
  text,
  etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
});

/** Without comments on lines of their own, indentation, and line ends that end nothing: visitors of shops need none. */
const lean = (script: string): string =>
  script
    .replace(/^\/\*[^]*?\*\/\n/, '')
    .replace(/^ *\/\/.*\n/gm, '')
    .replace(/^ +/gm, '')
    .replace(/([{,;])\n+/g, '$1');

/** The button, told where the API and the checkout are, and what it says. All of it is ours, and stands in it as
 *  JSON. */
export const embedScript = (folder: string, apiUrl: string, checkoutUrl: string): EmbedFile =>
  file(
    lean(readFileSync(join(folder, 'embed.js'), 'utf8'))
      .replace("'%API_URL%'", () => JSON.stringify(apiUrl.replace(/\/+$/, '')))
      .replace("'%CHECKOUT_URL%'", () => JSON.stringify(checkoutUrl.replace(/\/+$/, '')))
      .replace("'%WORDS%'", () => JSON.stringify(packedTexts())),
  );

/** What the preview of the dashboard runs beside the button. */
export const previewScript = (folder: string): EmbedFile => file(readFileSync(join(folder, 'preview.js'), 'utf8'));

export const frameScript = (folder: string): EmbedFile => file(readFileSync(join(folder, 'frame.js'), 'utf8'));
