import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import type { Context } from 'koa';
import { DomainError } from '../../domain/errors';

/** Files that the build made, read once at the start: a request chooses among them by name and never names a path. */

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

export type StaticFile = Readonly<{
  type: string;
  tag: string;
  plain: Buffer;
  packed: ReadonlyArray<readonly [encoding: string, content: Buffer]>;
}>;

/** The policy of a page of ours: its own files, no inline script or style, no text that becomes a script. `more`: what
 *  this page needs beside, by directive. */
export const pagePolicy = (more: Readonly<Record<string, string>> = {}): string =>
  Object.entries({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
    ...more,
  })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');

/** The folder dist/web/<name> that the build makes; null where this process runs without a build. */
export function builtFolder(name: string): string | null {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'dist', 'web', name);
    if (existsSync(join(folder, 'package.json'))) return existsSync(join(candidate, 'index.html')) ? candidate : null;
    if (folder === dirname(folder)) return null;
  }
}

/** The files below `folder` by their path from it, each with what is sent compressed in its place. */
export function readFiles(folder: string): ReadonlyMap<string, StaticFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const all = new Set(names);
  const files = new Map<string, StaticFile>();
  for (const name of names) {
    const type = types[extname(name)];
    if (!type) continue;
    const read = (ending = ''): Buffer => readFileSync(join(folder, `${name}${ending}`));
    const plain = read();
    const packed = encodings
      .filter(([, ending]) => all.has(`${name}${ending}`))
      .map(([encoding, ending]) => [encoding, read(ending)] as const);
    const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 27);
    files.set(relative('.', name).split(sep).join('/'), { type, tag, plain, packed });
  }
  return files;
}

/** Throws METHOD_NOT_ALLOWED where files are asked for anything but being read. */
export function onlyRead(ctx: Context): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  ctx.set('Allow', 'GET, HEAD');
  throw new DomainError('METHOD_NOT_ALLOWED');
}

/** Answers with a file in the best encoding that the caller takes. `isHashed`: its name changes with its content. */
export function sendFile(ctx: Context, file: StaticFile, { isHashed = false, status = 200 } = {}): void {
  const best = file.packed.find(([encoding]) => ctx.acceptsEncodings(encoding, 'identity') === encoding);
  ctx.set({
    'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Cross-Origin-Resource-Policy': 'same-origin',
    Vary: 'Accept-Encoding',
    ETag: `"${file.tag}${best ? `-${best[0]}` : ''}"`,
  });
  ctx.status = status;
  if (status === 200 && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = file.type;
  if (best) ctx.set('Content-Encoding', best[0]);
  ctx.body = best ? best[1] : file.plain;
}
