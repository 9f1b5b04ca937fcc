import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { errorTable } from '../../domain/errors';
import { eventTypes } from '../../domain/webhooks/event-types';
import { paymentStatuses } from '../../domain/payments/payment';
import { openApiDocument } from '../../api/http/openapi';
import { parts, type Part } from '../../api/http/reference/parts';
import { routes } from '../../api/routes';
import { root } from '../../sandbox/paths';
import { startDocs, type DocsServer } from './server';

/** The documentation as it was built: its pages, their links, and the headers with which the API serves them. */

const built = join(root, 'dist', 'web', 'docs');
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
const pageNames = filesOf(built).filter((name) => name.endsWith('.html'));
/** `quickstart/index.html` is at `/docs/quickstart/`. */
const addressOf = (name: string): string => `/docs/${name.replace(/index\.html$/, '')}`;
const pages = new Map(pageNames.map((name) => [addressOf(name), readFileSync(join(built, name), 'utf8')]));

let docs: DocsServer;
beforeAll(async () => {
  docs = await startDocs();
});
afterAll(() => docs?.stop());
const ask = (path: string, init: RequestInit = {}) => fetch(docs.url + path, { redirect: 'manual', ...init });

/** With these headers alone: fetch adds some that ask for no cache. */
const statusOf = (path: string, headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    get(docs.url + path, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    }).on('error', reject);
  });

const decoded = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => decoded(match[1]!));
const idsOf = (text: string): string[] => all(text, /\sid="([^"]+)"/g);

