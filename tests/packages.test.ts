import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arenas, newObjects } from '../sandbox/services';

/** Packages come from the lock alone: each with the version and the integrity that the lock has. */

type Package = Readonly<Record<string, unknown>>;
type Proof = { differences(folder: string, options?: { tools?: boolean }): string[] };
const root = join(__dirname, '..');
const script: string = join(root, 'sandbox/setup/installed.mjs');
const load = async (): Promise<Proof> => (await import(script)) as Proof;

const koa = { version: '3.3.0', integrity: 'sha512-a', dependencies: { debug: '^4.0.0' } };
const tool = {
  version: '1.0.0',
  integrity: 'sha512-b',
  dev: true,
  optionalDependencies: { 'tool-darwin-arm64': '1.0.0', 'tool-linux-x64': '1.0.0' },
};
const binary = { version: '1.0.0', integrity: 'sha512-c', dev: true, optional: true, os: ['linux'], cpu: ['x64'] };
const locked: Record<string, Package> = {
  'node_modules/koa': koa,
  'node_modules/tool': tool,
  'node_modules/tool-linux-x64': binary,
};
const without = (name: string): Record<string, Package> =>
  Object.fromEntries(Object.entries(locked).filter(([path]) => path !== `node_modules/${name}`));

function folderOf(installed: Record<string, Package>): string {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));
  mkdirSync(join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': { name: 'own' }, ...locked } }));
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages: installed }));
  return folder;
}

describe('D: what is installed', () => {
  it('is what the lock names, but binaries of other platforms', async () => {
    const { differences } = await load();
    expect(differences(folderOf(locked))).toEqual([]);
    expect(differences(folderOf(without('tool-linux-x64')))).toEqual([]);
  });

  it.each<[string, Record<string, Package>, RegExp]>([
    [
      'a package more',
      { ...locked, 'node_modules/evil': { version: '1.0.0', integrity: 'sha512-e' } },
      /evil@1.0.0 is not/,
    ],
    ['another version', { ...locked, 'node_modules/koa': { ...koa, version: '3.3.1' } }, /koa is 3.3.1, and 3.3.0 in/],
    [
      'other bytes',
      { ...locked, 'node_modules/koa': { ...koa, integrity: 'sha512-x' } },
      /koa@3.3.0 has another integ/,
    ],
    ['no integrity', { ...locked, 'node_modules/koa': { version: '3.3.0' } }, /koa@3.3.0 has another integrity/],
    ['a package less', without('koa'), /koa is missing/],
    [
      'a binary in a version that nothing names',
      { ...locked, 'node_modules/tool-darwin-arm64': { version: '6.6.6', integrity: 'sha512-d', os: ['darwin'] } },
      /tool-darwin-arm64@6.6.6 is not in the lock/,
    ],
  ])('is refused: %s', async (_, installed, words) => {
    expect((await load()).differences(folderOf(installed))).toEqual([expect.stringMatching(words)]);
  });

  it('has binaries that the lock leaves out while it builds, and none where the service runs', async () => {
    const { differences } = await load();
    const other = {
      version: '1.0.0',
      integrity: 'sha512-d',
      dev: true,
      optional: true,
      os: ['darwin'],
      cpu: ['arm64'],
    };
    const folder = folderOf({ ...locked, 'node_modules/tool-darwin-arm64': other });
    expect(differences(folder)).toEqual([]);
    expect(differences(folder, { tools: false })).toEqual(['node_modules/tool-darwin-arm64@1.0.0 is not in the lock']);
    expect(differences(folderOf({ 'node_modules/koa': koa }), { tools: false })).toEqual([]);
  });
});

describe('D: the lock', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string; optionalDependencies?: Record<string, string> }>;
  };
  const names = new Set(Object.keys(lock.packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));

  it('has an integrity for every package', () => {
    const bare = Object.entries(lock.packages).filter(([path, { integrity }]) => path && !integrity);
    expect(bare.map(([path]) => path)).toEqual([]);
  });

  it('has every binary that the service needs on Linux', () => {
    const left = Object.values(lock.packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies).filter((name) => !names.has(name)),
    );
    // Of tools alone, and the reason why `npm ci` refuses the lock: see sandbox/setup/installed.mjs.
    const forLinux = left.filter((name) => /linux-(x64|arm64)-gnu|linux-(amd64|arm64)$/.test(name));
    expect(forLinux).toEqual(['@foundry-rs/anvil-linux-arm64']);
  });
});

describe('D: the image', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

  it('installs by the proof, and proves again what is left without the tools', () => {
    const lines = dockerfile.split('\n');
    const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
    expect(dockerfile).not.toMatch(/npm (install|ci|i)\b/);
    expect(at(/^RUN node sandbox\/setup\/packages\.mjs$/)).toBeGreaterThan(
      at(/^COPY package\.json package-lock\.json/),
    );
    expect(at(/npm prune --omit=dev --no-save/)).toBeGreaterThan(at(/launch\.mjs build/));
    expect(at(/packages\.mjs --production/)).toBeGreaterThan(at(/npm prune/));
  });

  it('runs as nobody special, from an exact version', () => {
    const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
    for (const stage of stages)
      expect(stage).toMatch(/^FROM node:\d+\.\d+\.\d+-bookworm-slim(@sha256:[0-9a-f]{64})?\s/);
    expect(stages.at(-1)).toMatch(/^USER node$/m);
  });

  it('gives its processes as much room for new objects as the sandbox gives them', () => {
    const [, entry] = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)!;
    expect(JSON.parse(entry!)).toEqual(['node', '--enable-source-maps', ...newObjects]);
  });

  it('gives the C library of its processes as many arenas as the sandbox gives it', () => {
    const last = dockerfile.split(/^(?=FROM )/m).at(-1)!;
    expect(/^ENV MALLOC_ARENA_MAX=(\d+)$/m.exec(last)![1]).toBe(arenas.MALLOC_ARENA_MAX);
  });
});
