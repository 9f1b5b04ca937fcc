import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';

/** Licences under which a package may be part of what we distribute under MIT: permissive ones, and the public domain.
 *  Copyleft is not among them. The LGPL would allow our use, but whoever distributes an image must let users replace
 *  the library; nothing needs it, so it stays out. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
]);

/** Packages whose package.json does not tell, or tells something else, and why they may stay. */
const reviewed: Readonly<Record<string, { says: string | undefined; why: string }>> = {
  'caniuse-lite': { says: 'CC-BY-4.0', why: 'a table of browsers for a bundler; its attribution is in its own files' },
  'png-js': { says: undefined, why: 'its LICENSE file is the MIT licence' },
  unionfs: { says: undefined, why: 'its LICENSE file is the Unlicense' },
};

type Package = { name: string; license?: unknown };
type Lock = { packages: Record<string, { dev?: boolean; optional?: boolean }> };

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(root, ...path), 'utf8'));
const { packages } = read('package-lock.json') as Lock;
const production = Object.entries(packages)
  .filter(([path, { dev, optional }]) => path && !dev && !(optional && !existsSync(join(root, path))))
  .map(([path]) => read(path, 'package.json') as Package);

/** Whether an SPDX expression can be met: with OR by one side, with AND by both. */
function isAllowed(expression: string): boolean {
  const inner = expression.replace(/^\((.*)\)$/, '$1');
  if (inner.includes(' OR ')) return inner.split(' OR ').some(isAllowed);
  return inner.split(' AND ').every((one) => allowed.has(one.replace(/[()]/g, '')));
}

describe('licences of production dependencies', () => {
  it('reads expressions', () => {
    for (const good of ['MIT', '(MIT OR GPL-3.0)', 'Apache-2.0 AND MIT'])
      expect([good, isAllowed(good)]).toEqual([good, true]);
    for (const bad of ['GPL-3.0', 'MIT AND GPL-3.0', '(LGPL-3.0 OR AGPL-3.0)', 'SEE LICENSE IN x', ''])
      expect([bad, isAllowed(bad)]).toEqual([bad, false]);
  });

  it('allow that all of it is distributed under MIT', () => {
    expect(production.length).toBeGreaterThan(200);
    const refused = production.filter(
      ({ name, license }) =>
        !(typeof license === 'string' && isAllowed(license)) &&
        !(Object.hasOwn(reviewed, name) && reviewed[name]!.says === license),
    );
    expect(refused.map(({ name, license }) => `${name}: ${String(license)}`)).toEqual([]);
  });

  it('that were reviewed one by one are still in use', () => {
    const names = new Set(production.map(({ name }) => name));
    expect(Object.keys(reviewed).filter((name) => !names.has(name))).toEqual([]);
  });

  it('and ours is MIT, in package.json and in LICENSE', () => {
    expect(read('package.json')).toMatchObject({ license: 'MIT' });
    expect(readFileSync(join(root, 'LICENSE'), 'utf8')).toMatch(/^MIT License\n\nCopyright \(c\) 2026 /);
  });
});