describe('18.2: the documentation', () => {
  it('has every guide, and a page for each tag of the reference', () => {
    const guides = readdirSync(join(root, 'docs', 'guides')).filter((name) => name.endsWith('.md'));
    const source = readFileSync(join(root, 'web', 'docs', 'pages.mjs'), 'utf8');
    for (const name of guides) expect(source).toContain(`'docs/guides/${name}'`);
    const wanted = [
      '',
      'quickstart/',
      'payment-states/',
      'webhooks/',
      'errors/',
      'api/',
      'api/payments/',
      'api/dashboard/',
      'api/dashboard/team/',
    ];
    for (const one of wanted) expect([...pages.keys()]).toContain(`/docs/${one}`);
  });

  it('answers every page under a policy that lets nothing inline and nothing of others through', async () => {
    for (const [address, text] of pages) {
      const answer = await ask(address);
      const isMissing = address === '/docs/404.html';
      expect([address, answer.status]).toEqual([address, isMissing ? 404 : 200]);
      const policy = answer.headers.get('content-security-policy')!.split('; ');
      expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]));
      expect(policy.join()).not.toMatch(/unsafe|\*|https?:|data:/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await answer.text()).toBe(text);
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle="|<[^>]+\son\w+=/);
      for (const src of all(text, /\s(?:src|data-\w+)="([^"]+)"/g)) expect(src).toMatch(/^\/docs\//);
    }
  });

  it('has no dead link and no dead anchor, and no id twice', () => {
    const dead: string[] = [];
    const anchors = new Map([...pages].map(([address, text]) => [address, new Set(idsOf(text))]));
    const assets = new Set(filesOf(built).filter((name) => name.startsWith('assets')));
    for (const [address, text] of pages) {
      const ids = idsOf(text);
      if (new Set(ids).size !== ids.length)
        dead.push(`${address}: twice ${ids.filter((id, at) => ids.indexOf(id) !== at).join()}`);
      for (const href of all(text, /\shref="([^"]+)"/g)) {
        if (/^https:\/\//.test(href)) continue;
        const { pathname, hash } = new URL(href, `http://docs.test${address}`);
        const target = anchors.get(pathname);
        if (!target && !assets.has(pathname.slice('/docs/'.length))) dead.push(`${address}: ${href}`);
        else if (hash && !target?.has(decodeURIComponent(hash.slice(1))))
          dead.push(`${address}: ${href} has no such anchor`);
      }
    }
    expect(dead).toEqual([]);
  });

  it('tells every error, event, status and operation', () => {
    const errors = new Set(idsOf(pages.get('/docs/errors/')!));
    for (const [code, row] of Object.entries(errorTable) as Array<[string, { status: number; as?: string }]>)
      if (row.status !== 500) expect([code, errors.has(row.as ?? code)]).toEqual([code, true]);
    for (const type of Object.keys(eventTypes)) expect(pages.get('/docs/events/')).toContain(`>${type}</h2>`);
    const states = pages.get('/docs/payment-states/')!;
    const drawing = /<svg[\s\S]*<\/svg>/.exec(states)![0];
    for (const status of paymentStatuses) expect(drawing).toContain(`>${status}</text>`);
    for (const part of Object.keys(parts) as Part[]) {
      const folder = part === 'integrators' ? /^\/docs\/api\/[^/]+\/$/ : new RegExp(`^/docs/api/${part}/`);
      const ids = new Set([...pages].filter(([address]) => folder.test(address)).flatMap(([, text]) => idsOf(text)));
      const { paths } = openApiDocument(routes, { API_URL: 'https://api.example' }, undefined, part);
      for (const item of Object.values(paths!))
        for (const { operationId } of Object.values(item as Record<string, { operationId: string }>))
          expect([operationId, ids.has(operationId)]).toEqual([operationId, true]);
    }
  });

  it('shows every value of a choice, an empty one in words', () => {
    for (const [address, text] of pages) expect([address, text.includes('<code></code>')]).toEqual([address, false]);
    expect(pages.get('/docs/api/payments/')).toMatch(/<code>false<\/code>\s+or\s+empty/);
  });

  it('leads from addresses without their last slash, and says where there is no page', async () => {
    const short = await ask('/docs');
    expect([short.status, short.headers.get('location')]).toEqual([308, '/docs/']);
    const query = await ask('/docs/webhooks?a=1');
    expect([query.status, query.headers.get('location')]).toEqual([308, '/docs/webhooks/?a=1']);
    for (const path of ['/docs/none', '/docs/none/', '/docs/__proto__', '/docs/..%2f..%2fpackage.json']) {
      const answer = await ask(path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        'text/html; charset=utf-8',
      ]);
      expect(await answer.text()).toContain('<h1>There is no such page</h1>');
    }
    for (const path of ['/docs/assets/none.js', '/docs/assets/..%2findex.html', '/docsx'])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    const posted = await ask('/docs/', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await ask('/docs/', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('comes compressed, once, and for ever where a name has its hash', async () => {
    const style = all(pages.get('/docs/')!, /rel="stylesheet" href="([^"]+)"/g)[0]!;
    const asset = await ask(style);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const page = await ask('/docs/', { headers: { 'Accept-Encoding': 'br' } });
    expect([page.headers.get('content-encoding'), page.headers.get('cache-control')]).toEqual(['br', 'no-cache']);
    const known = { 'if-none-match': page.headers.get('etag')!, 'accept-encoding': 'br' };
    expect(await statusOf('/docs/', known)).toBe(304);
    expect(await statusOf('/docs/', { 'if-none-match': known['if-none-match'] })).toBe(200);
    for (const name of filesOf(built).filter((one) => one.endsWith('.br')))
      expect(
        brotliDecompressSync(readFileSync(join(built, name))).equals(readFileSync(join(built, name.slice(0, -3)))),
      ).toBe(true);
  });

  it('is built the same each time, for any base', () => {
    const out = mkdtempSync(join(tmpdir(), 'docs-'));
    const build = (base: string, folder: string): void => {
      const env = { ...process.env, DOCS_BASE: base, DOCS_OUT: join(out, folder) };
      const { status, stderr } = spawnSync(process.execPath, ['web/docs/build.mjs'], {
        cwd: root,
        env,
        encoding: 'utf8',
      });
      expect([status, status ? stderr : '']).toEqual([0, '']);
    };
    try {
      build('/docs/', 'again');
      expect(filesOf(join(out, 'again'))).toEqual(filesOf(built));
      for (const name of filesOf(built))
        expect([name, readFileSync(join(out, 'again', name)).equals(readFileSync(join(built, name)))]).toEqual([
          name,
          true,
        ]);
      build('/', 'alone');
      const first = readFileSync(join(out, 'alone', 'index.html'), 'utf8');
      expect(first).toContain('href="/quickstart/"');
      expect(first).not.toContain('/docs/assets');
      expect(filesOf(join(out, 'alone')).filter((name) => name.endsWith('.html'))).toEqual(pageNames);
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });
});
