import gracefulShutdown from 'http-graceful-shutdown';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pino from 'pino';
import { ConfigError, parseConfig } from '../../domain/config';
import { logOptions } from '../../domain/log';
import { checkoutApp } from './app';

/** Static files, beside the sources: the build compiles and does not copy. */
function publicFolder(of: 'checkout' | 'embed'): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'web', of, 'public');
    if (existsSync(join(folder, 'package.json')) && existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) throw new Error(`web/${of}/public is missing`);
  }
}

try {
  const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), 'checkout');
  const log = pino(logOptions(config.LOG_LEVEL, { role: 'checkout' }));
  const app = checkoutApp({
    apiUrl: config.API_INTERNAL_URL || config.API_URL,
    checkoutUrl: config.CHECKOUT_URL,
    isTest: config.MODE === 'test',
    isProduction: config.isProduction,
    proxyCount: config.CHECKOUT_PROXY_COUNT,
    log,
    publicFolder: publicFolder('checkout'),
    embedFolder: publicFolder('embed'),
    publicApiUrl: config.API_URL,
    dashboardUrl: config.DASHBOARD_URL,
  });
  const server = app.listen(config.CHECKOUT_PORT, config.CHECKOUT_HOST, () =>
    log.info({ port: config.CHECKOUT_PORT }, 'Ready'),
  );
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  gracefulShutdown(server, { signals: 'SIGTERM SIGINT', timeout: 5000, finally: () => log.info({}, 'Stopped') });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
