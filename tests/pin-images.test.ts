import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Digests are pinned by what a registry answers: here one on loopback, which also lies. */

const root = join(__dirname, '..');
const files = ['docker-compose.yml', 'Dockerfile'];
const digestOf = (bytes: string): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

type Registry = {
  url: string;
  /** What is asked for, in order. */
  asked: string[];
  /** By `repository:tag`, in place of a manifest made of that name. */
  manifests: Map<string, string>;
  fault: 'none' | 'sign-in' | 'lies' | 'no manifest' | 'absent';
  server: Server;
};

async function startRegistry(): Promise<Registry> {
  const token = 'anonymous-token';
  const server = createServer((request, response) => {
    const url = new URL(request.url!, registry.url);
    if (url.pathname === '/token') {
      registry.asked.push(`token for ${url.searchParams.get('scope')}`);
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ token }));
    }
    const [, repository, tag] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(url.pathname) ?? [];
    registry.asked.push(`${repository}:${tag}`);
    if (registry.fault === 'sign-in' && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${registry.url}/token",service="loopback"` });
      return response.end();
    }
    if (registry.fault === 'absent') return response.writeHead(404).end();
    const body = registry.manifests.get(`${repository}:${tag}`) ?? JSON.stringify({ manifests: [repository, tag] });
    const digest = registry.fault === 'lies' ? digestOf('other') : digestOf(body);
    const type =
      registry.fault === 'no manifest' ? 'text/html' : 'application/vnd.oci.image.index.v1+json; charset=utf-8';
    expect(request.headers.accept).toMatch(/^application\/vnd\.oci\.image\.index/);
    response.writeHead(200, { 'content-type': type, 'docker-content-digest': digest });
    return response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const registry: Registry = { url, asked: [], manifests: new Map(), fault: 'none', server };
  return registry;
}

let registry: Registry;
let folder: string;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => new Promise((resolve) => registry.server.close(resolve)));
beforeEach(() => {
  Object.assign(registry, { asked: [], manifests: new Map(), fault: 'none' });
  folder = mkdtempSync(join(tmpdir(), 'pins-'));
  for (const file of files) cpSync(join(root, file), join(folder, file));
});

/** The script as a release runs it. */
const pin = (...args: string[]): Promise<{ code: number | null; out: string; err: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [
      join(root, 'deploy/pin-images.mjs'),
      ...['--folder', folder, '--registry', registry.url],
      ...args,
    ]);
    let [out, err] = ['', ''];
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => (err += part.toString()));
    child.once('close', (code) => resolve({ code, out, err }));
  });
const texts = (): string[] => files.map((file) => readFileSync(join(folder, file), 'utf8'));
const edit = (file: string, from: RegExp | string, to: string): void => {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(text).not.toBe(text.replace(from, to));
  writeFileSync(path, text.replace(from, to));
};

describe('D: digests of images', () => {
  it('are pinned for every image of others, in compose and in the build', async () => {
    expect(await pin()).toMatchObject({ code: 0, err: '' });
    const [compose, dockerfile] = texts() as [string, string];
    const images = [...compose.matchAll(/^\s+image:\s*(\S+)/gm)].map(([, image]) => image!);
    const others = images.filter((image) => image !== 'crypto-payments');
    expect(others.length).toBeGreaterThan(2);
    expect(images.length).toBe(others.length + 1);
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!);
    expect(bases).toHaveLength(2);
    for (const image of [...others, ...bases]) {
      const [, path, tag, digest] = /^([^:@]+):([^:@]+)@(sha256:[0-9a-f]{64})$/.exec(image) ?? [];
      const repository = path?.includes('/') ? path : `library/${path}`;
      expect([image, digest]).toEqual([image, digestOf(JSON.stringify({ manifests: [repository, tag] }))]);
    }
    expect(compose.replaceAll(/@sha256:[0-9a-f]{64}/g, '')).toBe(
      readFileSync(join(root, 'docker-compose.yml'), 'utf8').replaceAll(/@sha256:[0-9a-f]{64}/g, ''),
    );
    expect(registry.asked).toEqual([...new Set(registry.asked)]);
  });

  it('stay while their tags stay, and follow a tag that has moved', async () => {
    await pin();
    const first = texts();
    expect(await pin('--check')).toMatchObject({ code: 0 });
    expect(await pin()).toMatchObject({ code: 0 });
    expect(texts()).toEqual(first);

    const repository = registry.asked.find((one) => one.startsWith('library/postgres'))!;
    registry.manifests.set(repository, '{"schemaVersion":2}');
    const check = await pin('--check');
    expect(check.code).toBe(1);
    expect(check.err).toContain(digestOf('{"schemaVersion":2}'));
    expect(texts()).toEqual(first);
    await pin();
    expect(texts().join()).toContain(`@${digestOf('{"schemaVersion":2}')}`);
    expect(await pin('--check')).toMatchObject({ code: 0 });
  });

  it('are missed by the check where nothing is pinned', async () => {
    const unpinned = texts();
    for (const [n, file] of files.entries())
      writeFileSync(join(folder, file), unpinned[n]!.replaceAll(/@sha256:[0-9a-f]{64}/g, ''));
    expect((await pin('--check')).code).toBe(1);
  });

  it('are asked for with the anonymous token that a registry wants', async () => {
    registry.fault = 'sign-in';
    expect(await pin()).toMatchObject({ code: 0 });
    expect(registry.asked).toContain('token for repository:library/postgres:pull');
  });

  it.each([
    ['lies', /the registry says sha256:[0-9a-f]+, and its bytes have/],
    ['no manifest', /no manifest/],
    ['absent', /answered 404/],
  ] as const)('are written nowhere where a registry fails: %s', async (fault, words) => {
    const before = texts();
    registry.fault = fault;
    const { code, err } = await pin();
    expect([code, err]).toEqual([1, expect.stringMatching(words)]);
    expect(texts()).toEqual(before);
  });

  it.each(['postgres', 'postgres:18-bookworm', 'postgres:latest', 'postgres:18.4@sha256:abc', 'postgres@sha256:abc'])(
    'are refused for an image without an exact version: %s',
    async (image) => {
      edit('docker-compose.yml', /image: postgres\S+/, `image: ${image}`);
      const before = texts();
      const { code, err } = await pin();
      expect([code, err]).toEqual([1, expect.stringContaining('exact version')]);
      expect(texts()).toEqual(before);
    },
  );
});
