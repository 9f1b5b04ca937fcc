import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Outside the checkout, so that a fresh clone does not fetch it all again. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'crypto-payments');

export const logOf = (name) => join(cache, 'logs', `${name}.log`);

export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not to be run by us
  }
}

export const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isProgram);

export const isDebianRoot = () => process.getuid?.() === 0 && existsSync('/etc/debian_version') && !!onPath('apt-get');
