import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CryptoPayments,
  NotFoundError,
  RateLimitError,
  type ClientOptions,
} from '../../sdk/typescript';

/** The package as it is built, against a server that answers as it is told. */

type Request = { method: string; url: string; headers: IncomingMessage['headers']; body: string };
type Answer = { status?: number; headers?: Record<string, string>; body?: unknown } | 'hang up' | 'half' | 'silence';

let server: Server;
let url: string;
let received: Request[];
/** What the server says next; the last for ever. */
let answers: Answer[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      received.push({ method, url: path, headers, body: Buffer.concat(chunks).toString() });
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      if (answer === 'silence') return;
      if (answer === 'hang up') request.socket.destroy();
      else if (answer === 'half')
        response.writeHead(201, { 'Content-Length': '500', 'X-Request-Id': 'req_half' }).write('{"paymentId":"a');
      if (answer === 'half') setImmediate(() => request.socket.destroy());
      else if (typeof answer === 'object')
        response.writeHead(answer.status ?? 200, answer.headers).end(JSON.stringify(answer.body ?? {}));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received = [];
  answers = [];
});
const client = (over: Partial<ClientOptions> = {}) =>
  new CryptoPayments({ baseUrl: url, apiKey: 'svc_live_test', ...over });
const busy = (seconds: string): Answer => ({
  status: 429,
  headers: { 'Retry-After': seconds, 'X-Request-Id': 'req_busy' },
  body: { ok: false, error: { code: 'RATE_LIMITED', message: 'Too many requests' } },
});
const away: Answer = {
  status: 503,
  body: { ok: false, error: { code: 'UPSTREAM_UNAVAILABLE', message: 'Temporarily unavailable' } },
};
const created: Answer = { status: 201, body: { paymentId: 'a'.repeat(24), status: 'WAITING' } };
/** What a promise is rejected with. */
const failure = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
};

