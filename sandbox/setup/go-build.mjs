import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { logOf, onPath, root } from './places.mjs';
import { step } from './say.mjs';

/** Where our Go module of this name is: it names everything that its programs are built from, with checksums. */
const placeOf = (module) => join(root, 'sandbox', 'setup', module);

/** The version that a module of ours has of `path`. */
export function pinned(path, module = 'temporal') {
  const line = readFileSync(join(placeOf(module), 'go.mod'), 'utf8')
    .split('\n')
    .find((one) => one.trim().startsWith(`${path} v`));
  return line.trim().split(' ')[1];
}

/** The minor version of Go 1.x; 0 without Go. */
export function goMinor() {
  if (!onPath('go')) return 0;
  const match = /go1\.(\d+)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' }));
  return match ? parseInt(match[1], 10) : 0;
}

/** Builds programs of a module of ours into `folder`, each whole or not at all. `programs`: package by the name that
 *  its program gets. What one build has compiled serves the next, and an interrupted one goes on with it. */
export async function goBuild(label, folder, programs, { module = 'temporal', tags = '' } = {}) {
  const draft = join(folder, 'draft');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const flags = ['-buildvcs=false', '-ldflags=-s -w', ...(tags ? ['-tags', tags] : []), '-o', `${draft}/`];
  await step(`Building ${label} with Go, once (minutes)`, 'go', ['build', ...flags, ...Object.values(programs)], {
    log: logOf(`go-${Object.keys(programs)[0]}`),
    cwd: placeOf(module),
    env: { ...process.env, GOFLAGS: '', GOWORK: 'off' },
    fetches: 'some 300 MB',
  });
  for (const [name, path] of Object.entries(programs))
    renameSync(join(draft, path.slice(path.lastIndexOf('/') + 1)), join(folder, name));
  rmSync(draft, { recursive: true });
}
