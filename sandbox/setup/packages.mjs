import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmProgram } from './node.mjs';
import { logOf, root } from './places.mjs';
import { say, step } from './say.mjs';

const lock = join(root, 'package-lock.json');
const marker = join(root, 'node_modules', '.installed-from');

/** Installs the packages of the lock, unless that lock is what is installed. The lock itself stays as it is committed. */
export async function packages() {
  const before = readFileSync(lock);
  const hash = createHash('sha256').update(before).digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8').trim() === hash) return;
  const [program, first] = npmProgram();
  await step('Installing packages', program, [...first, 'install', '--no-audit', '--no-fund', '--include=dev'], {
    log: logOf('npm-install'),
    cwd: root,
    env: { ...process.env, NODE_ENV: '' },
  });
  if (!readFileSync(lock).equals(before)) {
    writeFileSync(lock, before);
    say('npm wanted to change package-lock.json; it is as committed again');
  }
  writeFileSync(marker, `${hash}\n`);
}
