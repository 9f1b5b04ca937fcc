import type { ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { webhookActivities } from '../../activities/webhooks/webhooks';
import { parseConfig } from '../../domain/config';
import { freePort } from '../../sandbox/ports';
import type { Ended } from '../child';
import { eventually, secretsKey, startHarness, type Harness, type Shop } from '../api/harness';
import { noLog } from '../shared/no-log';
import { eachSample as each, endingOf, filesOf, samples, Samples } from './runner';

/** Samples that create payments, read, and take webhooks, against the API and its own webhooks. */

let h: Harness;
let shop: Shop;
let copied: Samples;
let receiver: Server;
let receiverUrl: string;
const received: Array<{ headers: IncomingHttpHeaders; body: Buffer }> = [];

const run = (file: string, env: Record<string, string> = {}, input: string | Buffer = ''): Promise<Ended> =>
  copied.run(file, { API_URL: h.url, API_KEY: shop.key, ...env }, input);

/** Delivers the events of a payment, each once, as the worker does. */
async function deliver(paymentId: string): Promise<void> {
  const rows = await h.db.query<Array<{ id: string }>>(
    'SELECT d.id FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = $1 ORDER BY e.seq',
    [paymentId],
  );
  const config = parseConfig({ ALLOW_INSECURE_CALLBACKS: 'true', SECRETS_KEY: secretsKey });
  const { deliverOnce } = webhookActivities({ db: h.db, config, log: noLog });
  for (const { id } of rows) await deliverOnce(id, 1);
}
async function pay(merchantOrderId: string, ipnCallbackUrl: string): Promise<string> {
  const body = { amount: 25, currency: 'BTC', merchantOrderId, ipnCallbackUrl };
  return (await h.call('POST', '/api/v1/payments', { key: shop.key, body })).body.paymentId as string;
}

beforeAll(async () => {
  h = await startHarness({ ALLOW_INSECURE_CALLBACKS: 'true' });
  shop = await h.shop();
  copied = new Samples();
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`;
  await deliver(await pay('order-of-the-receiver', receiverUrl));
  expect(received).toHaveLength(1);
});
afterAll(async () => {
  receiver?.close();
  await h?.stop();
  copied?.remove();
});

/** Which test runs the samples of each topic. */
const runBy: Readonly<Record<string, readonly string[]>> = {
  conversion: ['samples/money.test.ts'],
  create: ['samples/samples.test.ts'],
  errors: ['samples/samples.test.ts'],
  install: ['sdk/packed.test.ts', 'sdk/python.test.ts'],
  lists: ['samples/samples.test.ts'],
  payouts: ['samples/money.test.ts'],
  refund: ['samples/money.test.ts'],
  sdk: ['samples/samples.test.ts', 'samples/money.test.ts'],
  serve: ['samples/samples.test.ts'],
  shop: ['sdk/shops.ts'], // coins are needed for it, as for the next two
  simulate: ['e2e/test-mode.test.ts'],
  tour: ['sdk/shops.ts'],
  verify: ['samples/samples.test.ts'],
  widget: ['browser/widgets.test.ts'],
};
it('18.3: no topic of samples is without a test', () => {
  const topics = readdirSync(samples, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(topics.map(({ name }) => name).sort()).toEqual(Object.keys(runBy));
  for (const [topic, files] of Object.entries(runBy))
    for (const file of files)
      expect(readFileSync(join(__dirname, '..', file), 'utf8')).toMatch(new RegExp(`'${topic}['/]`));
});

describe('18.3: creating a payment', () => {
  each('create', async (file) => {
    const ORDER_ID = `order-${file.replace(/\W/g, '-')}`;
    const first = await run(file, { ORDER_ID });
    expect([first.errors, first.code]).toEqual(['', 0]);
    const payment = JSON.parse(first.out) as { paymentId: string; depositAddress: string };
    const stored = (await h.call('GET', `/api/v1/payments/${payment.paymentId}`, { key: shop.key })).body;
    expect([stored.merchantOrderId, stored.publicKey]).toEqual([ORDER_ID, payment.depositAddress]);
    const again = JSON.parse((await run(file, { ORDER_ID })).out) as { paymentId: string };
    expect(again.paymentId).toBe(payment.paymentId);
    const refused = await run(file, { ORDER_ID, API_KEY: 'svc_live_wrong' });
    expect(refused.code).not.toBe(0);
  });
});

/** What anybody can sign for a shop that has forgotten its secret. */
const signedWithNothing = (id: string, timestamp: string, body: Buffer): string =>
  `v1,${createHmac('sha256', '').update(`${id}.${timestamp}.`).update(body).digest('base64')}`;

describe('18.3: verifying a webhook', () => {
  const given = () => {
    const { headers, body } = received[0]!;
    const of = (name: string): string => String(headers[`webhook-${name}`]);
    const env = {
      WEBHOOK_ID: of('id'),
      WEBHOOK_TIMESTAMP: of('timestamp'),
      WEBHOOK_SIGNATURE: of('signature'),
      WEBHOOK_SECRET: shop.ipnSecret,
    };
    return { env, body };
  };
  each('verify', async (file) => {
    const { env, body } = given();
    const good = await run(file, env, body);
    expect([good.errors, good.code]).toEqual(['', 0]);
    expect(JSON.parse(good.out)).toEqual(JSON.parse(body.toString()));
    const rotated = `v1,${Buffer.alloc(32).toString('base64')} ${env.WEBHOOK_SIGNATURE}`;
    expect((await run(file, { ...env, WEBHOOK_SIGNATURE: rotated }, body)).code).toBe(0);
    const old = String(Number(env.WEBHOOK_TIMESTAMP) - 301);
    for (const [change, text] of [
      [{}, Buffer.concat([body, Buffer.from('\n')])],
      [{ WEBHOOK_ID: 'f'.repeat(24) }, body],
      [{ WEBHOOK_TIMESTAMP: old }, body],
      [{ WEBHOOK_SIGNATURE: env.WEBHOOK_SIGNATURE.replace('v1,', 'v2,') }, body],
      [{ WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 1).toString('base64')}` }, body],
    ] as const) {
      const refused = await run(file, { ...env, ...change }, text);
      expect([change, refused.code === 0, refused.out]).toEqual([change, false, '']);
    }
    for (const WEBHOOK_SECRET of ['', 'whsec_']) {
      const WEBHOOK_SIGNATURE = signedWithNothing(env.WEBHOOK_ID, env.WEBHOOK_TIMESTAMP, body);
      const forged = await run(file, { ...env, WEBHOOK_SIGNATURE, WEBHOOK_SECRET }, body);
      expect([WEBHOOK_SECRET, forged.code === 0, forged.out]).toEqual([WEBHOOK_SECRET, false, '']);
    }
  });
});

