import type { IncomingMessage } from 'node:http';
import { isOriginAllowed } from '../../domain/widgets/origin';
import type { ApiDeps } from './deps';
import type { Route } from './route';

/** What browsers are told about answers that pages of other hosts ask for. Without it no page may read them.
 *  Credentials are never allowed: such routes know no cookies. Contract: G14. */

const preflight = {
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'authorization, content-type, if-none-match',
  'Access-Control-Max-Age': '600',
};

/** Headers of an answer, or of the question before it: the page's own origin where the route lets its host in. */
export async function pageHeaders(
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  { pages }: Pick<Route, 'pages'>,
  params: Readonly<Record<string, string>>,
  deps: ApiDeps,
): Promise<Readonly<Record<string, string>>> {
  if (!pages) return {};
  const { origin } = request.headers;
  const hosts = origin === undefined ? null : await pages(params, deps);
  if (origin === undefined || hosts === null || !isOriginAllowed(origin, hosts)) return { Vary: 'Origin' };
  return {
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id',
    ...(request.method === 'OPTIONS' ? preflight : {}),
  };
}
