import type { Router } from '@koa/router';
import { Readable } from 'node:stream';
import { keepPayerToken, payerToken } from './payer';
import { hasReceipt } from './receipt';
import { receiptPdf } from './receipt-pdf';
import { field, readForm, seeOther, type Asked, type Desk } from './request';
import { cancelPage, invoicePage, type Refused } from './states';

const slugShape = /^[0-9a-z]{8,40}$/;
const placeOf = (ctx: Asked): '/i' | '/embed' => (ctx.path.startsWith('/embed/') ? '/embed' : '/i');

/** The pages of an invoice, on their own and in a frame, and its stream of changes. */
export function serveInvoices(router: Router, desk: Desk): void {
  router.param('slug', (slug, ctx, next) => (slugShape.test(slug) ? next() : void (ctx.status = 404)));
  serveViews(router, desk);
  serveActs(router, desk);
  servePayer(router, desk);
  serveStream(router, desk);
}

function serveViews(router: Router, { api, show, textsFor, from }: Desk): void {
  /** Below /embed the pages of an invoice may be framed, by pages of its widget alone. */
  const framed = async (ctx: Asked, next: () => Promise<unknown>) => {
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
    // The page around a frame thanks by itself.
    const shown = placeOf(ctx) === '/embed' ? { ...invoice, thankYouText: null } : invoice;
    const isChoosing = invoice.status === 'AWAITING_CURRENCY' || (invoice.status === 'WAITING' && invoice.cancellable);
    const page = invoicePage(textsFor(ctx), shown, isChoosing ? await api.choices(slug, from(ctx)) : null, {
      refused: refusedIn(ctx.query['refused']),
      isReceiptAsked: ctx.query['receipt'] !== undefined,
      isPayer: payerToken(ctx, slug) !== undefined,
    });
    show(ctx, { ...page, isTest: !invoice.livemode });
  });
  router.get('/i/:slug/receipt.pdf', async (ctx) => {
    const invoice = await api.invoice(ctx.params['slug']!, from(ctx));
    if (!invoice || !hasReceipt(invoice)) return;
    ctx.type = 'application/pdf';
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Content-Disposition', `inline; filename="receipt-${invoice.invoiceId}.pdf"`);
    ctx.body = await receiptPdf(textsFor(ctx), invoice);
  });
  router.get(['/i/:slug/cancel', '/embed/:slug/cancel'], framed, async (ctx) => {
    const invoice = await api.invoice(ctx.params['slug']!, from(ctx));
    if (!invoice) return;
    if (!invoice.cancellable) return seeOther(ctx, `${placeOf(ctx)}/${invoice.invoiceId}?refused`);
    show(ctx, { ...cancelPage(textsFor(ctx), invoice), isTest: !invoice.livemode });
  });
}

/** What the page before was refused. */
const refusedIn = (query: unknown): Refused | null =>
  query === undefined ? null : query === 'address' || query === 'email' ? query : 'act';

function serveActs(router: Router, { api, from }: Desk): void {
  const act =
    (action: 'select-currency' | 'refresh-quote' | 'cancel', bodyOf: (ctx: Asked) => object) => async (ctx: Asked) => {
      const slug = ctx.params['slug']!;
      const isDone = await api.act(slug, action, bodyOf(ctx), from(ctx));
      seeOther(ctx, `${placeOf(ctx)}/${slug}${isDone ? '' : '?refused'}`);
    };
  router.post(
    ['/i/:slug/currency', '/embed/:slug/currency'],
    readForm,
    act('select-currency', (ctx) => ({ currency: field(ctx, 'currency') })),
  );
  router.post(
    ['/i/:slug/refresh', '/embed/:slug/refresh'],
    readForm,
    act('refresh-quote', () => ({})),
  );
  router.post(
    ['/i/:slug/cancel', '/embed/:slug/cancel'],
    readForm,
    act('cancel', () => ({ confirm: true })),
  );
}

/** What the payer says of a refund, kept with a cookie of this invoice. */
function servePayer(router: Router, { api, from, isSecure, textsFor }: Desk): void {
  router.post(['/i/:slug/receipt-email', '/embed/:slug/receipt-email'], readForm, async (ctx) => {
    const slug = ctx.params['slug']!;
    const { language } = textsFor(ctx);
    const isKept = await api.leaveReceiptEmail(slug, { email: field(ctx, 'email', 254), language }, from(ctx));
    seeOther(ctx, `${placeOf(ctx)}/${slug}${isKept ? '?receipt' : '?refused=email'}`);
  });
  router.post('/i/:slug/payer', readForm, async (ctx) => {
    const slug = ctx.params['slug']!;
    const address = field(ctx, 'address');
    const tag = field(ctx, 'destinationTag', 64);
    const known = payerToken(ctx, slug);
    const to = address ? { address, ...(tag ? { destinationTag: tag } : {}) } : {};
    const act = { ...(known ? { payerToken: known } : {}), ...to };
    const token = await api.becomePayer(slug, act, from(ctx));
    if (token) keepPayerToken(ctx, slug, token, isSecure);
    seeOther(ctx, `/i/${slug}${token ? '' : '?refused=address'}`);
  });
  router.post('/i/:slug/refund-link', async (ctx) => {
    const slug = ctx.params['slug']!;
    const token = payerToken(ctx, slug);
    const link = token ? await api.refundLink(slug, token, from(ctx)) : null;
    seeOther(ctx, link ? new URL(link).pathname : `/i/${slug}?refused`);
  });
}

function serveStream(router: Router, { api, from }: Desk): void {
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
}
