import { bodyParser } from '@koa/bodyparser';
import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import helmet from 'koa-helmet';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { clientIp } from '../../domain/access/client-ip';
import { embedScript, frameScript } from '../embed/embed';
import { ApiAway, ApiClient, TooManyRequests } from './api-client';
import { claimPage, confirmClaimPage } from './claim';
import { document, notice, type Page } from './page';
import { settlementPage } from './settlement';
import { keepPayerToken, payerToken } from './payer';
import { cancelPage, invoicePage } from './states';
import { texts } from './texts';

export type CheckoutOptions = Readonly<{
  apiUrl: string;
  checkoutUrl: string;
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
}>;

const placeOf = (ctx: Context): '/i' | '/embed' => (ctx.path.startsWith('/embed/') ? '/embed' : '/i');
const slugShape = /^[0-9a-z]{8,40}$/;
const tokenShape = /^[0-9a-f]{64}$/;

/** The hosted checkout: pages that are whole without JavaScript, and an event stream for those that have it. */
export function checkoutApp({
  apiUrl,
  checkoutUrl,
  isProduction,
  proxyCount,
  log,
  publicFolder,
  embedFolder,
  publicApiUrl,
}: CheckoutOptions): Koa {
  const app = new Koa();
  const api = new ApiClient(apiUrl);
  const files = new Map(
    (['checkout.css', 'checkout.js'] as const).map((name) => [name as string, readFileSync(join(publicFolder, name))]),
  );
  files.set('frame.js', Buffer.from(frameScript(embedFolder).text));
  const button = embedScript(embedFolder, publicApiUrl, checkoutUrl);
  const version = createHash('sha256')
    .update(Buffer.concat([...files.values()]))
    .digest('hex')
    .slice(0, 12);
  const own = new URL(checkoutUrl);

  const show = (ctx: Context, page: Page, status = 200): void => {
    ctx.status = status;
    ctx.type = 'html';
    ctx.set('Cache-Control', 'no-store');
    ctx.body = document(page, version, ctx.state['openedBy'] as string | undefined);
  };
  const from = (ctx: Context): string => clientIp(ctx.req, { proxyCount, checkoutIps: [] });

  app.on('error', (error: Error) => log.error({ error: error.message }, 'The checkout could not answer'));
  app.use(
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
    }),
  );
  app.use(async (ctx, next) => {
    const host = (ctx.get('host') || '').toLowerCase();
    const isLoopback = !isProduction && /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host);
    if (host !== own.host && !isLoopback) return show(ctx, notice(texts.notFound, texts.notFoundText), 400);
    const origin = ctx.get('origin');
    if (ctx.method === 'POST' && origin && URL.canParse(origin) && new URL(origin).host !== host) {
      return show(ctx, notice(texts.away, texts.awayText), 403);
    }
    try {
      await next();
    } catch (error) {
      if (error instanceof TooManyRequests) {
        ctx.set('Retry-After', String(error.retryAfterSeconds));
        const place = /^\/([irw]|embed)\/[0-9a-z]+/.exec(ctx.path)?.[0];
        return show(ctx, notice(texts.tooMany, texts.tooManyText(error.retryAfterSeconds), place), 429);
      }
      if (!(error instanceof ApiAway)) throw error;
      log.warn({ error: error.message }, 'The API does not answer the checkout');
      show(ctx, notice(texts.away, texts.awayText), 503);
    }
    if (ctx.status === 404 && !ctx.body) show(ctx, notice(texts.notFound, texts.notFoundText), 404);
  });

  const router = new Router();
  router.get('/healthz', (ctx) => {
    ctx.body = 'alive';
  });
  router.get('/readyz', (ctx) => {
    ctx.body = 'ready';
  });
  // Pages of shops load it, so any may; it changes with a release.
  router.get('/embed.js', (ctx) => {
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('ETag', button.etag);
    ctx.type = 'application/javascript';
    if (ctx.get('if-none-match') === button.etag) ctx.status = 304;
    else ctx.body = button.text;
  });
  router.get('/static/:name', (ctx) => {
    const file = files.get(ctx.params['name'] ?? '');
    if (!file) return;
    ctx.type = ctx.params['name']!.endsWith('.css') ? 'css' : 'application/javascript';
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.body = file;
  });

  router.param('slug', (slug, ctx, next) => (slugShape.test(slug) ? next() : void (ctx.status = 404)));
  /** Below /embed the pages of an invoice may be framed, by pages of its widget alone. */
  const framed = async (ctx: Context & { params: Record<string, string> }, next: () => Promise<unknown>) => {
    if (placeOf(ctx) === '/i') return next();
    const embedding = await api.embedding(ctx.params['slug']!, from(ctx));
    if (!embedding) return;
    const policy = ctx.response.get('Content-Security-Policy');
    const sources = embedding.frameAncestors.join(' ');
    ctx.set('Content-Security-Policy', policy.replace(/frame-ancestors [^;]*/, `frame-ancestors ${sources}`));
    ctx.remove('X-Frame-Options');
    ctx.state['openedBy'] = embedding.origin;
    return next();
  };
  router.get(['/i/:slug', '/embed/:slug'], framed, async (ctx) => {
    const slug = ctx.params['slug']!;
    const invoice = await api.invoice(slug, from(ctx));
    if (!invoice) return;
    const isChoosing = invoice.status === 'AWAITING_CURRENCY' || (invoice.status === 'WAITING' && invoice.cancellable);
    show(
      ctx,
      invoicePage(invoice, isChoosing ? await api.choices(slug, from(ctx)) : null, {
        refused: ctx.query['refused'] === undefined ? null : ctx.query['refused'] === 'address' ? 'address' : 'act',
        isPayer: payerToken(ctx, slug) !== undefined,
      }),
    );
  });
  router.get(['/i/:slug/cancel', '/embed/:slug/cancel'], framed, async (ctx) => {
    const invoice = await api.invoice(ctx.params['slug']!, from(ctx));
    if (!invoice) return;
    if (!invoice.cancellable) return ctx.redirect(`${placeOf(ctx)}/${invoice.invoiceId}?refused`);
    show(ctx, cancelPage(invoice));
  });

  const form = bodyParser({ enableTypes: ['form'], formLimit: '4kb' });
  const act =
    (action: 'select-currency' | 'refresh-quote' | 'cancel', bodyOf: (input: Record<string, unknown>) => object) =>
    async (ctx: Context & { params: Record<string, string> }) => {
      const slug = ctx.params['slug']!;
      const input = (ctx.request as unknown as { body?: Record<string, unknown> }).body ?? {};
      const isDone = await api.act(slug, action, bodyOf(input), from(ctx));
      ctx.status = 303;
      ctx.redirect(`${placeOf(ctx)}/${slug}${isDone ? '' : '?refused'}`);
    };
  router.post(
    ['/i/:slug/currency', '/embed/:slug/currency'],
    form,
    act('select-currency', ({ currency }) => ({ currency: String(currency ?? '') })),
  );
  router.post(
    ['/i/:slug/refresh', '/embed/:slug/refresh'],
    form,
    act('refresh-quote', () => ({})),
  );
  router.post(
    ['/i/:slug/cancel', '/embed/:slug/cancel'],
    form,
    act('cancel', () => ({ confirm: true })),
  );

  router.get('/w/:token', async (ctx) => {
    const token = ctx.params['token']!;
    const change = await api.settlementChange(token, from(ctx));
    if (change) show(ctx, settlementPage(change, `/w/${token}`, ctx.query['refused'] !== undefined));
  });
  router.post('/w/:token', form, async (ctx) => {
    const token = ctx.params['token']!;
    const isStopped = await api.stopSettlementChange(token, from(ctx));
    ctx.status = 303;
    ctx.redirect(`/w/${token}${isStopped ? '' : '?refused'}`);
  });
  router.post('/i/:slug/payer', form, async (ctx) => {
    const slug = ctx.params['slug']!;
    const input = (ctx.request as unknown as { body?: Record<string, unknown> }).body ?? {};
    const address = typeof input['address'] === 'string' ? input['address'].trim().slice(0, 120) : '';
    const known = payerToken(ctx, slug);
    const act = { ...(known ? { payerToken: known } : {}), ...(address ? { address } : {}) };
    const token = await api.becomePayer(slug, act, from(ctx));
    if (token) keepPayerToken(ctx, slug, token, own.protocol === 'https:');
    ctx.status = 303;
    ctx.redirect(`/i/${slug}${token ? '' : '?refused=address'}`);
  });
  router.post('/i/:slug/refund-link', async (ctx) => {
    const slug = ctx.params['slug']!;
    const token = payerToken(ctx, slug);
    const link = token ? await api.refundLink(slug, token, from(ctx)) : null;
    ctx.status = 303;
    ctx.redirect(link ? new URL(link).pathname : `/i/${slug}?refused`);
  });

  router.param('token', (token, ctx, next) => (tokenShape.test(token) ? next() : void (ctx.status = 404)));
  router.get('/r/:token', async (ctx) => {
    const token = ctx.params['token']!;
    const claim = await api.claim(token, from(ctx));
    if (claim) show(ctx, claimPage(claim, `/r/${token}`));
  });
  router.post('/r/:token', form, async (ctx) => {
    const token = ctx.params['token']!;
    const path = `/r/${token}`;
    const input = (ctx.request as unknown as { body?: Record<string, unknown> }).body ?? {};
    const typed = typeof input['address'] === 'string' ? input['address'].trim().slice(0, 120) : '';
    const isFinal = input['confirm'] === 'yes';
    const named = await api.nameAddress(token, typed, isFinal, from(ctx));
    if (named && !isFinal) return show(ctx, confirmClaimPage(named, path));
    if (named) {
      ctx.status = 303;
      return ctx.redirect(path);
    }
    const claim = await api.claim(token, from(ctx));
    if (claim) show(ctx, claimPage(claim, path, typed), 400);
  });

  router.get('/i/:slug/events', async (ctx) => {
    const abort = new AbortController();
    ctx.res.on('close', () => abort.abort());
    const upstream = await api.events(ctx.params['slug']!, from(ctx), abort.signal);
    if (!upstream.ok || !upstream.body) {
      ctx.status = upstream.status;
      return;
    }
    ctx.status = 200;
    ctx.type = 'text/event-stream';
    ctx.set('Cache-Control', 'no-store');
    ctx.set('X-Accel-Buffering', 'no');
    const stream = Readable.fromWeb(upstream.body as never);
    stream.on('error', () => ctx.res.end());
    ctx.body = stream;
  });

  app.use(router.routes() as unknown as Koa.Middleware);
  return app.use(router.allowedMethods() as unknown as Koa.Middleware);
}
