import type { IncomingMessage } from 'node:http';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/** Refuses a write that a browser's cookie vouches for, unless the dashboard asked: its Origin, or Referer where there
 *  is none, is the dashboard's. That is the API's own origin where the API serves the dashboard, and not where another
 *  host does. Throws CSRF_ORIGIN_MISMATCH. Contract: 5.2.5. */
export function checkOrigin(
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  config: Pick<Config, 'DASHBOARD_URL'>,
): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { origin, referer } = request.headers;
  const stated = origin !== undefined ? originOf(origin) : referer !== undefined ? originOf(referer) : null;
  if (stated === null || stated === 'null' || stated !== originOf(config.DASHBOARD_URL))
    throw new DomainError('CSRF_ORIGIN_MISMATCH');
}