describe('18.5: retries', () => {
  it('sends a payment again with the key of its first attempt, after 503, hang-ups and half an answer', async () => {
    answers = [away, 'hang up', 'half', created];
    const payment = await client().payments.create({ amount: 10 });
    expect(payment.status).toBe('WAITING');
    expect(received).toHaveLength(4);
    const keys = new Set(received.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    for (const { body } of received) expect(JSON.parse(body)).toEqual({ amount: 10 });
  });

  it('puts the key where the call has it, and takes yours', async () => {
    answers = [{ status: 201, body: { _id: 'c' } }];
    await client().conversions.execute({
      fromCurrency: 'BTC',
      toCurrency: 'ETH',
      fromAmount: '1',
      idempotencyKey: 'mine',
    });
    await client().conversions.execute(
      { fromCurrency: 'BTC', toCurrency: 'ETH', fromAmount: '1' },
      { idempotencyKey: 'k' },
    );
    expect(received.map(({ body }) => (JSON.parse(body) as { idempotencyKey: string }).idempotencyKey)).toEqual([
      'mine',
      'k',
    ]);
    expect(received[0]!.headers).not.toHaveProperty('idempotency-key');
  });

  it('waits as long as Retry-After asks, and no longer than it may', async () => {
    answers = [busy('1'), created];
    const began = performance.now();
    await client().payments.create({ amount: 1 });
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    answers = [busy('120')];
    received = [];
    const error = await failure(client().payments.create({ amount: 1 }));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfterSeconds: 120, requestId: 'req_busy', code: 'RATE_LIMITED' });
    expect(received).toHaveLength(1);
  });

  it('gives up after maxRetries, and says under which key it asked', async () => {
    answers = ['hang up'];
    const error = await failure(
      client({ maxRetries: 1 }).payments.create({ amount: 1 }, { idempotencyKey: 'order-1' }),
    );
    expect(error).toBeInstanceOf(ConnectionError);
    const requestId = received[1]!.headers['x-request-id'];
    expect(error).toMatchObject({ idempotencyKey: 'order-1', requestId });
    expect((error as Error).message).toContain(requestId);
    expect(received).toHaveLength(2);
    expect(received[0]!.headers['x-request-id']).not.toBe(requestId);
  });

  it('does not repeat an act without a key, unless it was refused unheard', async () => {
    const id = 'a'.repeat(24);
    answers = ['hang up', created];
    expect(await failure(client().payments.cancel(id))).toBeInstanceOf(ConnectionError);
    expect(received).toHaveLength(1);
    answers = [busy('0'), { body: { success: true, status: 'CANCELLED' } }];
    expect(await client().payments.cancel(id)).toMatchObject({ status: 'CANCELLED' });
    expect(received).toHaveLength(3);
  });

  it('does not repeat what is refused', async () => {
    answers = [{ status: 400, body: { error: 'Payment creation failed' } }];
    await failure(client().payments.create({ amount: 1 }));
    expect(received).toHaveLength(1);
  });

  it('ends at the signal: before, in the middle of an attempt, and in a pause', async () => {
    const reason = new Error('The customer left');
    expect(await failure(client().payments.get('a', { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(received).toHaveLength(0);
    for (const answer of ['silence', busy('30')] as const) {
      answers = [answer];
      received = [];
      const controller = new AbortController();
      const call = failure(client().payments.get('a', { signal: controller.signal }));
      while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      controller.abort(reason);
      expect(await call).toBe(reason);
      expect(received).toHaveLength(1);
    }
  });

  it('gives an attempt its time and tries again', async () => {
    answers = ['silence', { body: { _id: 'p' } }];
    expect(await client({ timeoutMs: 100 }).payments.get('p')).toMatchObject({ _id: 'p' });
    expect(received).toHaveLength(2);
  });
});

describe('18.5: errors', () => {
  const refuse = async (status: number, body: object): Promise<ApiError> => {
    answers = [{ status, body, headers: { 'X-Request-Id': 'req_7' } }];
    const error = await failure(client({ maxRetries: 0 }).payments.get('p'));
    if (!(error instanceof ApiError)) throw error;
    expect([error.status, error.requestId]).toEqual([status, 'req_7']);
    expect(error.message).toContain('req_7');
    return error;
  };

  it('have a code whatever the envelope', async () => {
    const inA = await refuse(401, { ok: false, error: { code: 'INVALID_API_KEY', message: 'Invalid API key' } });
    expect([inA.constructor, inA.code]).toEqual([AuthenticationError, 'INVALID_API_KEY']);
    const inB = await refuse(404, { error: 'Payment not found' });
    expect([inB.constructor, inB.code]).toEqual([NotFoundError, 'PAYMENT_NOT_FOUND']);
    const scope = await refuse(403, { error: 'Insufficient scope', requiredScope: 'payments:read' });
    expect(scope.data).toEqual({ requiredScope: 'payments:read' });
    const unknown = await refuse(400, { error: 'Words of next year' });
    expect([unknown.code, unknown.message]).toEqual(['HTTP_400', expect.stringContaining('Words of next year')]);
  });

  it('have the request id of half an answer, and of one that has none', async () => {
    answers = ['half'];
    const half = await failure(client({ maxRetries: 0 }).payments.get('p'));
    expect(half).toMatchObject({ requestId: 'req_half' });
    answers = [{ status: 502, body: {} }];
    const none = await failure(client({ maxRetries: 0 }).payments.get('p'));
    expect(none).toMatchObject({ code: 'HTTP_502', requestId: received[1]!.headers['x-request-id'] });
  });

  it('carry typed data', async () => {
    const newQuote = { fromCurrency: 'BTC', exchangeRate: 20 };
    const error = await refuse(409, { error: 'RATE_DRIFT', message: 'The market moved', driftPct: 1.5, newQuote });
    expect(error).toBeInstanceOf(ConflictError);
    if (!error.is('RATE_DRIFT')) throw error;
    const rate: number = error.data.newQuote.exchangeRate;
    expect([error.data.driftPct, rate]).toEqual([1.5, 20]);
  });
});

describe('18.5: lists', () => {
  const page = (body: object): Answer => ({ body });
  const ids = async (list: AsyncIterable<{ _id: string }>): Promise<string[]> => {
    const found: string[] = [];
    for await (const { _id } of list) found.push(_id);
    return found;
  };
  const rows = (...names: string[]) => names.map((_id) => ({ _id }));

  it('are one page when awaited, and every row once when iterated', async () => {
    answers = [page({ items: rows('c', 'b'), total: 3 })];
    expect((await client().payments.list({ limit: 2 })).total).toBe(3);
    // A new payment comes between the pages and moves every row by one.
    answers = [page({ items: rows('c', 'b'), total: 3 }), page({ items: rows('b', 'a'), total: 4 })];
    received = [];
    expect(await ids(client().payments.list({ limit: 2, status: 'WAITING' }))).toEqual(['c', 'b', 'a']);
    expect(received.map(({ url: path }) => path)).toEqual([
      '/api/v1/payments?limit=2&status=WAITING',
      '/api/v1/payments?limit=2&status=WAITING&page=2',
    ]);
  });

  it('go on by cursor where the list has one, and stop when the caller does', async () => {
    const events = (seqs: number[], hasMore: boolean): Answer =>
      page({
        ok: true,
        data: { items: seqs.map((seq) => ({ id: `e${seq}`, seq })), hasMore, nextCursor: `${seqs.at(-1)}` },
      });
    answers = [events([1, 2], true), events([3], false)];
    const seqs: number[] = [];
    for await (const { seq } of client().events.list()) seqs.push(seq);
    expect(seqs).toEqual([1, 2, 3]);
    expect(received.map(({ url: path }) => path)).toEqual(['/api/v1/events', '/api/v1/events?after=2']);
    received = [];
    answers = [events([1, 2], true)];
    for await (const { seq } of client().events.list()) if (seq === 1) break;
    expect(received).toHaveLength(1);
  });
});

it('18.5: sends ids as one segment of the path, and none that is empty', async () => {
  answers = [{ status: 404, body: { error: 'Payment not found' } }];
  await failure(client().payments.get('../wallets?x=1'));
  expect(received[0]!.url).toBe('/api/v1/payments/..%2Fwallets%3Fx%3D1');
  for (const wrong of ['', '..', '.']) await expect(client().payments.get(wrong)).rejects.toThrow(TypeError);
  expect(() => client({ baseUrl: 'https://pay.example/api/v1' })).toThrow(TypeError);
});
