import type { IncomingMessage } from 'node:http';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/** Refuses a write that a browser's cookie vouches for, unless a page of ours asked: its Origin, or Referer where there is none,
 *  is the dashboard's or the API's own. Throws CSRF_ORIGIN_MISMATCH. Contract: 5.2.5. */
export function checkOrigin(
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  config: Pick<Config, 'DASHBOARD_URL' | 'API_URL'>,
): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { origin, referer } = request.headers;
  const stated = origin !== undefined ? originOf(origin) : referer !== undefined ? originOf(referer) : null;
  const allowed = [config.DASHBOARD_URL, config.API_URL].map(originOf);
  if (stated === null || stated === 'null' || !allowed.includes(stated)) throw new DomainError('CSRF_ORIGIN_MISMATCH');
}
