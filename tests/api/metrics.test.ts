import { freePort } from '../../sandbox/ports';
import { routes } from '../../api/routes';
import { Registry } from 'prom-client';
import { createDataSource } from '../../db/data-source';
import type { NetworkId } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { Readings } from '../../workers/readings';
import { urlFor } from '../setup/postgres';
import { eventually, startHarness, type Harness, type Shop } from './harness';

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

const warn = jest.fn();

/** A process that would read the metrics of the service as a whole; `end` leaves that to another. */
function reader(networks: readonly NetworkId[] = h.api.deps.config.networks) {
  const registry = new Registry();
  const url = urlFor(h.databaseUrl, 'payments');
  const db = createDataSource(url, { pool: 1, keepsIdle: true });
  const readings = new Readings(db, registry, networks, { warn }, 0);
  return {
    text: async () => {
      await readings.update();
      return registry.metrics();
    },
    // The pool says goodbye and waits for nobody: PostgreSQL frees the lock when it has read that.
    end: async () => {
      const [{ pid }] = await db.query('SELECT pg_backend_pid() AS pid');
      await db.destroy();
      await eventually(
        async () => (await h.db.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])).length === 0,
      );
    },
  };
}
async function ofService(networks?: readonly NetworkId[]): Promise<string> {
  const one = reader(networks);
  try {
    return await one.text();
  } finally {
    await one.end();
  }
}

/** Every series that a scrape would show, by name and labels, without those of V8's kinds of garbage collection: a kind
 *  has none before it happens for the first time. */
async function series(): Promise<string[]> {
  const text = `${await h.api.deps.metrics.text()}\n${await ofService()}`;
  const all = new Set(text.split('\n').flatMap((line) => /^[a-z_]+(?:\{[^}]*\})?(?= )/.exec(line)?.[0] ?? []));
  return [...all].filter((one) => !one.startsWith('nodejs_gc_'));
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
    expect(text).toMatch(/database_pool_connections\{state="idle"\} /);
    expect(text).toMatch(/database_pool_wait_seconds_count [1-9]/);
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
    expect(await ofService([...networks, 'litecoin'])).toMatch(/_lag_seconds\{network="litecoin"\} 2\d{6}/);
    const text = await ofService(networks);
    expect(text).not.toContain('litecoin');
    expect(text).toMatch(/payments_rate_age_seconds\{fiat="USD"\} \d{1,3}(\.\d+)?\n/);
  });

  it('tell what the database knows of networks, transactions, limits and books', async () => {
    const merchantId = shop.id;
    await h.db.query(
      `UPDATE chain_cursor SET reorganised_at = now(), reorganised_depth = 3, stale_since = now() - interval '90 s',
              head_height = height + 7 WHERE network = 'bitcoin'`,
    );
    await h.db.query(
      `WITH i AS (
         INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
           owner_kind, owner_id, created_at)
         VALUES ('sweep', 'x/1', 'bitcoin', 'BTC', 'a', '[]', 1, 1000, 'sent', 'sweep', 'x', now() - interval '1 hour')
         RETURNING id)
       INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, unit_price, max_fee_units, moved_units,
         outputs, status, sent_at)
       SELECT id, 1, 'bitcoin', 't', '', 'a', 1, 950, 1, '[]', 'sent', now() - interval '10 minutes' FROM i`,
    );
    await h.db.query(
      `INSERT INTO egress_limit (scope, daily_usd, hourly_count, set_by, active_at) VALUES
         ('platform', 1000, 100, 'x', now()), ('platform/' || $1, 200, NULL, 'x', now())`,
      [merchantId],
    );
    await h.db.query(
      `INSERT INTO egress_admission (kind, ref, merchant_id, usd, admitted_at)
       VALUES ('withdrawal', $1, $2, 150, now())`,
      [newId(), merchantId],
    );
    await h.db.query(`INSERT INTO audit_run (at, violations, duration_ms) VALUES (now(), '[{}, {}]', 1)`);
    await h.db.query(
      `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at)
         VALUES ('BTC', 'USD', 100, '[{"value":"99"},{"value":"101"},{"value":"500","refused":"far"}]', now())
         RETURNING *)
       UPDATE rate_latest l SET rate_id = r.id, value = r.value, taken_at = r.taken_at FROM r
        WHERE l.currency = r.currency AND l.fiat = r.fiat`,
    );
    const text = await ofService();
    const sorted = (one: string): string =>
      one.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`);
    const values = new Map(text.split('\n').map((line) => [sorted(line.split(' ')[0]!), Number(line.split(' ')[1])]));
    const valueOf = (of: string): number => values.get(of) ?? NaN;
    const expected: Array<readonly [of: string, value: number, within: number]> = [
      ['payments_database_up', 1, 0],
      ['payments_reader', 1, 0],
      ['payments_reorganisation_depth_blocks{network="bitcoin"}', 3, 0],
      ['payments_scan_blocks_behind{network="bitcoin"}', 7, 0],
      ['payments_node_stale_seconds{network="bitcoin"}', 90, 30],
      ['payments_node_stale_seconds{network="ethereum"}', 0, 0],
      ['payments_intents{network="bitcoin",status="sent"}', 1, 0],
      ['payments_intent_age_seconds{network="bitcoin",status="sent"}', 3600, 30],
      ['payments_unconfirmed_age_seconds{direction="out",network="bitcoin"}', 600, 30],
      ['payments_fee_budget_used_ratio{network="bitcoin"}', 0.95, 0.001],
      ['payments_limit_used_ratio{limit="daily_usd",scope="platform"}', 0.15, 0.001],
      ['payments_limit_used_ratio{limit="hourly_count",scope="platform"}', 0.01, 0.001],
      ['payments_limit_used_ratio{limit="daily_usd",scope="merchant"}', 0.75, 0.001],
      ['payments_audit_violations', 2, 0],
      ['payments_audit_age_seconds', 0, 30],
      ['payments_rate_spread_ratio{currency="BTC"}', 0.02, 0.001],
    ];
    for (const [of, value, within] of expected)
      expect([of, Math.abs(valueOf(of) - value) <= within, valueOf(of)]).toEqual([of, true, valueOf(of)]);
    await h.db.query(`UPDATE chain_cursor SET reorganised_at = now() - interval '61 minutes', stale_since = NULL`);
    expect(await ofService()).toContain('payments_reorganisation_depth_blocks{network="bitcoin"} 0');
  });

  it('read the database in one process, and in another when that one ends', async () => {
    const [first, second] = [reader(), reader()];
    try {
      expect(await first.text()).toMatch(/payments_reader 1\n/);
      const idle = await second.text();
      expect(idle).toContain('payments_reader 0');
      expect(idle).not.toMatch(/^payments_outbox_age_seconds /m);
      expect(await first.text()).toMatch(/^payments_outbox_age_seconds \d/m);
      await first.end();
      expect(await second.text()).toMatch(/^payments_outbox_age_seconds \d/m);
    } finally {
      await second.end();
    }
  });

  it('say that the database does not answer, and that they do', async () => {
    const registry = new Registry();
    const nowhere = createDataSource(`postgres://nobody@127.0.0.1:${await freePort()}/x`, { pool: 1 });
    warn.mockClear();
    await new Readings(nowhere, registry, ['bitcoin'], { warn }, 0).update();
    expect(await registry.metrics()).toMatch(/payments_database_up 0\n/);
    expect(warn).toHaveBeenCalledTimes(1);
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
