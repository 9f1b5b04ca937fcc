import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The port of a process for those who run it: metrics and health. Nobody outside may reach it. It needs nothing of the
 *  service, so that the API may use it too. */

export type InternalPort = Readonly<{ url: string; close(): Promise<void> }>;

type Answers = Readonly<{
  contentType: string;
  /** The metrics, in Prometheus' text format. */
  metrics: () => Promise<string>;
  /** Rejects while the process cannot do its work. */
  ready: () => Promise<unknown>;
}>;

/** However often somebody asks, the metrics are written once in this time. */
const keepMs = 1000;

/** Answers `/metrics`, `/healthz` and `/readyz`. Rejects where the port cannot be had. */
export async function openInternalPort(
  at: Readonly<{ host: string; port: number }>,
  { contentType, metrics, ready }: Answers,
): Promise<InternalPort> {
  let written: { at: number; text: Promise<string> } | undefined;
  const text = (): Promise<string> => {
    if (!written || Date.now() - written.at >= keepMs) written = { at: Date.now(), text: metrics() };
    return written.text;
  };
  const answer = async (path: string | undefined): Promise<[status: number, text: string, type?: string]> => {
    if (path === '/metrics') return [200, await text(), contentType];
    if (path === '/healthz') return [200, 'alive'];
    if (path !== '/readyz') return [404, 'not found'];
    return ready().then(
      () => [200, 'ready'],
      () => [503, 'not ready'],
    );
  };
  const server = createServer((request, response) => {
    answer(request.url).then(
      ([status, body, type = 'text/plain']) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(503, { 'content-type': 'text/plain' }).end('the metrics could not be written'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  return { url: urlOf(server), close: () => closed(server) };
}

function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function closed(server: Server): Promise<void> {
  server.closeIdleConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
