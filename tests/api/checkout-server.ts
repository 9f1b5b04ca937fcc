import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import { root } from '../../sandbox/paths';
import { checkoutApp } from '../../web/checkout/app';
import type { Harness } from './harness';

/** The real checkout before the API of a suite, behind so many proxies. */
export async function startCheckout(h: Harness, proxyCount: number): Promise<{ server: Server; url: string }> {
  const app = checkoutApp({
    apiUrl: h.url,
    checkoutUrl: 'https://pay.example',
    isTest: false,
    isProduction: false,
    proxyCount,
    log: pino({ level: 'silent' }),
    publicFolder: join(root, 'web/checkout/public'),
    embedFolder: join(root, 'web/embed/public'),
    publicApiUrl: h.url,
    dashboardUrl: 'http://localhost:3000/dashboard',
  });
  const server = createServer((request, response) => void app.callback()(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
