import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { Middleware } from 'koa';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';

/** The dashboard as files of this origin, below `/dashboard`. Every file is read at the start: a request chooses among
 *  them by name and never names a path. */

const dashboardPath = '/dashboard';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

type File = Readonly<{
  type: string;
  plain: Buffer;
  packed: ReadonlyArray<readonly [encoding: string, content: Buffer]>;
}>;
export type Dashboard = Readonly<{ page: string; policy: string; assets: ReadonlyMap<string, File> }>;
type Places = Pick<Config, 'API_URL' | 'CHECKOUT_URL' | 'DASHBOARD_URL' | 'NODE_ENV'>;

/** What the page may do: its own files, calls to the API, images that it draws itself. No text becomes a script. */
const policyFor = ({ CHECKOUT_URL }: Places): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    // The preview of a widget runs there, in an origin of its own.
    `frame-src ${CHECKOUT_URL === '' ? "'none'" : new URL(CHECKOUT_URL).origin}`,
  ].join('; ');

/** The folder that the build makes; null where this process runs without a build. */
function builtFolder(): string | null {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'dist', 'web', 'dashboard');
    if (existsSync(join(folder, 'package.json'))) return existsSync(join(candidate, 'index.html')) ? candidate : null;
    if (folder === dirname(folder)) return null;
  }
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Reads the built dashboard; null where there is none. */
export function loadDashboard(config: Places, folder = builtFolder()): Dashboard | null {
  if (!folder) return null;
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace('%API_URL%', '')
    .replace('%CHECKOUT_URL%', escape(config.CHECKOUT_URL))
    .replace('%ENVIRONMENT%', escape(config.NODE_ENV));
  const names = readdirSync(join(folder, 'assets'));
  const assets = new Map<string, File>();
  for (const name of names) {
    const type = types[extname(name)];
    if (!type) continue;
    const read = (ending = ''): Buffer => readFileSync(join(folder, 'assets', `${name}${ending}`));
    const packed = encodings
      .filter(([, ending]) => names.includes(`${name}${ending}`))
      .map(([encoding, ending]) => [encoding, read(ending)] as const);
    assets.set(name, { type, plain: read(), packed });
  }
  return { page, policy: policyFor(config), assets };
}

/** Serves the dashboard: its assets by their hashed names, and the page at every other address below `/dashboard`. */
export function dashboardFiles(dashboard: Dashboard | null): Middleware {
  return async (ctx, next) => {
    const isBelow = ctx.path === dashboardPath || ctx.path.startsWith(`${dashboardPath}/`);
    if (!isBelow || !dashboard) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new DomainError('METHOD_NOT_ALLOWED');
    }
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
    ctx.set({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Cross-Origin-Resource-Policy': 'same-origin',
      Vary: 'Accept-Encoding',
    });
    ctx.type = file.type;
    const best = file.packed.find(([encoding]) => ctx.acceptsEncodings(encoding, 'identity') === encoding);
    if (best) ctx.set('Content-Encoding', best[0]);
    ctx.body = best ? best[1] : file.plain;
  };
}
