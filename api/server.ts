import { readFileSync } from 'node:fs';
import { ConfigError, parseConfig } from '../domain/config';
import { startTracing } from '../workers/tracing/start';
import { createLogger } from './http/logger';
import { drainOnSignal, startApi } from './main';

/** The API as a process. */
async function run(): Promise<void> {
  const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), 'api');
  const tracing = await startTracing(config, 'crypto-payments-api');
  const logger = createLogger(config.LOG_LEVEL);
  tracing?.reportTo(logger);
  const api = await startApi(config, logger);
  const close = async (): Promise<void> => {
    await api.close();
    await tracing?.stop();
  };
  drainOnSignal({ ...api, close }, logger);
  logger.info({ url: api.url }, 'API listens');
}

if (require.main === module) {
  run().catch((error: unknown) => {
    console.error(error instanceof ConfigError ? error.message : error);
    process.exit(1);
  });
}
