import { createHmac } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { webhookActivities } from '../../activities/webhooks/webhooks';
import { parseConfig } from '../../domain/config';
import { root } from '../../sandbox/paths';
import {
  CryptoPayments,
  NotFoundError,
  PermissionError,
  webhooks,
  WebhookVerificationError,
} from '../../sdk/typescript';
import { ended } from '../child';
import { python } from '../python';
import { secretsKey, startHarness, type Harness, type Shop } from '../api/harness';
import { noLog } from '../shared/no-log';
import { generators, inFolder } from './generated';
import { install } from './install';
import { startLosingProxy, type LosingProxy } from './losing-proxy';

/** The package against the running API, through a proxy that loses answers; and webhooks as they are delivered. */

/** Versions of Node that the SDK promises to run on; undefined: not on this machine. */
const nodes: Readonly<Record<string, string | undefined>> = {
  20: process.env.NODE_20_PATH,
  22: process.env.NODE_22_PATH,
  [process.versions.node.split('.')[0]!]: process.execPath,
};

let h: Harness;
let shop: Shop;
let proxy: LosingProxy;
let client: CryptoPayments;

beforeAll(async () => {
  h = await startHarness({ ALLOW_INSECURE_CALLBACKS: 'true' });
  shop = await h.shop();
  proxy = await startLosingProxy(h.url);
  client = new CryptoPayments({ baseUrl: proxy.url, apiKey: shop.key });
});
afterAll(async () => {
  proxy?.stop();
  await h?.stop();
});
beforeEach(() => proxy.lose(0));
const failure = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
};

describe('18.5: the package on the running API', () => {
  it('creates one payment, however many answers are lost', async () => {
    proxy.lose(3);
    const made = await client.payments.create({ amount: 25, currency: 'BTC', merchantOrderId: 'order-1' });
    expect(proxy.asked()).toBe(4);
    const { total, items } = await client.payments.list({ merchantOrderId: 'order-1' });
    expect([total, items[0]!._id]).toEqual([1, made.paymentId]);
    const payment = await client.payments.get(made.paymentId);
    expect([payment.status, payment.publicKey]).toEqual(['WAITING', made.depositAddress]);
    proxy.lose(1);
    expect(await client.payments.cancel(made.paymentId).catch(() => client.payments.get(made.paymentId))).toMatchObject(
      {
        status: 'CANCELLED',
      },
    );
  });

  it('reads every payment once over several pages', async () => {
    for (let n = 0; n < 7; n += 1) await client.payments.create({ amount: 5, merchantOrderId: `many-${n}` });
    const [counted] = await h.db.query<Array<{ n: number }>>(
      'SELECT count(*)::int AS n FROM payment WHERE merchant_id = $1',
      [shop.id],
    );
    proxy.lose(0);
    const ids = new Set<string>();
    for await (const { _id } of client.payments.list({ limit: 3 })) ids.add(_id);
    expect([ids.size, proxy.asked()]).toEqual([counted!.n, Math.ceil(counted!.n / 3)]);
    const seqs: number[] = [];
    for await (const event of client.events.list({ limit: 2 })) {
      seqs.push(event.seq);
      if (event.type === 'payment.created') expect(event.data.fiatAmount).toBeGreaterThan(0);
    }
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, n) => n + 1));
    expect(seqs.length).toBeGreaterThan(7);
  });

  it('tells refusals apart, each with the request id of the answer', async () => {
    const unknown = await failure(client.payments.get('f'.repeat(24)));
    expect(unknown).toBeInstanceOf(NotFoundError);
    expect(unknown).toMatchObject({ status: 404, code: 'PAYMENT_NOT_FOUND', requestId: expect.any(String) as string });
    expect(await failure(client.payments.get('nope'))).toMatchObject({ status: 400, code: 'INVALID_ID' });
    const poor = await h.shop({}, undefined, ['payments:read']);
    const reader = new CryptoPayments({ baseUrl: h.url, apiKey: poor.key });
    const refused = await failure(reader.payments.create({ amount: 5 }));
    if (!(refused instanceof PermissionError) || !refused.is('INSUFFICIENT_SCOPE')) throw refused;
    expect(refused.data.requiredScope).toBe('payments:create');
    const { requestId } = refused;
    expect(h.logs.some((line) => line.includes(`"requestId":"${requestId}"`))).toBe(true);
  });
});

