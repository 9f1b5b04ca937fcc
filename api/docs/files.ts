import type { Middleware } from 'koa';
import { builtFolder, onlyRead, pagePolicy, readFiles, sendFile, type StaticFile } from '../http/static';
import { DomainError } from '../../domain/errors';

/** The documentation as files of this origin, below `/docs`: pages by their addresses, assets by their hashed names. */

const docsPath = '/docs/';
const assets = 'assets/';

/** Its own files, and its own search index. */
const policy = pagePolicy();

/** Reads the built documentation; null where there is none. */
export function loadDocs(folder = builtFolder('docs')): ReadonlyMap<string, StaticFile> | null {
  return folder ? readFiles(folder) : null;
}

/** Serves the documentation. An address without its last slash leads to the one with it; an unknown one is answered
 *  with the page that says so. */
export function docsFiles(files: ReadonlyMap<string, StaticFile> | null): Middleware {
  return async (ctx, next) => {
    const isBelow = ctx.path.startsWith(docsPath) || `${ctx.path}/` === docsPath;
    if (!isBelow || !files) return next();
    onlyRead(ctx);
    const name = ctx.path.slice(docsPath.length);
    if (name.startsWith(assets)) {
      const file = files.get(name);
      if (!file) throw new DomainError('NOT_FOUND');
      return sendFile(ctx, file, { isHashed: true });
    }
    ctx.set('Content-Security-Policy', policy);
    const isFolder = ctx.path.endsWith('/');
    const file = files.get(isFolder ? `${name}index.html` : name);
    if (file && !name.endsWith('.html')) return sendFile(ctx, file);
    const isShort = !isFolder && files.has(name === '' ? 'index.html' : `${name}/index.html`);
    if (isShort) {
      ctx.status = 308;
      ctx.set('Location', `${ctx.path}/${ctx.search}`);
      return;
    }
    sendFile(ctx, files.get('404.html')!, { status: 404 });
  };
}
