import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { logOf } from '../../domain/log';
import { withOrigin } from '../../db/origin';
import { isTracing, traceIdOf, type Span } from '../../domain/tracing';
import { clientIp, limitKey } from '../../domain/access/client-ip';
import type { ApiDeps } from './deps';
import { authorise, type Caller } from './guard';
import { rateClasses } from '../../domain/access/rate-limits';
import { readJsonBody, readTextBody } from './body';
import { errorResponse, type Envelope } from './errors';
import { hostCheck } from './hosts';
import { pageHeaders } from './pages';
import { deprecationHeaders } from './deprecation';
import { dashboardCors } from '../dashboard/cors';
import { dashboardFiles, loadDashboard } from '../dashboard/files';
import { docsFiles, loadDocs } from '../docs/files';
import { idsIn } from './path-ids';
import { requestIdOf } from './request-id';
import { requestRow, type Keyed } from './request-log';
import { endRequestSpan, startRequestSpan } from './request-span';
import { securityHeaders } from './security';
import type { Answer, Route } from './route';
import { bodyCheck, queryCheck, type Check } from './validation';

/** What is known of a request while it is answered, for its log line and its errors. */
type Track = {
  requestId: string;
  envelope: Envelope;
  route: string;
  ip: string;
  merchantId?: string;
  paymentId?: string;
  /** Of a request with a secret key that is known. */
  keyed?: Keyed;
  /** Of a refusal: the code that was told. */
  errorCode?: string;
  startedAt: Date;
  /** Where the request is recorded; from the moment on when it is known who asks. */
  span?: Span | null;
};

/** Which envelope errors have where no route is known. */
const envelopeOf = (path: string): Envelope => (path.startsWith('/api/') ? 'A' : 'B');

/** Contract: 8, "any /api/v1/auth/*". */
const isAuthentication = (path: string): boolean => path.startsWith('/api/v1/auth/');

/** Probes come to the machine's own address and must not depend on names. */
const anyHost = /^\/(healthz|readyz)$/;

/** The HTTP API made of `routes`: each request is checked in the same order, and answered or refused in one shape. */
export function createApp(routes: readonly Route[], deps: ApiDeps): Koa {
  const app = new Koa();
  const tracks = new WeakMap<Context, Track>();
  const trackOf = (ctx: Context): Track => tracks.get(ctx)!;
  const isOurHost = hostCheck(deps.config);

  // Nothing below may throw past this; Koa's own error page would tell a message.
  app.use(tracked(deps, tracks));
  app.use(securityHeaders());
  app.use(async (ctx, next) => {
    if (!isOurHost(ctx.req.headers.host) && !anyHost.test(ctx.path)) throw new DomainError('UNKNOWN_HOST');
    await next();
  });
  app.use(dashboardCors(deps.config));
  app.use(dashboardFiles(loadDashboard(deps.config)));
  app.use(docsFiles(loadDocs()));

  const router = new Router();
  for (const route of routes.filter(({ mode = deps.config.MODE }) => mode === deps.config.MODE)) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    router[route.method](path, handler(route, deps, trackOf));
    if (route.pages) router.options(path, permission(route, deps, trackOf));
  }
  app.use(router.routes());
  app.use(otherMethods(router));

  app.on('error', (error: Error & { code?: string }) => {
    // The caller hung up: nobody is left to be told.
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') deps.logger.error({ err: error }, 'Answer not sent');
  });
  return app;
}

