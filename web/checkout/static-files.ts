import type { Router } from '@koa/router';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accentOf } from '../../domain/branding/accent';
import { embedScript, frameScript, previewScript } from '../embed/embed';
import { answerIn, compressed } from './compression';

/** Scripts and styles, read and compressed once. */

type Folders = Readonly<{ publicFolder: string; embedFolder: string; publicApiUrl: string; checkoutUrl: string }>;
type File = Readonly<{ type: string; plain: Buffer; br: Buffer; gzip: Buffer }>;

const fileOf = (type: string, plain: Buffer): File => ({
  type,
  plain,
  br: compressed(plain, 'br', 11),
  gzip: compressed(plain, 'gzip', 11),
});

/** Serves them; returns their version, which the pages name so that browsers may keep them for ever. */
export function serveFiles(router: Router, { publicFolder, embedFolder, publicApiUrl, checkoutUrl }: Folders): string {
  const read = (name: string): Buffer => readFileSync(join(publicFolder, name));
  const files = new Map([
    ['checkout.css', fileOf('css', read('checkout.css'))],
    ['checkout.js', fileOf('application/javascript', read('checkout.js'))],
    ['wallets.js', fileOf('application/javascript', read('wallets.js'))],
    ['frame.js', fileOf('application/javascript', Buffer.from(frameScript(embedFolder).text))],
    ['preview.js', fileOf('application/javascript', Buffer.from(previewScript(embedFolder).text))],
  ]);
  router.get('/static/accent-:color.css', (ctx) => {
    const color = ctx.params['color'] ?? '';
    if (!/^[0-9a-f]{6}$/.test(color)) return;
    ctx.type = 'css';
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.body = accentCss(`#${color}`);
  });
  router.get('/static/:name', (ctx) => {
    const file = files.get(ctx.params['name'] ?? '');
    if (!file) return;
    ctx.type = file.type;
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    answerIn(ctx, (coding) => file[coding ?? 'plain']);
  });
  const { text, etag } = embedScript(embedFolder, publicApiUrl, checkoutUrl);
  const button = fileOf('application/javascript', Buffer.from(text));
  // Pages of shops load it, so any may; it changes with a release.
  router.get('/embed.js', (ctx) => {
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('ETag', etag);
    ctx.type = button.type;
    if (ctx.get('if-none-match') === etag) ctx.status = 304;
    else answerIn(ctx, (coding) => button[coding ?? 'plain']);
  });
  return createHash('sha256')
    .update(Buffer.concat([...files.values()].map(({ plain }) => plain)))
    .digest('hex')
    .slice(0, 12);
}

/** In place of the colours of checkout.css. */
function accentCss(color: string): string {
  const { light, dark } = accentOf(color);
  const rule = ({ brand, onBrand }: typeof light): string => `:root{--brand:${brand};--on-brand:${onBrand}}`;
  return `${rule(light)}@media (prefers-color-scheme:dark){${rule(dark)}}`;
}
