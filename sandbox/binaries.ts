import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheFolder, root } from './paths';
import { StartError } from './process';

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not for us
  }
};

/** A program by the variable that the launcher sets, by PATH, or by the launcher's cache. */
function find(program: string, variable: string): string {
  const named = process.env[variable];
  const places = named
    ? [named]
    : [
        ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program)),
        join(cacheFolder, 'bin', program),
      ];
  const found = places.find(isExecutable);
  if (!found)
    throw new StartError(`${program} is missing: npm start and npm test fetch it, or set ${variable} to its path`);
  return found;
}

export const temporalBinary = (): string => find('temporal', 'TEMPORAL_CLI_PATH');
export const temporalServerBinary = (): string => find('temporal-server', 'TEMPORAL_SERVER_PATH');
export const temporalSqlToolBinary = (): string => find('temporal-sql-tool', 'TEMPORAL_SQL_TOOL_PATH');
export const temporalUiBinary = (): string => find('temporal-ui-server', 'TEMPORAL_UI_SERVER_PATH');
export const btcdBinary = (): string => find('btcd', 'BTCD_PATH');
export const litecoindBinary = (): string => find('litecoind', 'LITECOIND_PATH');
export const lndBinary = (): string => find('lnd', 'LND_PATH');

export function anvilBinary(): string {
  const platform = process.platform === 'win32' ? 'win32' : process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const path = join(
    root,
    'node_modules',
    '@foundry-rs',
    `anvil-${platform}-${arch}`,
    'bin',
    platform === 'win32' ? 'anvil.exe' : 'anvil',
  );
  if (!isExecutable(path)) throw new StartError(`anvil is missing for ${platform}-${arch}: run npm install`);
  return path;
}