/** Notes each request in `tracks`, the metrics and the log, and turns what is thrown below it into a refusal. */
function tracked(deps: ApiDeps, tracks: WeakMap<Context, Track>): Koa.Middleware {
  const forwarding = {
    proxyCount: deps.config.PROXY_COUNT,
    checkoutIps: deps.config.CHECKOUT_IPS.split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  };
  const requests = logOf(deps.logger, 'requests', deps.config.LOG_LEVELS);
  return async (ctx, next) => {
    const startedAt = new Date();
    const started = performance.now();
    const track: Track = {
      requestId: requestIdOf(ctx.req.headers['x-request-id']),
      envelope: envelopeOf(ctx.path),
      route: 'none',
      ip: clientIp(ctx.req, forwarding),
      startedAt,
    };
    tracks.set(ctx, track);
    ctx.set('X-Request-Id', track.requestId);
    ctx.set('Cache-Control', 'no-store');
    try {
      await withOrigin({ requestId: track.requestId }, next);
    } catch (error) {
      refuse(ctx, track, error, deps);
    }
    const isLast = deps.lifecycle.isDraining || !ctx.req.complete;
    if (ctx.respond !== false && isLast) ctx.set('Connection', 'close');
    const seconds = (performance.now() - started) / 1000;
    deps.metrics.note({ method: ctx.method, route: track.route, status: ctx.status, seconds });
    noteRequest(ctx, track, startedAt, seconds, deps);
    if (isTracing()) endRequestSpan(ctx, track);
    requests.info(
      {
        requestId: track.requestId,
        traceId: traceIdOf(track.span?.traceparent),
        method: ctx.method,
        route: track.route,
        status: ctx.status,
        ms: Math.round(seconds * 1000),
        ip: track.ip,
        merchantId: track.merchantId,
        paymentId: track.paymentId,
      },
      'request',
    );
  };
}

/** Queues a row for the merchant, which is written later. */
function noteRequest(ctx: Context, track: Track, startedAt: Date, seconds: number, deps: ApiDeps): void {
  if (!track.keyed) return;
  const { requestId, ip, errorCode = null } = track;
  const { method, status } = ctx;
  const row = requestRow(track.keyed, { method, status, errorCode, requestId, ip, startedAt, seconds });
  if (row) deps.requestLog.add(row);
}

function refuse(ctx: Context, track: Track, error: unknown, deps: ApiDeps): void {
  const response = errorResponse(error, track.envelope, track.requestId);
  track.errorCode = response.publicCode;
  if (response.isOurs)
    deps.logger[response.status === 500 ? 'error' : 'warn'](
      {
        err: error,
        requestId: track.requestId,
        traceId: traceIdOf(track.span?.traceparent),
        route: track.route,
        merchantId: track.merchantId,
      },
      response.code,
    );
  ctx.status = response.status;
  ctx.set(response.headers);
  ctx.body = response.body;
}

/** What no route has answered: a path that has none, or another method. */
const otherMethods =
  (router: Router): Koa.Middleware =>
  (ctx) => {
    const allowed = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
    if (allowed.size === 0) throw new DomainError('NOT_FOUND');
    allowed.add('OPTIONS');
    ctx.set('Allow', [...allowed].sort().join(', '));
    if (ctx.method !== 'OPTIONS') throw new DomainError('METHOD_NOT_ALLOWED');
    ctx.status = 204;
  };

/** What a browser asks before a page of another host may call `route`. */
function permission(route: Route, deps: ApiDeps, trackOf: (ctx: Context) => Track) {
  return async (ctx: RoutedContext): Promise<void> => {
    const { ip } = trackOf(ctx);
    const answer = await deps.limits.consume(`${route.name}.preflight`, limitKey(ip), rateClasses.poll);
    if (answer.retryAfterSeconds !== undefined)
      throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: answer.retryAfterSeconds });
    ctx.set(await pageHeaders(ctx.req, route, ctx.params, deps));
    ctx.set('Allow', `${route.method.toUpperCase()}, OPTIONS`);
    ctx.status = 204;
  };
}

/** Whether a body brings the idempotency key that others send as a header. */
const hasKeyIn = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'idempotencyKey' in body && body.idempotencyKey !== undefined;

type RoutedContext = Context & { params: Record<string, string> };