describe('18.1: clients that generators make of the served reference', () => {
  it.each(Object.keys(generators))('%s: one that creates a payment', async (name) => {
    const paymentId = await inFolder(async (folder) => {
      const document = join(folder, 'openapi.json');
      writeFileSync(document, (await h.call('GET', '/api/v1/openapi.json')).text);
      return generators[name]!(document, folder, { API_URL: h.url, API_KEY: shop.key, ORDER_ID: `by ${name}` });
    });
    const { body } = await h.call('GET', `/api/v1/payments/${paymentId}`, { key: shop.key });
    expect(body).toMatchObject({ _id: paymentId, merchantOrderId: `by ${name}`, fiatAmount: 7 });
  });
});

it.each(['openapi', 'openapi-dashboard', 'openapi-operators'])(
  '18.1: %s.json has a name for every object that schemas share',
  async (name) => {
    const { schemas } = (await h.call('GET', `/api/v1/${name}.json`)).body.components as {
      schemas: Record<
        string,
        { allOf?: Array<{ $ref?: string }>; properties?: Record<string, { type?: string; patternProperties?: object }> }
      >;
    };
    // A generator that copies a shared schema into each that has it would make a model of the same name for each.
    const shared = new Set(Object.values(schemas).flatMap(({ allOf = [] }) => allOf.map(({ $ref }) => $ref)));
    const unnamed = [...shared].flatMap((ref) => {
      const { properties = {} } = schemas[ref?.split('/').at(-1) ?? ''] ?? {};
      return Object.entries(properties).flatMap(([key, { type, patternProperties }]) =>
        type === 'object' && !patternProperties ? [`${ref}.${key}`] : [],
      );
    });
    expect(unnamed).toEqual([]);
  },
);

