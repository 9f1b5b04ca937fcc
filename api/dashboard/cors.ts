import type { Middleware } from 'koa';
import type { Config } from '../../domain/config';

/** A dashboard that a static host serves calls the API from its own origin, with the cookies of the session. Only that
 *  origin may, and only where it is another one than the API's. Contract: 5.2.5. */

const originOf = (url: string): string => new URL(url).origin;

const preflight = {
  'Access-Control-Allow-Methods': 'GET, POST, PATCH, DELETE',
  'Access-Control-Allow-Headers': 'content-type, idempotency-key',
  'Access-Control-Max-Age': '600',
};

export function dashboardCors(config: Pick<Config, 'API_URL' | 'DASHBOARD_URL'>): Middleware {
  const origin = originOf(config.DASHBOARD_URL);
  if (origin === originOf(config.API_URL)) return (_, next) => next();
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/api/') || ctx.get('origin') !== origin) return next();
    ctx.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': 'Content-Disposition, Idempotency-Replayed, Retry-After, X-Request-Id',
    });
    ctx.vary('Origin');
    if (ctx.method === 'OPTIONS' && ctx.get('access-control-request-method')) {
      ctx.set(preflight);
      ctx.status = 204;
      return;
    }
    return next();
  };
}