describe('18.3: a server that takes webhooks', () => {
  /** Starts it and gives what it has said so far. */
  async function start(
    file: string,
    secret = shop.ipnSecret,
  ): Promise<{ child: ChildProcess; url: string; said: () => string }> {
    const port = String(await freePort());
    const child = copied.start(file, { PORT: port, WEBHOOK_SECRET: secret });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const isUp = new RegExp(`listening on ${port}|:${port}\\) started`); // the second: as the server of PHP says it
    await eventually(() => Promise.resolve(isUp.test(text) || child.exitCode !== null));
    return { child, url: `http://127.0.0.1:${port}/webhooks`, said: () => text };
  }
  /** A webhook as the service signs it. */
  async function post(url: string, event: Readonly<{ id: string; type: string; data: object }>): Promise<number> {
    const body = JSON.stringify(event);
    const now = new Date();
    const headers = {
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(shop.ipnSecret).sign(event.id, now, body),
    };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }
  each('serve', async (file) => {
    const forgetful = await start(file, '');
    try {
      if (forgetful.child.exitCode === null) {
        const now = String(Math.floor(Date.now() / 1000));
        const body = JSON.stringify({ id: 'forged', type: 'payment.settled', data: { status: 'SETTLED' } });
        const signature = signedWithNothing('forged', now, Buffer.from(body));
        const headers = { 'webhook-id': 'forged', 'webhook-timestamp': now, 'webhook-signature': signature };
        const { status } = await fetch(forgetful.url, { method: 'POST', headers, body });
        expect(status).toBeGreaterThanOrEqual(400);
      } else expect(forgetful.child.exitCode).not.toBe(0);
      expect(forgetful.said()).not.toContain('paid');
    } finally {
      forgetful.child.kill();
      if (forgetful.child.exitCode === null) await once(forgetful.child, 'close');
    }
    const { child, url, said } = await start(file);
    try {
      const order = `served-${endingOf(file)}`;
      await deliver(await pay(order, url));
      expect(said()).toContain(`${order} is WAITING`);
      const forged = await fetch(url, { method: 'POST', headers: { 'webhook-id': 'x' }, body: '{}' });
      expect(forged.status).toBe(400);
      // The same delivery again, as after an answer that was lost.
      const { headers, body } = received[0]!;
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
      for (const _ of [1, 2])
        expect((await fetch(url, { method: 'POST', headers: signed, body: new Uint8Array(body) })).status).toBe(204);
      expect(said().split('order-of-the-receiver is WAITING')).toHaveLength(2);
      for (const signature of ['garbage', 'v1,AAA', 'v1,'])
        expect(
          (await fetch(url, { method: 'POST', headers: { ...signed, 'webhook-signature': signature } })).status,
        ).toBe(400);
      // Later changes come first, and two events of one change both count: it is delivered, once.
      const changes = [
        ['confirming', 'CONFIRMING', 3],
        ['detected', 'CONFIRMING', 3],
        ['sweep_queued', 'SWEEP_QUEUED', 5],
        ['confirmed', 'CONFIRMED', 4],
        ['settled', 'SETTLED', 6],
      ] as const;
      for (const [type, status, stateVersion] of changes) {
        const data = { _id: '0'.repeat(24), merchantOrderId: `out-of-order-${order}`, status, stateVersion };
        expect(await post(url, { id: type.padStart(24, '0'), type: `payment.${type}`, data })).toBe(204);
      }
      expect(said().split(`paid out-of-order-${order}`)).toHaveLength(2);
      expect(said().split(`out-of-order-${order} is CONFIRMING`)).toHaveLength(3);
      // A late deposit of any amount names the order of its parent, and a second payment of an order does so too.
      const others = [
        { _id: '1'.repeat(24), parentPaymentId: '2'.repeat(24), merchantOrderId: `late-${order}` },
        { _id: '3'.repeat(24), merchantOrderId: `out-of-order-${order}` },
      ];
      for (const other of others) {
        const data = { ...other, status: 'SETTLED', stateVersion: 6 };
        expect(await post(url, { id: `e${other._id.slice(1)}`, type: 'payment.settled', data })).toBe(204);
      }
      expect(said()).not.toContain(`paid late-${order}`);
      expect(said().split(`paid out-of-order-${order}`)).toHaveLength(2);
    } finally {
      child.kill();
      await once(child, 'close');
    }
  });
});

