import { connect } from 'node:net';
import { createApiKey, revokeApiKey } from '../../db/access/api-keys';
import { eventually, secretsKey, startHarness, type Harness, type Shop } from './harness';

let h: Harness;
let shop: Shop;
beforeAll(async () => {
  h = await startHarness();
  shop = await h.shop();
});
afterAll(() => h?.stop());

/** One request, written by hand, for what fetch would never send. */
const raw = (lines: string[], body = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(h.url);
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`),
    );
    let text = '';
    socket.on('data', (part) => (text += part.toString()));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
const statusOf = (response: string): number => Number(response.split(' ')[1]);

describe('credentials', () => {
  const list = (headers: Record<string, string>) => h.call('GET', '/api/v1/payments', { headers });
  const token = { error: 'Invalid or expired token' };
  const key = { error: 'Invalid API key' };

  it.each([
    ['none', {}, token],
    ['a session that is none', { Authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }, token],
    ['basic', { Authorization: 'Basic dXNlcjpwYXNz' }, token],
    ['an unknown key', { Authorization: `Bearer svc_live_${'x'.repeat(32)}` }, key],
    ['a publishable key', { Authorization: `Bearer pk_live_${'x'.repeat(32)}` }, key],
  ])('refuse %s', async (_, headers, body) => {
    const answer = await list(headers as Record<string, string>);
    expect([answer.status, answer.body]).toEqual([401, body]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('need the scope, and name it', async () => {
    const { apiKey } = await createApiKey(h.db, shop.id, {
      secretsKey,
      name: 'r',
      createdBy: null,
      scopes: ['payments:read'],
    });
    const answer = await h.call('POST', '/api/v1/payments', { key: apiKey, body: { amount: 5 } });
    expect([answer.status, answer.body]).toEqual([
      403,
      { error: 'Insufficient scope', requiredScope: 'payments:create' },
    ]);
    expect((await h.call('GET', '/api/v1/payments', { key: apiKey })).status).toBe(200);
  });

  it('end within seconds when revoked, at once when expired', async () => {
    const { apiKey, row } = await createApiKey(h.db, shop.id, {
      secretsKey,
      name: 'r',
      createdBy: null,
      scopes: ['payments:read'],
    });
    expect((await h.call('GET', '/api/v1/payments', { key: apiKey })).status).toBe(200);
    await revokeApiKey(h.db, shop.id, row.id);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await h.call('GET', '/api/v1/payments', { key: apiKey })).body).toEqual(key);
    const old = await createApiKey(h.db, shop.id, {
      secretsKey,
      name: 'old',
      createdBy: null,
      scopes: ['payments:read'],
      expiresAt: new Date(Date.now() - 1000),
    });
    expect((await h.call('GET', '/api/v1/payments', { key: old.apiKey })).body).toEqual(key);
  });

  it('hold only from the addresses listed; a forged header changes nothing', async () => {
    const make = (allowedIps: string[]) =>
      createApiKey(h.db, shop.id, { secretsKey, name: 'ip', createdBy: null, scopes: ['payments:read'], allowedIps });
    const { apiKey } = await make(['203.0.113.0/24']);
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    const answer = await h.call('GET', '/api/v1/payments', { key: apiKey, headers });
    expect([answer.status, answer.body]).toEqual([403, { error: 'IP address not allowed' }]);
    const { apiKey: local } = await make(['127.0.0.0/8']);
    expect((await h.call('GET', '/api/v1/payments', { key: local })).status).toBe(200);
  });

  it('are no use to a suspended merchant', async () => {
    const idle = await h.shop();
    await h.db.query("UPDATE merchant SET status = 'suspended' WHERE id = $1", [idle.id]);
    const answer = await h.call('POST', '/api/v1/payments', { key: idle.key, body: { amount: 5 } });
    expect([answer.status, answer.body]).toEqual([403, { error: 'Merchant account is not active' }]);
  });

  it('are stored as a keyed hash, and their use is noted', async () => {
    const [row] = await h.db.query('SELECT * FROM api_key WHERE merchant_id = $1', [shop.id]);
    expect(JSON.stringify(row)).not.toContain(shop.key.slice(9));
    expect(row.last4).toBe(shop.key.slice(-4));
    await h.call('GET', '/api/v1/payments', { key: shop.key });
    const usedFrom = async () =>
      (await h.db.query('SELECT last_used_ip FROM api_key WHERE id = $1', [row.id]))[0].last_used_ip;
    await eventually(async () => (await usedFrom()) !== null);
    expect(await usedFrom()).toBe('127.0.0.1');
  });
});

describe('requests', () => {
  it('are named: a sane id is echoed, others are replaced', async () => {
    const idOf = async (id: string) =>
      (await h.call('GET', '/healthz', { headers: { 'X-Request-Id': id } })).headers.get('x-request-id');
    expect(await idOf('my-request.1')).toBe('my-request.1');
    for (const id of ['short', 'x'.repeat(65), 'has space here', '<script>alert'])
      expect(await idOf(id)).toMatch(/^[0-9a-f]{24}$/);
  });

  it('for another host are refused', async () => {
    const answer = await raw(['GET /getInvoiceStatus?invoiceId=x HTTP/1.1', 'Host: evil.example']);
    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain('Unknown host');
    expect(statusOf(await raw(['GET /getInvoiceStatus HTTP/1.1']))).toBe(400);
    expect(statusOf(await raw(['GET /healthz HTTP/1.1', 'Host: 10.0.0.7:3000']))).toBe(200);
  });

  it.each([
    ['/api/v1/payments', '{"amount":1e400}'],
    ['/api/v1/payments', '{"amount":5,"expiresIn":1e400}'],
    ['/api/v1/conversions', '{"fromCurrency":"ETH","toCurrency":"BTC","fromAmount":1e400}'],
    ['/api/v1/conversions', '{"fromCurrency":"ETH","toCurrency":"BTC","fromAmount":"1","quotedRate":1e400}'],
  ])('to %s with a number that is none, %s, are refused', async (path, text) => {
    const answer = await h.call('POST', path, { key: shop.key, text });
    expect([answer.status, answer.body.error?.code ?? answer.body.error]).toEqual([400, expect.anything()]);
    expect(answer.text).toMatch(/must be|amount|body/);
  });

  it('with a body that is too large, packed or no JSON are refused', async () => {
    const post = (headers: Record<string, string>, text: string) =>
      h.call('POST', '/api/v1/payments', { key: shop.key, text, headers });
    expect((await post({}, JSON.stringify({ amount: 5, metadata: 'x'.repeat(70_000) }))).status).toBe(413);
    expect((await post({ 'Content-Encoding': 'gzip' }, '{}')).status).toBe(415);
    expect((await post({ 'Content-Type': 'text/plain' }, '{"amount":5}')).status).toBe(415);
    const deep = `{"amount":5,"other":${'['.repeat(32)}${']'.repeat(32)}}`;
    expect((await post({}, deep)).status).toBe(400);
    expect((await post({}, `{"amount":5,"metadata":${'['.repeat(31)}${']'.repeat(31)}}`)).status).toBe(201);
    const chunked = await raw(
      [
        'POST /api/v1/payments HTTP/1.1',
        'Host: 127.0.0.1',
        `Authorization: Bearer ${shop.key}`,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
      ],
      `11000\r\n${'x'.repeat(0x11000)}\r\n0\r\n\r\n`,
    );
    expect(statusOf(chunked)).toBe(413);
  });

  it('of other methods are told which there are', async () => {
    const wrong = await h.call('DELETE', '/api/v1/payments');
    expect([wrong.status, wrong.body]).toEqual([
      405,
      { ok: false, error: { code: 'METHOD_NOT_ALLOWED', message: 'Method not allowed' } },
    ]);
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    expect((await h.call('OPTIONS', '/api/v1/payments')).status).toBe(204);
    const head = await h.call('HEAD', '/healthz');
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await h.call('GET', '/api/v1/nothing')).body).toEqual({
      ok: false,
      error: { code: 'NOT_FOUND', message: 'Not found' },
    });
    expect((await h.call('GET', '/nothing')).body).toEqual({ error: 'Not found' });
    expect((await h.call('GET', '/api/v1/payments/%E0%A4%A')).status).toBeLessThan(500);
  });

  it('get headers that keep browsers safe', async () => {
    const { headers } = await h.call('GET', '/healthz');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('never tell what went wrong inside', async () => {
    await h.db.query('ALTER TABLE merchant_wallet RENAME TO gone');
    try {
      const answer = await h.call('GET', '/api/v1/merchant-wallets', { key: shop.key });
      expect([answer.status, answer.body]).toEqual([
        500,
        {
          ok: false,
          error: {
            code: 'INTERNAL_ERROR',
            message: 'Internal error',
            requestId: answer.headers.get('x-request-id'),
          },
        },
      ]);
    } finally {
      await h.db.query('ALTER TABLE gone RENAME TO merchant_wallet');
    }
  });
});

describe('limits', () => {
  it('are exact at the edge, however many come at once', async () => {
    const own = await startHarness();
    try {
      const store = await own.shop();
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => own.call('GET', '/api/v1/ledger/balances', { key: store.key })),
      );
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(60);
      const refused = answers.find((answer) => answer.status === 429)!;
      expect(refused.body).toEqual({ ok: false, error: { code: 'RATE_LIMITED', message: 'Too many requests' } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const other = await own.shop();
      expect((await own.call('GET', '/api/v1/ledger/balances', { key: other.key })).status).toBe(200);
    } finally {
      await own.stop();
    }
  });

  it('stop those who guess keys, not those who have one', async () => {
    const own = await startHarness();
    try {
      const store = await own.shop();
      const guess = () => own.call('GET', '/api/v1/payments', { key: `svc_live_${Math.random()}` });
      const answers = await Promise.all(Array.from({ length: 70 }, guess));
      expect(answers.filter((answer) => answer.status === 401)).toHaveLength(60);
      expect((await guess()).status).toBe(429);
      expect((await own.call('GET', '/api/v1/payments', { key: store.key })).status).toBe(200);
    } finally {
      await own.stop();
    }
  });
});

describe('a database that is away', () => {
  it('is 503 in time, and well again when it is back', async () => {
    const own = await startHarness({ DATABASE_POOL: '2', DATABASE_WAIT_MS: '1500' });
    try {
      const store = await own.shop();
      const pool = own.api.deps.db;
      const holders = [pool.createQueryRunner(), pool.createQueryRunner()];
      for (const holder of holders) await holder.connect();
      const started = Date.now();
      const answer = await own.call('GET', '/api/v1/payments', { key: store.key });
      expect([answer.status, answer.body.error.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
      expect(Date.now() - started).toBeLessThan(10_000);
      expect((await own.call('GET', '/readyz')).status).toBe(503);
      expect((await own.call('GET', '/healthz')).status).toBe(200);
      for (const holder of holders) await holder.release();
      expect((await own.call('GET', '/readyz')).status).toBe(200);
      expect((await own.call('GET', '/api/v1/payments', { key: store.key })).status).toBe(200);
    } finally {
      await own.stop();
    }
  });
});
