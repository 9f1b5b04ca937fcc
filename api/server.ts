import { readFileSync } from 'node:fs';
import { ConfigError, parseConfig } from '../domain/config';
import { createLogger } from './http/logger';
import { drainOnSignal, startApi } from './main';

/** The API as a process. */
async function run(): Promise<void> {
  const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), 'api');
  const logger = createLogger(config.LOG_LEVEL);
  const api = await startApi(config, logger);
  drainOnSignal(api, logger);
  logger.info({ url: api.url }, 'API listens');
}

if (require.main === module) {
  run().catch((error: unknown) => {
    console.error(error instanceof ConfigError ? error.message : error);
    process.exit(1);
  });
}
