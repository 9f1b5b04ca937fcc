import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

/** Listens on this machine alone. Rejects where the port cannot be had. */
export const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });

/** Ends a server, with the connections that are open. */
export const closed = (server: HttpServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
