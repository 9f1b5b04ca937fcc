import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { proveInstalled } from './installed.mjs';
import { npmProgram } from './node.mjs';
import { logOf, root } from './places.mjs';
import { say, SetupError, step } from './say.mjs';

const lock = join(root, 'package-lock.json');
const marker = join(root, 'node_modules', '.installed-from');

const hashOf = (text) => createHash('sha256').update(text).digest('hex');

/** Installs the packages of the lock, and nothing else, unless that lock is what is installed. The lock itself stays as
 *  it is committed. */
export async function packages() {
  const before = readFileSync(lock);
  const hash = hashOf(before);
  if (existsSync(marker) && readFileSync(marker, 'utf8').trim() === hash) return;
  const [program, first] = npmProgram();
  const options = ['--no-audit', '--no-fund', '--no-save', '--include=dev'];
  await step('Installing packages', program, [...first, 'install', ...options], {
    log: logOf('npm-install'),
    cwd: root,
    env: { ...process.env, NODE_ENV: '' },
    fetches: 'some 500 MB',
  });
  if (!readFileSync(lock).equals(before)) {
    writeFileSync(lock, before);
    say('npm wanted to change package-lock.json; it is as committed again');
  }
  proveInstalled(root);
  // As a new file: a folder of packages that was copied by links must not mark those that it was copied from.
  writeFileSync(`${marker}.new`, `${hash}\n`);
  renameSync(`${marker}.new`, marker);
}

/** Throws unless the lock is the one that was installed, and what is left of it runs the service. */
function proveProduction() {
  if (!existsSync(marker) || readFileSync(marker, 'utf8').trim() !== hashOf(readFileSync(lock)))
    throw new SetupError('package-lock.json has changed since its packages were installed');
  proveInstalled(root, { tools: false });
}

// In the build of the image: `node sandbox/setup/packages.mjs`, and with `--production` once the tools are gone.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  try {
    if (process.argv.includes('--production')) proveProduction();
    else await packages();
  } catch (error) {
    say(error instanceof SetupError ? error.message : error.stack);
    process.exitCode = 1;
  }
