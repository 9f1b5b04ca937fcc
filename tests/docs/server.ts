import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { docsFiles, loadDocs } from '../../api/docs/files';
import { errorResponse } from '../../api/http/errors';
import { securityHeaders } from '../../api/http/security';

export type DocsServer = { url: string; stop: () => Promise<void> };

/** The documentation as the API serves it, without the rest of the API: it needs no database. */
export async function startDocs(): Promise<DocsServer> {
  const app = new Koa();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, body, headers } = errorResponse(error, 'B', 'test');
      ctx.status = status;
      ctx.set(headers);
      ctx.body = body;
    }
  });
  app.use(securityHeaders());
  app.use(docsFiles(loadDocs()));
  const server: Server = createServer(app.callback());
  server.keepAliveTimeout = 0; // a test that is busy for long would meet a connection that has just been closed
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
