import { Client, Connection } from '@temporalio/client';
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { createApiKey } from '../../db/access/api-keys';
import { createDataSource } from '../../db/data-source';
import { createMerchant } from '../../db/access/merchants';
import { addWallet } from '../../db/wallets/wallets';
import { scopes } from '../../domain/access/access';
import { parseConfig } from '../../domain/config';
import { startStack, type Stack } from '../../sandbox/stack';

let stack: Stack;
let db: DataSource;
let key: string;
const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-commands-'));

beforeAll(async () => {
  chmodSync(dataDir, 0o711);
  stack = await startStack({
    dataDir,
    ports: 'free',
    miner: false,
    services: { checkout: 0 },
    env: { NODE_ENV: 'test', RATE_LIMIT_STANDARD: '100000', DATABASE_WAIT_MS: '15000' },
  });
  db = createDataSource(stack.env.DATABASE_URL!, { name: 'test' });
  await db.initialize();
  const config = parseConfig(stack.env);
  const codecs = createCodecs(config.chain);
  const secretsKey = config.SECRETS_KEY;
  const merchant = await createMerchant(db, { secretsKey, name: 'Shop' });
  await until(async () => (await db.query('SELECT FROM live_key')).length === 6);
  for (const currency of ['BTC', 'ETH'])
    await addWallet(db, { merchantId: merchant.id, currency }, codecs[currency === 'BTC' ? 'bitcoin' : 'ethereum']);
  key = (await createApiKey(db, merchant.id, { secretsKey, name: 'test', createdBy: null, scopes })).apiKey;
  await until(async () => (await call('GET', '/api/v1/min-orders')).body.data.length === 4);
}, 180_000);

afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}, 60_000);