describe('18.5: webhooks as they are delivered', () => {
  let receiver: Server;
  const received: Array<{ headers: IncomingHttpHeaders; body: Buffer }> = [];
  /** As a program in another process takes it. */
  const webhook = () => ({
    body: received[0]!.body.toString('base64'),
    headers: Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, received[0]!.headers[name]]),
    ),
  });
  const now = (): number => Number(received[0]!.headers['webhook-timestamp']) * 1000;
  const unwrap = (
    over: { body?: string | Buffer; headers?: IncomingHttpHeaders; now?: number; secret?: string } = {},
  ) =>
    webhooks.unwrap(
      over.body ?? received[0]!.body,
      over.headers ?? received[0]!.headers,
      over.secret ?? shop.ipnSecret,
      {
        now: over.now ?? now(),
      },
    );
  const reasonOf = async (call: Promise<unknown>): Promise<string> => {
    const error = await failure(call);
    if (!(error instanceof WebhookVerificationError)) throw error;
    return error.reason;
  };

  beforeAll(async () => {
    receiver = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        received.push({ headers: incoming.headers, body: Buffer.concat(chunks) });
        outgoing.end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const ipnCallbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/ipn`;
    const { paymentId } = await client.payments.create({
      amount: 12,
      currency: 'ETH',
      metadata: { ž: '🪙' },
      ipnCallbackUrl,
    });
    const [delivery] = await h.db.query<Array<{ id: string }>>(
      'SELECT d.id FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = $1',
      [paymentId],
    );
    const config = parseConfig({ ALLOW_INSECURE_CALLBACKS: 'true', SECRETS_KEY: secretsKey });
    await webhookActivities({ db: h.db, config, log: noLog }).deliverOnce(delivery!.id, 1);
    expect(received).toHaveLength(1);
  });
  afterAll(() => receiver.close());

  it('are verified and typed, from bytes and from text, with any of several secrets', async () => {
    const event = await unwrap();
    if (event.type !== 'payment.created') throw new Error(event.type);
    expect([event.data.status, event.data.metadata]).toEqual(['WAITING', { ž: '🪙' }]);
    expect(await unwrap({ body: received[0]!.body.toString('utf8') })).toEqual(event);
    const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
    const headers = new Headers(received[0]!.headers as Record<string, string>);
    expect(await webhooks.unwrap(received[0]!.body, headers, [other, shop.ipnSecret], { now: now() })).toEqual(event);
    expect(await reasonOf(unwrap({ secret: other }))).toBe('bad_signature');
  });

  it.each([[undefined], [''], ['whsec_'], ['whsec_not base64'], [[]], [['']]])(
    'are never taken with the secret %j, which anybody could sign with',
    async (secret) => {
      const { body, headers } = received[0]!;
      const id = String(headers['webhook-id']);
      const signed = createHmac('sha256', '')
        .update(`${id}.${now() / 1000}.`)
        .update(body)
        .digest('base64');
      const forged = { ...headers, 'webhook-signature': `v1,${signed}` };
      await expect(webhooks.unwrap(body, forged, secret as string, { now: now() })).rejects.toThrow(
        /^The secret of (a|the) webhook is /,
      );
    },
  );

  it('are refused when they are old, from ahead, changed, or not signed', async () => {
    expect(await unwrap({ now: now() + 300_000 })).toBeDefined();
    expect(await unwrap({ now: now() - 300_000 })).toBeDefined();
    expect(await reasonOf(unwrap({ now: now() + 301_000 }))).toBe('too_old');
    expect(await reasonOf(unwrap({ now: now() - 301_000 }))).toBe('too_new');
    expect(await reasonOf(unwrap({ body: Buffer.concat([received[0]!.body, Buffer.from(' ')]) }))).toBe(
      'bad_signature',
    );
    const { headers } = received[0]!;
    for (const [name, value, reason] of [
      ['webhook-id', 'f'.repeat(24), 'bad_signature'],
      ['webhook-timestamp', String(now() / 1000 + 1), 'bad_signature'],
      ['webhook-timestamp', '1e9', 'bad_timestamp'],
      ['webhook-signature', 'v1,AAAA', 'bad_signature'],
      ['webhook-signature', String(headers['webhook-signature']).replace('v1,', 'v2,'), 'bad_signature'],
      ['webhook-signature', undefined, 'missing_header'],
    ] as const)
      expect([name, await reasonOf(unwrap({ headers: { ...headers, [name]: value } }))]).toEqual([name, reason]);
  });

  describe('and payments, by the packed package', () => {
    const project = mkdtempSync(join(tmpdir(), 'nodes-'));
    beforeAll(() => {
      install(project, ['typescript']);
      cpSync(join(root, 'tests', 'sdk', 'packed'), project, { recursive: true });
    });
    afterAll(() => rmSync(project, { recursive: true, force: true }));

    for (const [version, program] of Object.entries(nodes))
      for (const file of ['shop.mjs', 'shop.cjs'])
        (program ? it : it.skip)(
          `on Node ${version}: ${file}${program ? '' : ': NOT RUN, this version could not be fetched'}`,
          async () => {
            const orderId = `${file} on ${version}`;
            const child = spawn(program!, [join(project, file)], {
              env: {
                API_URL: h.url,
                API_KEY: shop.key,
                ORDER_ID: orderId,
                WEBHOOK_SECRET: shop.ipnSecret,
                WEBHOOK: JSON.stringify(webhook()),
              },
            });
            const { code, out, errors } = await ended(child);
            expect([errors, code]).toEqual(['', 0]);
            const said = JSON.parse(out) as { version: string; paymentId: string; told: string; type: string };
            expect(said).toMatchObject({ told: 'PAYMENT_NOT_FOUND', type: 'payment.created' });
            expect(said.version).toMatch(`v${version}.`);
            const { items, total } = await client.payments.list({ merchantOrderId: orderId });
            expect([total, items[0]!._id]).toEqual([1, said.paymentId]);
          },
        );
  });

  it('are verified, and lost answers repeated, by the Python package too', async () => {
    const stack = {
      proxy: proxy.url,
      apiKey: shop.key,
      ipnSecret: shop.ipnSecret,
      webhook: webhook(),
    };
    const said = await python(
      ['-m', 'pytest', '-rP', '-p', 'no:cacheprovider', join(root, 'tests/sdk/python/test_stack.py')],
      { STACK: JSON.stringify(stack), PYTHONPATH: join(root, 'sdk/python/src') },
    );
    expect(said).toMatch(/ 17 passed/);
    const [, requestId] = /refused as (\S+)/.exec(said)!;
    expect(h.logs.some((line) => line.includes(`"requestId":"${requestId}"`))).toBe(true);
    const rows = await h.db.query('SELECT FROM payment WHERE merchant_id = $1 AND merchant_order_id = $2', [
      shop.id,
      'from-python',
    ]);
    expect(rows).toHaveLength(1);
  });
});