/** One route, in the order: limit or credential, limit, shape, answer. */
function handler(route: Route, deps: ApiDeps, trackOf: (ctx: Context) => Track) {
  const checks: Readonly<Record<'params' | 'query' | 'body', Check | undefined>> = {
    params: route.params && queryCheck(route.params),
    query: route.query && queryCheck(route.query),
    body: route.body && bodyCheck(route.body, route.deepProperty),
  };
  const ids = idsIn(route);
  const limit =
    route.rate === 'none'
      ? undefined
      : route.rate === 'standard'
        ? { ...rateClasses.standard, points: deps.config.RATE_LIMIT_STANDARD }
        : rateClasses[route.rate];

  const answered = async (ctx: RoutedContext, track: Track, caller: Caller): Promise<void> => {
    if (limit) {
      // Authentication counts by address: who signs in is not known yet, and a token must not open a bucket of its own.
      // So do pages: one publishable key serves all payers of a shop.
      const isByAddress = isAuthentication(route.path) || route.may === 'publishable';
      const who = isByAddress ? undefined : (caller.user?.id ?? caller.merchant?.id);
      const answer = await deps.limits.consume(route.bucket ?? route.name, who ?? limitKey(track.ip), limit);
      ctx.set('RateLimit-Limit', String(answer.limit));
      ctx.set('RateLimit-Remaining', String(answer.left));
      ctx.set('RateLimit-Reset', String(answer.resetSeconds));
      if (answer.retryAfterSeconds !== undefined)
        throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: answer.retryAfterSeconds });
    }

    const params = { ...ctx.params };
    const query: Record<string, unknown> = { ...ctx.query };
    checks.params?.(params);
    if (ids.some((name) => !isId(params[name] ?? ''))) throw new DomainError('INVALID_ID');
    checks.query?.(query);
    ctx.set(deprecationHeaders(route, query));
    const body = route.text
      ? { text: await readTextBody(ctx.req, route.text, route.maxBytes), value: {} }
      : route.body
        ? await readJsonBody(ctx.req, route.maxBytes, route.deepProperty)
        : { text: '', value: {} };
    checks.body?.(body.value);
    if (track.keyed && hasKeyIn(body.value)) track.keyed.hasIdempotencyKey = true;

    const answer = await route.answer(
      {
        params,
        query,
        body: body.value,
        rawBody: body.text,
        merchant: caller.merchant,
        user: caller.user,
        key: caller.key,
        source: caller.user ? 'platform' : 'api',
        requestId: track.requestId,
        ip: track.ip,
        header: (name: string) => ctx.req.headers[name]?.toString(),
        request: ctx.req,
        response: ctx.res,
      } as never,
      deps,
    );
    send(ctx, route, answer);
  };

  return async (ctx: RoutedContext): Promise<void> => {
    const track = trackOf(ctx);
    track.route = route.path;
    track.envelope = route.refusals ?? route.envelope;
    if (ctx.params['paymentId']) track.paymentId = ctx.params['paymentId'];
    ctx.set(await pageHeaders(ctx.req, route, ctx.params, deps));
    const caller = await authorise(ctx.req, route, track.ip, deps, (holder) => {
      const hasIdempotencyKey = ctx.req.headers['idempotency-key'] !== undefined;
      track.keyed = { holder, route, params: ctx.params, hasIdempotencyKey };
    });
    if (caller.merchant) track.merchantId = caller.merchant.id;
    if (isTracing()) track.span = startRequestSpan(ctx, track, caller.key !== undefined);
    const { span } = track;
    await (span ? span.run(() => answered(ctx, track, caller)) : answered(ctx, track, caller));
  };
}

function send(ctx: Context, route: Route, answer: Answer): void {
  if ('handled' in answer) {
    ctx.respond = false;
    return;
  }
  ctx.status = answer.status ?? route.success.status;
  if (answer.headers) ctx.set(answer.headers as Record<string, string | string[]>);
  if ('empty' in answer) {
    ctx.body = null;
    ctx.status = answer.status ?? 204;
  } else if ('text' in answer) {
    ctx.type = answer.type;
    ctx.body = answer.text;
  } else {
    const json = 'json' in answer ? answer.json : JSON.stringify(answer.data);
    ctx.type = 'application/json';
    ctx.body = route.envelope === 'A' ? `{"ok":true,"data":${json}}` : json;
  }
}
