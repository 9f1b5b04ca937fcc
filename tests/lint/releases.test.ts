import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';
import { fileOf, isHere, namesOf, newestRelease } from '../upgrade-drill/release';

/** What a release promises to whoever upgrades from it. */

const { version, commit } = newestRelease();
const can = isHere(commit);
const lost = can ? '' : ': NOT RUN, this clone has no such commit';

(can ? it : it.skip)(`a migration of release ${version} stays as it is${lost}`, () => {
  const migrations = namesOf(commit, 'db/migrations').filter((path) => /\d-.*\.ts$/.test(path));
  expect(migrations.length).toBeGreaterThan(40);
  const changed = migrations.filter((path) => fileOf(commit, path) !== readFileSync(join(root, path), 'utf8'));
  expect(changed).toEqual([]);
});

(can ? it : it.skip)(`release ${version} calls itself so${lost}`, () => {
  expect(JSON.parse(fileOf(commit, 'package.json')!)).toMatchObject({ version });
});
