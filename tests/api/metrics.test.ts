import { freePort } from '../../sandbox/ports';
import { Metrics } from '../../api/http/metrics';
import { routes } from '../../api/routes';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { startHarness, type Harness, type Shop } from './harness';

let h: Harness;
let shop: Shop;
let port: number;
beforeAll(async () => {
  port = await freePort();
  h = await startHarness({ METRICS_PORT: String(port) });
  shop = await h.shop();
});
afterAll(() => h?.stop());

const scraped = async (path = '/metrics'): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);

/** Every series that a scrape would show, by name and labels. */
async function series(): Promise<string[]> {
  const fresh = new Metrics(h.db, h.api.deps.config.networks); // What the database tells is kept for a while.
  const text = `${await h.api.deps.metrics.text()}\n${await fresh.text()}`;
  return [...new Set(text.split('\n').flatMap((line) => /^[a-z_]+(?:\{[^}]*\})?(?= )/.exec(line)?.[0] ?? []))];
}
const ofRequests = async (): Promise<string[]> => (await series()).filter((one) => one.startsWith('http_'));

describe('D: metrics', () => {
  it('are 404 on the public port, whoever asks', async () => {
    for (const method of ['GET', 'HEAD', 'POST'])
      for (const key of [undefined, shop.key])
        expect([method, (await h.call(method, '/metrics', { key })).status]).toEqual([method, 404]);
    expect(routes.map(({ path }) => path)).not.toContain('/metrics');
    expect((await h.call('GET', '/metrics')).text).not.toContain('payments_');
  });

  it('have a port of their own on loopback, with health beside them', async () => {
    expect(h.api.internalUrl).toBe(`http://127.0.0.1:${port}`);
    expect(parseConfig({}).METRICS_HOST).toBe('127.0.0.1');
    await h.call('GET', '/api/v1/payments', { key: shop.key });
    const answer = await scraped();
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(text).toMatch(/http_requests_total\{method="GET",route="\/api\/v1\/payments",status="200"\} /);
    expect(text).toMatch(/http_request_duration_seconds_count\{route="\/api\/v1\/payments"\} /);
    expect(text).toMatch(/payments_outbox_age_seconds \d/);
    expect(text).toMatch(/payments_scan_lag_seconds\{network="bitcoin"\} /);
    expect(text).toContain('payments_database_up 1');
    for (const [path, status] of [
      ['/healthz', 200],
      ['/readyz', 200],
      ['/api/v1/payments', 404],
      ['/metrics/', 404],
    ] as const)
      expect([path, (await scraped(path)).status]).toEqual([path, status]);
  });

  it('tell nothing of a network that is off', async () => {
    const old = `now() - interval '30 days'`;
    await h.db.query(
      `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('litecoin', 100, 'h', 100, ${old})`,
    );
    await h.db.query(
      `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at)
                  VALUES ('LTC', 'USD', 80, '[]', ${old}) RETURNING *)
       INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at)
       SELECT currency, fiat, id, value, taken_at FROM r`,
    );
    const { networks } = h.api.deps.config;
    expect(await new Metrics(h.db, [...networks, 'litecoin']).text()).toMatch(
      /_lag_seconds\{network="litecoin"\} 2\d{6}/,
    );
    const text = await new Metrics(h.db, networks).text();
    expect(text).not.toContain('litecoin');
    expect(text).toMatch(/payments_rate_age_seconds\{fiat="USD"\} \d{1,3}(\.\d+)?\n/);
  });

  it('have no port at all unless one is set', async () => {
    const own = await startHarness();
    try {
      expect(own.api.internalUrl).toBeNull();
    } finally {
      await own.stop();
    }
  });

  it('grow by no merchant, path, id, method or host that a caller makes up', async () => {
    const calls = async (of: Shop, id: string, method: string): Promise<void> => {
      await h.call('POST', '/api/v1/payments', { key: of.key, body: { amount: 25 } });
      await h.call('GET', `/api/v1/payments/${id}?page=${id}`, { key: of.key });
      await h.call('GET', `/invoice/${id}/status`);
      await h.call('GET', `/${id}/${id}`, { key: `sk_${id}` });
      await h.call('GET', '/api/v1/payments', { headers: { 'User-Agent': id } });
      await h.call(method, `/${id}`);
      await h.call(method, '/api/v1/payments');
      await h.db.query(
        `INSERT INTO incident (kind, key, subject_kind, subject_id, details) VALUES ('test', $1, 'payment', $1, '{}')`,
        [id],
      );
    };
    for (const method of ['GET', 'PUT', 'PROPFIND']) await calls(shop, newId(), method);
    const before = await series();
    for (const method of ['PROPFIND', 'MKCOL', 'PURGE', 'REPORT', 'SEARCH', 'LOCK', 'BIND', 'GET', 'PUT'])
      await calls(await h.shop(), newId(), method);
    const after = await series();
    expect(after.filter((one) => !before.includes(one))).toEqual([]);
    expect(after.length).toBe(before.length);
    expect(after.join('\n')).not.toContain(shop.id);
  });

  it('stay small when every route has answered with every status', async () => {
    const { metrics } = h.api.deps;
    for (const { path, method } of routes)
      for (const status of [200, 400, 401, 403, 404, 409, 429, 500, 503])
        metrics.note({ method: method.toUpperCase(), route: path, status, seconds: 0.02 });
    expect((await ofRequests()).length).toBeLessThan(routes.length * 20);
    expect((await metrics.text()).length).toBeLessThan(400_000);
  });

  it('are written once for any number of scrapes at the same time', async () => {
    const text = jest.spyOn(h.api.deps.metrics, 'text');
    // Later than what was written before, and standing still: a busy machine takes its time for fifty answers.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 10_000);
    try {
      const answers = await Promise.all(Array.from({ length: 50 }, () => scraped()));
      for (const answer of answers) expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
      expect(text).toHaveBeenCalledTimes(1);
    } finally {
      clock.mockRestore();
      text.mockRestore();
    }
  });
});
