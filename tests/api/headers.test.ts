import { routes } from '../../api/routes';
import { declaredHeaders, routeAt, sentHeaders } from '../shared/declared';
import { startHarness, type Answer, type Harness, type Shop } from './harness';

/** What answers say beside their bodies: the request's id always, where the caller stands with the limit wherever the
 *  request was counted. */

let h: Harness;
let shop: Shop;
beforeAll(async () => {
  h = await startHarness({ RATE_LIMIT_STANDARD: String(limit) });
  shop = await h.shop();
});
afterAll(() => h?.stop());

/** Requests of one kind in a minute: more than any test here but the one that goes beyond it sends. */
const limit = 20;
const payments = '/api/v1/payments';
const unknown = 'f'.repeat(24);
const limits = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
type Ask = Parameters<Harness['call']>;
type Case = readonly [
  status: number,
  /** The code, or the text where the form has no code. */
  code: string,
  /** Beside the request's id. */
  headers: readonly string[],
  ask: () => Ask | Promise<Ask>,
];
const create = (body: unknown, more: object = {}): Ask => ['POST', payments, { key: shop.key, body, ...more }];
const answered = ({ body }: Answer): unknown => body.error?.code ?? body.error;

const cases: readonly Case[] = [
  [201, '', limits, () => create({ amount: 5 })],
  [400, 'VALIDATION_ERROR', limits, () => create({ amount: 'much' })],
  [400, 'The body is not valid JSON', limits, () => ['POST', payments, { key: shop.key, text: '{' }]],
  [400, 'Invalid ID format', limits, () => ['GET', `${payments}/nothing`, { key: shop.key }]],
  [401, 'Invalid API key', ['www-authenticate'], () => ['GET', payments, { key: `svc_live_${'x'.repeat(32)}` }]],
  [401, 'Invalid or expired token', ['www-authenticate'], () => ['GET', payments]],
  [
    403,
    'Insufficient scope',
    [],
    async () => ['POST', payments, { key: (await h.shop({}, [], ['payments:read'])).key, body: { amount: 5 } }],
  ],
  [404, 'Payment not found', limits, () => ['GET', `${payments}/${unknown}`, { key: shop.key }]],
  [
    409,
    'REFUND_NOT_ALLOWED',
    limits,
    async () => {
      const { paymentId } = (await h.call(...create({ amount: 5 }))).body;
      return ['POST', `${payments}/${paymentId}/refunds`, { key: shop.key, body: { type: 'full' } }];
    },
  ],
  [413, 'The body is too large', limits, () => create({ amount: 5, description: 'x'.repeat(70_000) })],
  [
    415,
    'This Content-Type is not accepted here',
    limits,
    () => create({ amount: 5 }, { headers: { 'Content-Type': 'text/plain' } }),
  ],
];

it.each(cases)('%i %s', async (status, code, headers, ask) => {
  const [method, path, options = {}] = await ask();
  const own = { ...options, headers: { ...options.headers, 'X-Request-Id': `asked-for-${status}` } };
  const answer = await h.call(method, path, own);
  expect([answer.status, code && answered(answer)]).toEqual([status, code]);
  expect(answer.headers.get('x-request-id')).toBe(`asked-for-${status}`);
  expect(sentHeaders(answer).sort()).toEqual(['x-request-id', ...headers].sort());
  expect(declaredHeaders(routeAt(method, path)!, status)).toEqual(expect.arrayContaining(sentHeaders(answer)));
});

it('429 says how long to wait, and every answer before it how many are left', async () => {
  const cancel = () => h.call('POST', `${payments}/${unknown}/cancel`, { key: shop.key, body: {} });
  const left: Array<string | null> = [];
  for (let n = 0; n < limit; n += 1) left.push((await cancel()).headers.get('ratelimit-remaining'));
  expect(left).toEqual(left.map((_, n) => String(limit - 1 - n)));
  const answer = await cancel();
  expect(answered(answer)).toBe('RATE_LIMITED');
  expect(sentHeaders(answer).sort()).toEqual([...limits, 'retry-after', 'x-request-id']);
  expect(answer.headers.get('ratelimit-remaining')).toBe('0');
  expect(answer.headers.get('retry-after')).toBe(answer.headers.get('ratelimit-reset'));
  const route = routeAt('POST', `${payments}/${unknown}/cancel`)!;
  expect(declaredHeaders(route, 429)!.sort()).toEqual([...limits, 'retry-after', 'x-request-id']);
});

it('an answer to nobody’s route has a request id too', async () => {
  for (const path of ['/api/v1/nothing', '/nothing']) {
    const answer = await h.call('GET', path, { headers: { 'X-Request-Id': 'not a good one' } });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{24}$/);
  }
  const { status, headers } = await h.call('DELETE', payments, { key: shop.key });
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
});

describe('the API reference', () => {
  it('declares on every answer its request id, and the limit where the request was counted by then', () => {
    for (const route of routes)
      for (const status of [route.success.status, 400, 401, 403, 404, 409, 429]) {
        const declared = declaredHeaders(route, status);
        if (!declared) continue;
        expect([route.name, status, declared[0]]).toEqual([route.name, status, 'x-request-id']);
        const isCounted = declared.includes('ratelimit-limit');
        if (route.rate === 'none') expect([route.name, status, isCounted]).toEqual([route.name, status, false]);
        else if ([404, 409, route.success.status].includes(status))
          expect([route.name, status, isCounted]).toEqual([route.name, status, true]);
      }
  });
});
