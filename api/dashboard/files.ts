import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Middleware } from 'koa';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { builtFolder, onlyRead, pagePolicy, readFiles, sendFile, type StaticFile } from '../http/static';

/** The dashboard as files of this origin, below `/dashboard`. */

const dashboardPath = '/dashboard';

export type Dashboard = Readonly<{ page: string; policy: string; assets: ReadonlyMap<string, StaticFile> }>;
type Places = Pick<Config, 'API_URL' | 'CHECKOUT_URL' | 'DASHBOARD_URL' | 'NODE_ENV' | 'MODE'>;

/** Its own files, calls to the API, images that it draws itself, and the merchant's logo, which the API has. The
 *  preview of a widget runs on the checkout, in an origin of its own. `apiOrigin`: where a static host has the
 *  files. */
export const dashboardPolicy = (checkoutUrl: string, apiOrigin?: string): string => {
  const own = apiOrigin === undefined ? "'self'" : `'self' ${apiOrigin}`;
  return pagePolicy({
    'img-src': `${own} data:`,
    'connect-src': own,
    'frame-src': checkoutUrl === '' ? "'none'" : new URL(checkoutUrl).origin,
  });
};

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Reads the built dashboard; null where there is none. */
export function loadDashboard(config: Places, folder = builtFolder('dashboard')): Dashboard | null {
  if (!folder) return null;
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace('%API_URL%', '')
    .replace('%CHECKOUT_URL%', escape(config.CHECKOUT_URL))
    .replace('%INSTANCE%', config.MODE)
    .replace('%ENVIRONMENT%', escape(config.NODE_ENV));
  return { page, policy: dashboardPolicy(config.CHECKOUT_URL), assets: readFiles(join(folder, 'assets')) };
}

/** Serves the dashboard: its assets by their hashed names, and the page at every other address below `/dashboard`. */
export function dashboardFiles(dashboard: Dashboard | null): Middleware {
  return async (ctx, next) => {
    const isBelow = ctx.path === dashboardPath || ctx.path.startsWith(`${dashboardPath}/`);
    if (!isBelow || !dashboard) return next();
    onlyRead(ctx);
    const [, asset] = /^\/dashboard\/assets\/(.*)$/.exec(ctx.path) ?? [];
    if (asset === undefined) {
      ctx.set({
        'Content-Security-Policy': dashboard.policy,
        'Cache-Control': 'no-cache',
        'X-Robots-Tag': 'noindex',
        'Cross-Origin-Resource-Policy': 'same-origin',
      });
      ctx.type = 'text/html; charset=utf-8';
      ctx.body = dashboard.page;
      return;
    }
    const file = dashboard.assets.get(asset);
    if (!file) throw new DomainError('NOT_FOUND');
    sendFile(ctx, file, { isHashed: true });
  };
}
