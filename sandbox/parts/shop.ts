import { createServer, type Server } from 'node:http';
import { closed, listening } from './listening';
import type { Part } from './part';

export type ShopOptions = Readonly<{
  port: number;
  apiUrl: string;
  checkoutUrl: string;
  publishableKey: string;
  /** What stands on its first page. */
  widgets: ReadonlyArray<Readonly<{ id: string; title: string }>>;
}>;

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
section { border-top: 1px solid #8888; padding: 1rem 0 }
output { display: block; white-space: pre-line }`;

const script = `document.addEventListener('payment:status', ({ detail }) => {
  const closed = detail.closed ? ' closed' : '';
  document.getElementById('log').append(detail.outcome + ' ' + detail.status + closed + '\\n');
});`;

/** A shop of a merchant: a static site on a host and port of its own, with the strictest policy that a widget allows.
 *  `/` has the widgets, `/w/<id>` one of them, `/s/<id>` one by the script alone; payers come back to `/thanks`
 *  and `/no`. */
export async function startShop(options: ShopOptions): Promise<Part> {
  const { port, apiUrl, checkoutUrl, publishableKey, widgets } = options;
  const [api, checkout] = [new URL(apiUrl).origin, new URL(checkoutUrl).origin];
  const policy =
    `default-src 'none'; script-src 'self' ${checkout}; style-src 'self'; connect-src ${api}; ` +
    `frame-src ${checkout}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/shop.css"><script src="/shop.js" defer></script>
<h1>${title}</h1>${body}<output id="log"></output></html>`;
  const loader = `<script src="${checkout}/embed.js" defer></script>`;
  const button = (id: string): string =>
    `<crypto-pay-button widget="${id}" key="${escape(publishableKey)}"></crypto-pay-button>`;

  const answerTo = (path: string, query: URLSearchParams): string | null => {
    const [, kind, id] = /^\/([ws])\/([0-9a-f]{24})$/.exec(path) ?? [];
    if (kind === 'w') return page('Demo shop', loader + button(id!));
    if (kind === 's')
      return page(
        'Demo shop',
        `<div>${loader.replace(' defer', ` data-widget="${id}" data-key="${escape(publishableKey)}" defer`)}</div>`,
      );
    if (path === '/thanks' || path === '/no') {
      const told = [...query].map(([name, value]) => `<li>${escape(name)} = ${escape(value)}</li>`).join('');
      const words = 'Anyone can type these words: a shop delivers when the webhook says so.';
      return page(path === '/no' ? 'Not paid' : 'Thank you', `<p>${words}</p><ul>${told}</ul><a href="/">Back</a>`);
    }
    if (path !== '/') return null;
    const sections = widgets.map(({ id, title }) => `<section><h2>${escape(title)}</h2>${button(id)}</section>`);
    return page('Demo shop', loader + sections.join(''));
  };

  let server: Server | undefined;
  const start = async (): Promise<void> => {
    if (server) return;
    const made = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
      response.setHeader('content-security-policy', policy);
      if (pathname === '/shop.css') return void response.setHeader('content-type', 'text/css').end(style);
      if (pathname === '/shop.js') return void response.setHeader('content-type', 'text/javascript').end(script);
      const html = answerTo(pathname, searchParams);
      response.statusCode = html === null ? 404 : 200;
      response.setHeader('content-type', 'text/html; charset=utf-8').end(html ?? page('Not found', ''));
    });
    await listening(made, port);
    server = made;
  };
  const stop = async (): Promise<void> => {
    const ended = server;
    server = undefined;
    if (!ended) return;
    await closed(ended);
  };
  await start();
  return {
    name: 'shop',
    url: `http://127.0.0.1:${port}`,
    pid: () => (server ? process.pid : undefined),
    start,
    stop,
    kill9: stop, // it lives in our own process
  };
}