async function until(condition: () => Promise<boolean>, ms = 60_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not so after ${ms} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
type Answer = { status: number; body: any };
async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(stack.apiUrl + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}
async function create(body: object): Promise<{ paymentId: string; slug: string; amount: number }> {
  const answer = await call('POST', '/api/v1/payments', body);
  expect(answer.status).toBe(201);
  return { ...answer.body, slug: answer.body.invoiceUrl.split('/').pop() };
}
/** Where no outcome is known in time it is asked again; `isDone`: it was. */
async function command(path: string, body?: unknown, isDone = async () => false): Promise<Answer> {
  for (let isAgain = false; ; isAgain = true) {
    const answer = await call('POST', path, body);
    if (isAgain && (await isDone())) return { status: 200, body: { success: true, status: 'CANCELLED' } };
    if (answer.status !== 503) return answer;
  }
}
const statusOf = async (id: string) => (await call('GET', `/api/v1/payments/${id}`)).body.status;

describe('commands', () => {
  it('let the merchant cancel, once', async () => {
    const { paymentId } = await create({ amount: 100, currency: 'BTC' });
    const isCancelled = async () => (await statusOf(paymentId)) === 'CANCELLED';
    expect(await command(`/api/v1/payments/${paymentId}/cancel`, { reason: 'sold out' }, isCancelled)).toEqual({
      status: 200,
      body: { success: true, status: 'CANCELLED' },
    });
    expect(await statusOf(paymentId)).toBe('CANCELLED');
    expect(await command(`/api/v1/payments/${paymentId}/cancel`)).toEqual({
      status: 400,
      body: { error: 'Payment not found or cannot be cancelled' },
    });
    const timeline = await call('GET', `/api/v1/payments/${paymentId}/timeline`);
    expect(timeline.body.data.items.map((item: { to: string }) => item.to)).toEqual(['WAITING', 'CANCELLED']);
  });

  it('let the payer cancel', async () => {
    const { slug, paymentId } = await create({ amount: 100 });
    const isCancelled = async () => (await statusOf(paymentId)) === 'CANCELLED';
    expect(await command(`/invoice/${slug}/cancel`, { confirm: true }, isCancelled)).toEqual({
      status: 200,
      body: { success: true, status: 'CANCELLED' },
    });
    expect(await statusOf(paymentId)).toBe('CANCELLED');
  });

  it('let payer and merchant choose and change the currency', async () => {
    const { slug, paymentId } = await create({ amount: 100 });
    const chosen = await command(`/invoice/${slug}/select-currency`, { currency: 'btc' });
    expect(chosen).toMatchObject({ status: 200, body: { paymentId, currency: 'BTC', status: 'WAITING' } });
    expect(chosen.body.depositAddress).toMatch(/^bcrt1/);
    const changed = await command(`/api/v1/payments/${paymentId}/select-currency`, { currency: 'ETH' });
    expect(changed).toMatchObject({ status: 200, body: { paymentId, currency: 'ETH', status: 'WAITING' } });
    expect(changed.body.depositAddress).toMatch(/^0x/);
    const [row] = await db.query('SELECT count(*)::int AS n FROM address WHERE payment_id = $1', [paymentId]);
    expect(row.n).toBe(2);
  });

  it('renew a quote that has expired, and only that', async () => {
    const made = await create({ amount: 100, currency: 'BTC' });
    await db.query("UPDATE payment SET quote_expires_at = now() - interval '1 second' WHERE id = $1", [made.paymentId]);
    const path = `/invoice/${made.slug}/refresh-quote`;
    const both = await Promise.all([call('POST', path), call('POST', path)]);
    for (const { status, body } of both) {
      expect([status, body.status]).toEqual([200, 'WAITING']);
      expect(new Date(body.quoteExpiresAt).getTime()).toBeGreaterThan(Date.now());
    }
    const [row] = await db.query('SELECT state_version FROM payment WHERE id = $1', [made.paymentId]);
    expect(row.state_version).toBe(2);
  });

  it('show each change on the stream', async () => {
    const { slug, paymentId } = await create({ amount: 100, currency: 'BTC' });
    const response = await fetch(`${stack.apiUrl}/invoice/${slug}/events`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = (await reader.read()).value ?? '';
    await call('POST', `/api/v1/payments/${paymentId}/cancel`);
    for (;;) {
      const { value, done } = await reader.read();
      seen += value ?? '';
      if (done) break;
    }
    expect(seen).toContain('"status":"WAITING"');
    expect(seen).toContain('"status":"CANCELLED"');
  });

  it('leave one winner when all come at once', async () => {
    const { paymentId, slug } = await create({ amount: 100 });
    const answers = await Promise.all([
      call('POST', `/api/v1/payments/${paymentId}/cancel`),
      call('POST', `/invoice/${slug}/select-currency`, { currency: 'ETH' }),
      call('POST', `/api/v1/payments/${paymentId}/select-currency`, { currency: 'BTC' }),
    ]);
    for (const { status } of answers) expect([200, 400, 503]).toContain(status);
    expect(['CANCELLED', 'WAITING']).toContain(await statusOf(paymentId));
    const [gap] = await db.query(
      `SELECT max(seq) - count(*) AS gap FROM event e WHERE merchant_id = (SELECT merchant_id FROM payment
         WHERE id = $1)`,
      [paymentId],
    );
    expect(gap.gap).toBe('0');
  });
});

describe('SIGTERM', () => {
  it('lets every request under way be answered', async () => {
    const under = Array.from({ length: 40 }, (_, n) =>
      call('POST', '/api/v1/payments', { amount: 100, currency: n % 2 ? 'BTC' : 'ETH' }),
    );
    // By then each of them has its connection.
    await Promise.all(under.slice(0, 8));
    const stopped = stack.part('api-1').stop();
    const answers = await Promise.all(under);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    await stopped;
    await expect(fetch(`${stack.apiUrl}/healthz`)).rejects.toThrow();
    await stack.part('api-1').start();
    expect((await call('GET', '/api/v1/payments?limit=1')).status).toBe(200);
  });
});

describe('while Temporal is away', () => {
  it('payments are created and cancelled, and their workflows hear of it when it is back', async () => {
    await stack.temporal.kill9();
    const cancelled = await create({ amount: 100, currency: 'BTC' });
    const waiting = await create({ amount: 100, currency: 'BTC' });
    expect((await call('POST', `/api/v1/payments/${cancelled.paymentId}/cancel`)).status).toBe(200);
    expect(await statusOf(cancelled.paymentId)).toBe('CANCELLED');
    await stack.temporal.start();
    const connection = Connection.lazy({ address: stack.temporal.url });
    const { workflow } = new Client({ connection });
    const isAt = (id: string, status: string): Promise<boolean> =>
      workflow
        .getHandle(`payment/${id}`)
        .describe()
        .then(
          (found) => found.status.name === status,
          () => false, // not started yet
        );
    await until(() => isAt(waiting.paymentId, 'RUNNING'));
    await until(() => isAt(cancelled.paymentId, 'COMPLETED'));
    await connection.close();
    expect(await statusOf(waiting.paymentId)).toBe('WAITING');
  }, 120_000);
});
