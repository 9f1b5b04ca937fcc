import { readFileSync } from 'node:fs';
import { parseConfig, type Config } from '../domain/config';
import { readSandboxFile } from './sandbox-file';
import { databaseFor } from './services';

/** The configuration of a running sandbox, as the role that audits it, or what DATABASE_URL and the node variables
 *  name. */
export function runningConfig(): Config {
  if (process.env.DATABASE_URL) return parseConfig(process.env, (path) => readFileSync(path, 'utf8'));
  const { databaseUrl, settings } = readSandboxFile();
  return parseConfig({ ...settings, DATABASE_URL: databaseFor(databaseUrl, 'audit') });
}
