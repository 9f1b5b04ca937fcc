import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The checkout, from its sources and from `dist/` alike. */
export const root = ((): string => {
  for (let folder = __dirname; ; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json')) || folder === dirname(folder)) return folder;
})();

/** State of the sandbox that `npm start` runs: whole, because some parts run in a folder of their own. */
export const sandboxFolder = resolve(process.env.SANDBOX_DATA || join(root, '.data'));

/** Binaries fetched or built once for every checkout of this user. */
export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'crypto-payments');
