import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import { clientIp } from '../../domain/access/client-ip';
import { ApiAway, ApiClient, TooManyRequests } from './api-client';
import { answerIn, compressed } from './compression';
import { duration } from './formats';
import { serveInvoices } from './invoice-pages';
import { serveLinks } from './link-pages';
import { document, notice, type Page } from './page';
import { servePreview } from './preview';
import type { Desk } from './request';
import { serveFiles } from './static-files';
import { keepLanguage, textsFor } from './language';
import { fillText, type Texts } from './texts';

export type CheckoutOptions = Readonly<{
  apiUrl: string;
  checkoutUrl: string;
  /** Every page says that its coins are worth nothing. */
  isTest: boolean;
  /** Outside production loopback names are hosts of ours too. */
  isProduction: boolean;
  /** Reverse proxies in front of us whose X-Forwarded-For is believed. */
  proxyCount: number;
  log: Logger;
  /** Folder of checkout.css and checkout.js. */
  publicFolder: string;
  /** Folder of embed.js and frame.js. */
  embedFolder: string;
  /** Where browsers reach the API. */
  publicApiUrl: string;
  /** Whose pages may frame the preview of a widget; empty: nobody's. */
  dashboardUrl: string;
}>;

/** The hosted checkout: pages that are whole without JavaScript, and an event stream for those that have it. */
export function checkoutApp(options: CheckoutOptions): Koa {
  const { proxyCount, log } = options;
  const app = new Koa();
  const router = new Router();
  const version = serveFiles(router, options);
  const own = new URL(options.checkoutUrl);
  const desk: Desk = {
    api: new ApiClient(options.apiUrl),
    show: (ctx, page, status = 200) =>
      show(ctx, textsFor(ctx), { ...page, isTest: options.isTest || page.isTest === true }, version, status),
    textsFor,
    from: (ctx) => clientIp(ctx.req, { proxyCount, checkoutIps: [] }),
    isSecure: own.protocol === 'https:',
  };
  app.on('error', (error: Error) => log.error({ error: error.message }, 'The checkout could not answer'));
  app.use(headers(own));
  app.use(hostGuard(own, options.isProduction, desk));
  app.use(inWords(log, desk));
  app.use(keepLanguage(own.protocol === 'https:'));

  for (const [path, text] of [
    ['/healthz', 'alive'],
    ['/readyz', 'ready'],
  ] as const)
    router.get(path, (ctx) => {
      ctx.body = text;
    });
  router.get('/', (ctx) => {
    const { root } = textsFor(ctx);
    desk.show(ctx, notice(root.title, root.text));
  });
  serveLogos(router, desk);
  servePreview(router, options.dashboardUrl, version);
  serveInvoices(router, desk);
  serveLinks(router, desk);
  app.use(router.routes() as unknown as Koa.Middleware);
  return app.use(router.allowedMethods() as unknown as Koa.Middleware);
}

/** From our own host, so that the payer's browser tells nobody else. Opened by itself a logo may run and load
 *  nothing. */
function serveLogos(router: Router, { api, from }: Desk): void {
  router.get('/logos/:logoId', async (ctx) => {
    const logoId = ctx.params['logoId'] ?? '';
    const logo = /^[0-9a-f]{24}$/.test(logoId) ? await api.logo(logoId, from(ctx)) : null;
    if (!logo) return;
    ctx.set('Content-Security-Policy', "default-src 'none'; sandbox");
    ctx.set('Cache-Control', 'public, max-age=86400');
    ctx.body = logo.content;
    ctx.type = logo.type;
  });
}

const isSecretLink = (ctx: Context): boolean => /^\/[rw]\//.test(ctx.path);

function show(ctx: Context, t: Texts, page: Page, version: string, status: number): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Content-Language', t.language);
  ctx.vary('Accept-Language, Cookie');
  const text = document(t, page, { version, path: ctx.path, openedBy: ctx.state['openedBy'] as string | undefined });
  if (isSecretLink(ctx)) ctx.body = text;
  else answerIn(ctx, (coding) => (coding ? compressed(text, coding, 5) : text));
}

const headers = (own: URL): Koa.Middleware =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: own.protocol === 'https:',
  });

/** Only under our own name, and forms only from our own pages. */
const hostGuard =
  (own: URL, isProduction: boolean, { show, textsFor }: Desk): Koa.Middleware =>
  (ctx, next) => {
    const t = textsFor(ctx);
    const host = (ctx.get('host') || '').toLowerCase();
    const isLoopback = !isProduction && /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host);
    if (host !== own.host && !isLoopback) return show(ctx, notice(t.notFound, t.notFoundText), 400);
    const origin = ctx.get('origin');
    if (ctx.method === 'POST' && origin && URL.canParse(origin) && new URL(origin).host !== host)
      return show(ctx, notice(t.away, t.awayText), 403);
    return next();
  };

/** Says in words why there is no page. */
const inWords =
  (log: Logger, { show, textsFor }: Desk): Koa.Middleware =>
  async (ctx, next) => {
    const t = textsFor(ctx);
    try {
      await next();
    } catch (error) {
      if (error instanceof TooManyRequests) {
        ctx.set('Retry-After', String(error.retryAfterSeconds));
        const place = /^\/([irw]|embed)\/[0-9a-z]+/.exec(ctx.path)?.[0];
        const text = fillText(t.tooManyText, { time: duration(t, error.retryAfterSeconds) });
        return show(ctx, notice(t.tooMany, text, place === undefined ? place : { href: place, text: t.again }), 429);
      }
      if (!(error instanceof ApiAway)) throw error;
      log.warn({ error: error.message }, 'The API does not answer the checkout');
      show(ctx, notice(t.away, t.awayText), 503);
    }
    if (ctx.status === 404 && !ctx.body) show(ctx, notice(t.notFound, t.notFoundText), 404);
  };
