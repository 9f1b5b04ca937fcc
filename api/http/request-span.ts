import type { Context } from 'koa';
import { startSpan, type Span } from '../../domain/tracing';

/** What a span says of a request: its route and ids, and nothing of its query, headers or body. */

type Tracked = {
  readonly requestId: string;
  readonly route: string;
  readonly merchantId?: string;
  readonly paymentId?: string;
  readonly errorCode?: string;
  readonly startedAt: Date;
  /** undefined: it was not decided yet whether the request is recorded. */
  span?: Span | null;
};

/** What asks all the time, and nobody looks for. */
const isProbe = (route: string): boolean => route === '/healthz' || route === '/readyz';

/** Begins the trace of a request, once it is known who asks. `isKeyed`: with a secret key; such a caller's own trace
 *  goes on, that of nobody else. Only what has a route is recorded: scanners ask for everything. Decision: 0053. */
export function startRequestSpan(ctx: Context, track: Tracked, isKeyed: boolean): Span | null {
  if (track.route === 'none' || isProbe(track.route)) return null;
  const callers = isKeyed ? (ctx.req.headers.traceparent?.toString() ?? null) : null;
  return startSpan({
    name: `${ctx.method} ${track.route}`,
    kind: 'server',
    root: { callers },
    startedAt: track.startedAt,
    attributes: {
      'http.request.method': ctx.method,
      'http.route': track.route,
      requestId: track.requestId,
    },
  });
}

/** Ends it, with what the caller was told. One that was refused before begins and ends here. */
export function endRequestSpan(ctx: Context, track: Tracked): void {
  if (track.span === undefined) track.span = startRequestSpan(ctx, track, false);
  const { status } = ctx;
  const { merchantId, paymentId, errorCode } = track;
  const attributes = { 'http.response.status_code': status, merchantId, paymentId, errorCode };
  track.span?.end(attributes, status >= 500 ? (errorCode ?? `HTTP_${status}`) : undefined);
}
