import { brotliDecompressSync } from 'node:zlib';
import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardPolicy, loadDashboard } from '../../api/dashboard/files';
import { root } from '../../sandbox/paths';
import { startHarness, type Harness } from './harness';

/** The dashboard as files of the API's own origin, and as a page of another one. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ DASHBOARD_URL: 'http://localhost:4000/dashboard' });
});
afterAll(() => h?.stop());

/** As it comes over the wire: fetch would unpack it. */
const raw = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    request(h.url + path, { method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) }),
      );
    })
      .on('error', reject)
      .end();
  });
const script = async (): Promise<string> => /src="([^"]+\.js)"/.exec((await raw('/dashboard')).body.toString())![1]!;

describe('the files of the dashboard', () => {
  it.each(['live', 'test'] as const)('4: say that the instance is %s', (MODE) => {
    const { page } = loadDashboard({ ...h.api.deps.config, MODE })!;
    expect(page).toMatch(new RegExp(`<meta name="instance" content="${MODE}" ?/?>`));
  });

  it.each(['/dashboard', '/dashboard/', '/dashboard/payments/000000000000000000000001', '/dashboard/no-such-page'])(
    'are one page at %s, under a policy without inline script',
    async (path) => {
      const { status, headers, body } = await raw(path);
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "connect-src 'self'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
          "require-trusted-types-for 'script'",
        ]),
      );
      // The preview of a widget alone comes from another host: the checkout.
      const frames = `frame-src ${new URL(h.api.deps.config.CHECKOUT_URL).origin}`;
      expect(policy).toContain(frames);
      expect(policy.filter((rule) => rule !== frames).join()).not.toMatch(/unsafe|\*|https?:/);
      expect(headers['x-frame-options'] ?? 'DENY').toMatch(/DENY|SAMEORIGIN/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      const page = body.toString();
      expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|%[A-Z_]+%/);
      expect(page).toContain('<meta name="environment" content="test" />');
    },
  );

  it('are kept for ever by their hashed names, and come compressed', async () => {
    const path = await script();
    const plain = await raw(path);
    expect([plain.status, plain.headers['content-type'], plain.headers['content-encoding']]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      undefined,
    ]);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const packed = await raw(path, { 'accept-encoding': 'gzip, br' });
    expect([packed.headers['content-encoding'], packed.headers['vary']]).toEqual(['br', 'Accept-Encoding']);
    expect(brotliDecompressSync(packed.body).equals(plain.body)).toBe(true);
    expect(packed.body.length).toBeLessThan(plain.body.length / 2);
    expect((await raw(path, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip');
    expect((await raw(path, { 'accept-encoding': 'br;q=0' })).headers['content-encoding']).toBeUndefined();
    const head = await raw(path, {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
  });

  it.each([
    '/dashboard/assets/none.js',
    '/dashboard/assets/',
    '/dashboard/assets/..%2findex.html',
    '/dashboard/assets/../../../package.json',
    '/dashboard/assets/__proto__',
    '/dashboards',
  ])('are no other files: %s', async (path) => {
    const { body } = await raw(path);
    expect(body.toString()).not.toContain('"dependencies"');
    if (!path.includes('..')) expect((await raw(path)).status).toBe(404);
  });

  it('are only read', async () => {
    const { status, headers } = await raw('/dashboard', {}, 'POST');
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
  });
});

describe('a dashboard of another origin', () => {
  it('has a policy that the documentation tells, and that lets it show a logo of the API', () => {
    const policy = dashboardPolicy('https://pay.example', 'https://api.example');
    expect(policy).toContain("img-src 'self' https://api.example data:");
    const page = readFileSync(join(root, 'docs/decisions/0026-dashboard.md'), 'utf8');
    const [, written] = /```\n(default-src [^`]*)```/.exec(page)!;
    expect(written!.trim().split(/;\s+/)).toEqual(policy.split('; '));
  });

  const ours = 'http://localhost:4000';
  const ask = (origin: string, path = '/api/v1/auth/me') =>
    raw(path, { origin, 'access-control-request-method': 'PATCH' }, 'OPTIONS');

  it('may call the API with its cookies', async () => {
    const { status, headers } = await ask(ours);
    expect([status, headers['access-control-allow-origin'], headers['access-control-allow-credentials']]).toEqual([
      204,
      ours,
      'true',
    ]);
    expect(headers['access-control-allow-methods']).toContain('PATCH');
    const answer = await raw('/api/v1/auth/me', { origin: ours });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, ours]);
    expect(String(answer.headers['vary'])).toContain('Origin');
  });

  it.each(['http://localhost:4001', 'https://localhost:4000', 'null', 'http://localhost:4000.evil.example'])(
    'is no other origin: %s',
    async (origin) => {
      for (const { headers } of [await ask(origin), await raw('/api/v1/auth/me', { origin })])
        expect([headers['access-control-allow-origin'], headers['access-control-allow-credentials']]).toEqual([
          undefined,
          undefined,
        ]);
    },
  );
});
