// Builds the command-line tool into dist/. Needs the built SDK, to which it links as an installation would.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const scope = join(here, 'node_modules', '@crypto-payment-service');
const compiler = join(here, '..', '..', 'node_modules', 'typescript7', 'bin', 'tsc');

mkdirSync(scope, { recursive: true });
rmSync(join(scope, 'sdk'), { recursive: true, force: true });
symlinkSync(join('..', '..', '..', 'typescript'), join(scope, 'sdk'), 'dir');
rmSync(join(here, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [compiler, '-p', join(here, 'tsconfig.json')], { stdio: 'inherit' });
chmodSync(join(here, 'dist', 'main.js'), 0o755);
