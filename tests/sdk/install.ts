import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';

/** What a program wrote. */
export const run = (program: string, args: readonly string[], cwd: string): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** Makes `project` one that has packages of sdk/ as they are packed, and `others` from here, beside what it has:
 *  nothing is fetched. */
export function install(project: string, folders: readonly string[], others: readonly string[] = []): void {
  const packed = folders.map((folder) => {
    const args = ['pack', '--json', '--offline', '--pack-destination', project];
    const [{ filename }] = JSON.parse(run('npm', args, join(root, 'sdk', folder))) as [{ filename: string }];
    return join(project, filename);
  });
  const own = join(project, 'package.json');
  if (!existsSync(own)) writeFileSync(own, JSON.stringify({ name: 'shop', private: true }));
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', ...packed, ...others], project);
}