describe('18.3: reading lists', () => {
  each('lists', async (file) => {
    const { code, out, errors } = await run(file);
    expect([errors, code]).toEqual(['', 0]);
    const [row] = await h.db.query<Array<{ payments: number; events: number }>>(
      `SELECT (SELECT count(*)::int FROM payment WHERE merchant_id = $1) AS payments,
              (SELECT count(*)::int FROM event WHERE merchant_id = $1) AS events`,
      [shop.id],
    );
    if (file.includes('/pages.')) expect(out).toBe(`${row!.payments} payments`);
    else expect(out.split('\n')).toHaveLength(row!.events);
  });
});

describe('18.3: telling errors apart', () => {
  each('errors', async (file) => {
    const hasSdk = ['mjs', 'py'].includes(endingOf(file)); // which knows the codes of form B too
    const first = hasSdk ? 'PAYMENT_NOT_FOUND' : 'Payment not found';
    expect(await run(file)).toEqual({ code: 0, out: `${first} true\nSAME_CURRENCY 400`, errors: '' });
  });
});

describe('18.5: the READMEs of the SDKs', () => {
  const of = (name: string): string[] => filesOf('sdk').filter((file) => file.startsWith(name));

  each(
    'sdk',
    async (file) => {
      const one = await h.shop();
      const first = await run(file, { API_KEY: one.key });
      expect([first.errors, first.code]).toEqual(['', 0]);
      const { body } = await h.call('GET', '/api/v1/payments', { key: one.key });
      expect([body.total, first.out]).toEqual([1, `${body.items[0]._id} ${body.items[0].publicKey}`]);
      expect((await run(file, { API_KEY: one.key })).out).toBe(first.out);
    },
    of('start.'),
  );

  each(
    'sdk',
    async (file) => {
      const { body } = await h.call('GET', '/api/v1/payments?status=WAITING', { key: shop.key });
      const { code, out, errors } = await run(file);
      expect([errors, code]).toEqual(['', 0]);
      const [count, ...ids] = out.split('\n');
      expect([count, ids.length]).toEqual([`${body.items.length} of ${body.total}`, body.total]);
      expect(ids).toEqual(expect.arrayContaining(body.items.map(({ _id }: { _id: string }) => _id)));
    },
    of('lists.'),
  );

  each(
    'sdk',
    async (file) => {
      const id = 'f'.repeat(24);
      const data = { merchantOrderId: 'order-7', status: 'CONFIRMED' };
      const event = JSON.stringify({ id, type: 'payment.sweep_queued', data });
      const now = new Date();
      const env = {
        WEBHOOK_ID: id,
        WEBHOOK_TIMESTAMP: String(Math.floor(now.getTime() / 1000)),
        WEBHOOK_SIGNATURE: new Webhook(shop.ipnSecret).sign(id, now, event),
        WEBHOOK_SECRET: shop.ipnSecret,
      };
      expect(await run(file, env, event)).toEqual({ code: 0, out: 'paid order-7', errors: '' });
      const forged = await run(file, env, event.replace('order-7', 'order-8'));
      expect([forged.code === 0, forged.out]).toEqual([false, '']);
    },
    of('webhook.'),
  );
});
