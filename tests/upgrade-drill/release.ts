import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';

/** The version and the commit of a row of docs/releases.md. */
export type Release = Readonly<{ version: string; commit: string }>;

/** The release that an upgrade starts from: the last row of the table. Throws where there is none. */
export function newestRelease(): Release {
  const rows = readFileSync(join(root, 'docs', 'releases.md'), 'utf8').matchAll(/^\| (\d+\.\d+\.\d+) +\| `(\w{40})`/gm);
  const [, version, commit] = [...rows].at(-1) ?? [];
  if (!version || !commit) throw new Error('docs/releases.md has no release');
  return { version, commit };
}

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, { cwd: root, maxBuffer: 2 ** 29, stdio: ['ignore', 'pipe', 'pipe'] });

/** Whether this clone has a commit: one that is not deep, or no clone at all, has none of long ago. */
export function isHere(commit: string): boolean {
  try {
    return git('cat-file', '-t', commit).toString().trim() === 'commit';
  } catch {
    return false;
  }
}

/** A file of a commit; null where the commit does not have it. */
export const fileOf = (commit: string, path: string): string | null =>
  namesOf(commit, path).length ? git('show', `${commit}:${path}`).toString() : null;

/** The paths of a commit's files below `path`. */
export const namesOf = (commit: string, path: string): string[] =>
  git('ls-tree', '-r', '--name-only', commit, '--', path).toString().split('\n').filter(Boolean);

/** Builds a commit in a folder of its own, once, and answers the folder. The packages are ours where its lock is
 *  ours. */
export function built(commit: string): string {
  const full = git('rev-parse', `${commit}^{commit}`).toString().trim();
  const folder = join(root, 'node_modules', '.cache', 'releases', full);
  const done = join(folder, '.built');
  if (existsSync(done)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', full) });
  const hasOurPackages = fileOf(full, 'package-lock.json') === readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (hasOurPackages) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(folder, 'sandbox', 'launch.mjs'), 'build'], { cwd: folder, stdio: 'pipe' });
  writeFileSync(done, '');
  return folder;
}
