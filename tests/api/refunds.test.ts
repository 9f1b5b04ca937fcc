import { randomBytes } from 'node:crypto';
import { newId } from '../../domain/ids';
import { audit } from '../../db/audit/audit';
import { setLimits } from '../../db/limits/outbound';
import { refundUnderpaid } from '../../commands/refunds/create';
import { add, subtract } from '../../domain/money';
import { atOnce, startHarness, type Answer, type Harness, type Shop } from './harness';
import { Person } from './person';
import { failedPayment, settledPayment } from './refundable';

/** What a merchant may ask to be refunded, who approves it, and every refusal. Nothing is sent here: there is no
 *  Temporal. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());

const address = (): string => `0x${randomBytes(20).toString('hex')}`;

const settled = (shop: Pick<Shop, 'id' | 'key'>, over: Parameters<typeof settledPayment>[2] = {}) =>
  settledPayment(h, shop, over);
const refund = (shop: Pick<Shop, 'key'>, id: string, body: object, headers: Record<string, string> = {}) =>
  h.call('POST', `/api/v1/payments/${id}/refunds`, { key: shop.key, body, headers });
const codeOf = (answer: Answer): [number, string] => [answer.status, answer.body.error?.code];
const balanceOf = async (shop: Pick<Shop, 'key'>, currency = 'ETH') =>
  (await h.call('GET', '/api/v1/ledger/balances', { key: shop.key })).body.balances.find(
    (one: { currency: string }) => one.currency === currency,
  ) as { balance: string; reserved: string };
/** What this process can check without chains: everything about refunds and holds. */
const clean = async () =>
  expect(
    (await audit(h.db, { settleMs: 1 })).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant)),
  ).toEqual([]);
afterEach(clean);

/** The shop of an admin, with a wallet and a key. */
async function shopOf(admin: Person): Promise<Pick<Shop, 'id' | 'key'>> {
  const me = await admin.get('/api/v1/auth/me');
  await admin.post('/api/v1/merchant-wallets', { currency: 'ETH', totpCode: await admin.code() });
  const key = await admin.post('/api/v1/api-keys', {
    name: 'k',
    scopes: ['payments:create', 'payments:read', 'refunds:create', 'refunds:read', 'ledger:read'],
    totpCode: await admin.code(),
  });
  const body = me.body.data ?? me.body;
  return { id: body.merchantId ?? body.user.merchantId, key: key.body.data.apiKey };
}

it('holds what it takes at once, and waits for a user where a key asks', async () => {
  const shop = await h.shop();
  const payment = await settled(shop, { credit: '1' });
  const to = address();
  const made = await refund(shop, payment.id, {
    type: 'partial',
    amount: '0.004',
    address: to,
    reason: 'broken',
    reference: 'R-1',
  });
  expect(made.status).toBe(201);
  expect(made.body.data).toMatchObject({
    paymentId: payment.id,
    status: 'awaiting_approval',
    type: 'partial',
    currency: 'ETH',
    amount: '0.004',
    networkFee: '0.000042', // 21,000 gas at 2 gwei
    netToDestination: '0.004',
    fiatAmount: '12.80',
    fiatCurrency: 'USD',
    reason: 'broken',
    reference: 'R-1',
    txId: null,
    claimUrl: null,
    completedAt: null,
  });
  expect(made.body.data.address.toLowerCase()).toBe(to);
  expect(await balanceOf(shop)).toMatchObject({ balance: subtract('1', '0.004042'), reserved: '0.004042' });
  expect(await h.db.query(`SELECT FROM temporal_request WHERE workflow = 'refund'`)).toEqual([]);
  const events = await h.db.query('SELECT type, data FROM event WHERE entity_id = $1', [made.body.data._id]);
  expect(events).toEqual([{ type: 'refund.created', data: made.body.data }]);

  const one = await h.call('GET', `/api/v1/refunds/${made.body.data._id}`, { key: shop.key });
  expect(one.body.data).toEqual(made.body.data);
  for (const path of ['/api/v1/refunds', `/api/v1/payments/${payment.id}/refunds`])
    expect((await h.call('GET', path, { key: shop.key })).body.data).toEqual({ items: [made.body.data], total: 1 });
  const filtered = async (query: string) =>
    (await h.call('GET', `/api/v1/refunds?${query}`, { key: shop.key })).body.data.total as number;
  expect(await filtered('status=awaiting_approval&currency=eth&dateFrom=2020-01-01')).toBe(1);
  expect(await filtered('status=completed')).toBe(0);
  expect(await filtered('currency=BTC')).toBe(0);
  expect(await filtered('dateTo=2020-01-01')).toBe(0);

  const back = await h.call('POST', `/api/v1/refunds/${made.body.data._id}/cancel`, { key: shop.key });
  expect(back.body.data).toMatchObject({ status: 'cancelled', stateVersion: 2 });
  expect(await balanceOf(shop)).toMatchObject({ balance: '1', reserved: '0' });
  const again = await h.call('POST', `/api/v1/refunds/${made.body.data._id}/cancel`, { key: shop.key });
  expect(again.body.data).toEqual(back.body.data);
  const acts = await h.db.query('SELECT actor_kind, action FROM audit_log WHERE target = $1', [made.body.data._id]);
  expect(acts).toEqual([{ actor_kind: 'key', action: 'refund.cancelled' }]);
});

it('takes the fee from the amount where the payer bears it', async () => {
  const shop = await h.shop();
  const payment = await settled(shop);
  const made = await refund(shop, payment.id, { type: 'full', address: address(), feeBearer: 'payer' });
  expect(made.body.data).toMatchObject({ amount: payment.paid, netToDestination: subtract(payment.paid, '0.000042') });
  expect(await balanceOf(shop)).toMatchObject({ balance: '0', reserved: payment.paid });
});

it('refunds a fiat amount at the rate named, and what came beyond the price', async () => {
  const shop = await h.shop();
  const payment = await settled(shop, { paid: '0.02', credit: '1' });
  await h.db.query('UPDATE payment SET exchange_rate = 1600 WHERE id = $1', [payment.id]);
  const amounts: unknown[] = [];
  for (const body of [
    { type: 'partial', amount: '8', rateBasis: 'paid' },
    { type: 'partial', amount: '8', rateBasis: 'current' },
    { type: 'overpaid' },
  ])
    amounts.push((await refund(shop, payment.id, { ...body, address: address() })).body.data.amount);
  expect(amounts).toEqual(['0.005', '0.0025', '0.0075']); // of 0.0125 asked for, 0.02 came
  const rest = await refund(shop, payment.id, { type: 'full', address: address() });
  expect(rest.body.data.amount).toBe('0.005');
  expect(codeOf(await refund(shop, payment.id, { type: 'overpaid', address: address() }))).toEqual([
    400,
    'REFUND_EXCEEDS_PAID',
  ]);
});

it('refunds of an excess no more than it is', async () => {
  const shop = await h.shop();
  const over = await settled(shop, { paid: '0.02', credit: '1' });
  const ask = async (id: string, body: object) => codeOf(await refund(shop, id, { ...body, address: address() }));
  const beyond = { type: 'overpaid', amount: '0.0076' };
  expect(await ask(over.id, beyond)).toEqual([400, 'REFUND_EXCEEDS_PAID']); // of 0.0125 asked for, 0.02 came
  expect(await ask(over.id, { ...beyond, amount: '0.005' })).toEqual([201, undefined]);
  expect(await ask(over.id, { ...beyond, amount: '0.003' })).toEqual([400, 'REFUND_EXCEEDS_PAID']);
  expect(await ask(over.id, { type: 'overpaid' })).toEqual([201, undefined]);
  const none = [409, 'REFUND_NOT_ALLOWED'];
  expect(await ask(over.id, { type: 'overpaid' })).toEqual(none);
  expect(await ask(over.id, { ...beyond, amount: '0.001' })).toEqual(none);
  const exact = await settled(shop, { credit: '1' });
  for (const body of [{ type: 'overpaid' }, { type: 'overpaid', amount: '0.001' }])
    expect(await ask(exact.id, body)).toEqual(none);
});

describe('refuses', () => {
  let shop: Shop;
  let payment: { id: string; paid: string };
  beforeAll(async () => {
    shop = await h.shop();
    payment = await settled(shop, { credit: '1' });
  });
  const to = address();
  const part = { type: 'partial', amount: '0.001', address: to };

  it.each<[string, object, number, string]>([
    ['more than came', { ...part, amount: '0.013' }, 400, 'REFUND_EXCEEDS_PAID'],
    ['nothing', { ...part, amount: '0' }, 400, 'BELOW_MINIMUM'],
    ['dust', { ...part, amount: '0.000001' }, 400, 'BELOW_MINIMUM'],
    ['what the fee eats', { ...part, amount: '0.00004', feeBearer: 'payer' }, 400, 'BELOW_MINIMUM'],
    ['a part that says it is all', { ...part, type: 'full' }, 400, 'VALIDATION_ERROR'],
    ['a digit too many', { type: 'partial', amount: '0.0010000000000000001', address: to }, 400, 'VALIDATION_ERROR'],
    ['a part without an amount', { type: 'partial', address: to }, 400, 'VALIDATION_ERROR'],
    ['an unknown type', { ...part, type: 'half' }, 400, 'VALIDATION_ERROR'],
    ['a negative amount', { ...part, amount: '-1' }, 400, 'VALIDATION_ERROR'],
    ['an exponent', { ...part, amount: '1e-3' }, 400, 'VALIDATION_ERROR'],
    ['a number', { ...part, amount: 0.001 }, 400, 'VALIDATION_ERROR'],
    [
      'an address of another chain',
      { ...part, address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080' },
      400,
      'INVALID_ADDRESS',
    ],
    ['the zero address', { ...part, address: `0x${'0'.repeat(40)}` }, 400, 'INVALID_ADDRESS'],
    ['a tag where there are none', { ...part, destinationTag: '7' }, 400, 'VALIDATION_ERROR'],
    ['a tag without its address', { ...part, address: undefined, destinationTag: '7' }, 400, 'VALIDATION_ERROR'],
    ['an underpayment that was none', { type: 'underpaid', address: to }, 409, 'REFUND_NOT_ALLOWED'],
  ])('%s', async (_what, body, status, code) => {
    const before = await balanceOf(shop);
    expect(codeOf(await refund(shop, payment.id, body))).toEqual([status, code]);
    expect(await balanceOf(shop)).toEqual(before);
  });

  it('an address of our own', async () => {
    const [row] = await h.db.query('SELECT deposit_address AS a, settlement_address AS b FROM payment WHERE id = $1', [
      payment.id,
    ]);
    for (const own of [row.a, row.b.toLowerCase()])
      expect(codeOf(await refund(shop, payment.id, { ...part, address: own }))).toEqual([400, 'INVALID_ADDRESS']);
  });

  it('a payment that is not settled, whose money is not here, or which nobody knows', async () => {
    const open = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'ETH' } });
    expect(codeOf(await refund(shop, open.body.paymentId, part))).toEqual([409, 'REFUND_NOT_ALLOWED']);
    const away = await settled(shop, { custody: 'external' });
    expect(codeOf(await refund(shop, away.id, part))).toEqual([409, 'REFUND_NOT_ALLOWED']);
    const other = await h.shop();
    const foreign = await refund(other, payment.id, part);
    const unknown = await refund(shop, 'f'.repeat(24), part);
    expect(codeOf(unknown)).toEqual([404, 'PAYMENT_NOT_FOUND']);
    expect(foreign.text).toBe(unknown.text);
    expect(codeOf(await refund(shop, 'x', part))).toEqual([400, 'INVALID_ID']);
    const made = await refund(shop, payment.id, part);
    const { _id } = made.body.data;
    for (const [id, ...refusal] of [
      [_id, 404, 'REFUND_NOT_FOUND'],
      ['f'.repeat(24), 404, 'REFUND_NOT_FOUND'],
      ['x', 400, 'INVALID_ID'],
    ])
      for (const [method, path] of [
        ['GET', `/api/v1/refunds/${id}`],
        ['POST', `/api/v1/refunds/${id}/cancel`],
      ] as const)
        expect(codeOf(await h.call(method, path, { key: other.key }))).toEqual(refusal);
    expect(codeOf(await h.call('GET', `/api/v1/payments/${payment.id}/refunds`, { key: other.key }))).toEqual([
      404,
      'PAYMENT_NOT_FOUND',
    ]);
    await h.call('POST', `/api/v1/refunds/${_id}/cancel`, { key: shop.key });
  });

  it('more than the balance has', async () => {
    const poor = await h.shop();
    const { id } = await settled(poor, { credit: '0.004' });
    expect(codeOf(await refund(poor, id, { type: 'full', address: to }))).toEqual([400, 'INSUFFICIENT_BALANCE']);
    // The fee comes on top of it.
    expect(codeOf(await refund(poor, id, { ...part, amount: '0.004' }))).toEqual([400, 'INSUFFICIENT_BALANCE']);
    expect((await refund(poor, id, { ...part, amount: '0.004', feeBearer: 'payer' })).status).toBe(201);
  });

  it('while there is no fresh rate', async () => {
    await h.setRates(3600); // everything else has the rates of now
    const refused = await refund(shop, payment.id, part);
    await h.setRates();
    expect(refused.status).toBe(503);
  });

  it('a key without the scope', async () => {
    const reader = await h.shop({}, ['ETH'], ['payments:create', 'payments:read', 'refunds:read', 'ledger:read']);
    const { id } = await settled(reader);
    expect((await refund(reader, id, part)).status).toBe(403);
  });
});

describe('money that was never credited', () => {
  const failed = (shop: Shop, held: Parameters<typeof failedPayment>[2]) => failedPayment(h, shop, held);
  const allocations = async (id: string): Promise<string[]> =>
    (await h.db.query('SELECT allocation FROM deposit WHERE payment_id = $1 ORDER BY id', [id])).map(
      (row: { allocation: string }) => row.allocation,
    );

  it('goes back whole, less its fee, without a reserve', async () => {
    const shop = await h.shop();
    const id = await failed(shop, [
      ['ETH', '0.002'],
      ['ETH', '0.001'],
    ]);
    const made = await refund(shop, id, { type: 'underpaid', address: address() });
    expect(made.body.data).toMatchObject({
      status: 'awaiting_approval',
      amount: '0.003',
      networkFee: '0.000042',
      netToDestination: '0.002958',
      feeBearer: 'payer',
      fiatAmount: '9.60',
    });
    expect(await allocations(id)).toEqual(['refunded', 'refunded']);
    expect(await balanceOf(shop)).toMatchObject({ balance: '0', reserved: '0' });
    expect(codeOf(await refund(shop, id, { type: 'full', address: address() }))).toEqual([409, 'REFUND_NOT_ALLOWED']);
    await h.call('POST', `/api/v1/refunds/${made.body.data._id}/cancel`, { key: shop.key });
    expect(await allocations(id)).toEqual(['unallocated', 'unallocated']);
    expect((await refund(shop, id, { type: 'full', address: address() })).status).toBe(201);
  });

  it('of several currencies one is named', async () => {
    const shop = await h.shop();
    const id = await failed(shop, [
      ['ETH', '0.002'],
      ['USDT_ERC20', '30'],
    ]);
    expect(codeOf(await refund(shop, id, { type: 'full', address: address() }))).toEqual([400, 'VALIDATION_ERROR']);
    const made = await refund(shop, id, { type: 'full', address: address(), currency: 'usdt_erc20' });
    expect(made.body.data).toMatchObject({ currency: 'USDT_ERC20', amount: '30', fiatAmount: '30.00' });
    expect(await allocations(id)).toEqual(['unallocated', 'refunded']);
  });

  it('is given once, however many ask', async () => {
    const shop = await h.shop();
    const id = await failed(shop, [['ETH', '0.002']]);
    const answers = await atOnce(10, () => refund(shop, id, { type: 'full', address: address() }));
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 9 }, () => 409),
    ]);
  });

  it.each<[string, object, number, string]>([
    ['a part', { type: 'partial', amount: '0.001' }, 409, 'REFUND_NOT_ALLOWED'],
    ['an amount of its own', { type: 'full', amount: '0.001' }, 400, 'VALIDATION_ERROR'],
    ['a fee on the merchant', { type: 'full', feeBearer: 'merchant' }, 400, 'VALIDATION_ERROR'],
    ['a currency that did not come', { type: 'full', currency: 'BTC' }, 409, 'REFUND_NOT_ALLOWED'],
  ])('is not refunded as %s', async (_what, body, status, code) => {
    const shop = await h.shop();
    const id = await failed(shop, [['ETH', '0.002']]);
    expect(codeOf(await refund(shop, id, { ...body, address: address() }))).toEqual([status, code]);
    expect(await allocations(id)).toEqual(['unallocated']);
  });

  it('is not refunded where the fee eats it, or while its payment is still open', async () => {
    const shop = await h.shop();
    const poor = await failed(shop, [['ETH', '0.00005']]);
    expect(codeOf(await refund(shop, poor, { type: 'full', address: address() }))).toEqual([400, 'BELOW_MINIMUM']);
    const open = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'ETH' } });
    expect(codeOf(await refund(shop, open.body.paymentId, { type: 'full', address: address() }))).toEqual([
      409,
      'REFUND_NOT_ALLOWED',
    ]);
  });
});

it('shows what a refund would be, and moves nothing', async () => {
  const shop = await h.shop();
  const { id } = await settled(shop, { credit: '1' });
  const body = { type: 'partial', amount: '0.002', address: address() };
  const shown = await h.call('POST', `/api/v1/payments/${id}/refunds/preview`, { key: shop.key, body });
  expect(shown.status).toBe(200);
  expect(shown.body.data).toMatchObject({
    _id: null,
    status: 'awaiting_approval',
    amount: '0.002',
    networkFee: '0.000042',
  });
  const same = await refund(shop, id, { ...body, preview: true });
  expect(same.status).toBe(201);
  expect({ ...same.body.data, createdAt: '', updatedAt: '' }).toEqual({
    ...shown.body.data,
    createdAt: '',
    updatedAt: '',
  });
  expect(codeOf(await refund(shop, id, { ...body, amount: '1', preview: true }))).toEqual([400, 'REFUND_EXCEEDS_PAID']);
  expect(await balanceOf(shop)).toMatchObject({ balance: '1', reserved: '0' });
  expect(await h.db.query('SELECT FROM refund WHERE payment_id = $1', [id])).toEqual([]);
});

it('answers a repeated key with the first refund, and refuses another body', async () => {
  const shop = await h.shop();
  const payment = await settled(shop, { credit: '1' });
  const other = await settled(shop);
  const body = { type: 'partial', amount: '0.001', address: address() };
  const key = { 'Idempotency-Key': 'r-1' };
  const all = await atOnce(10, () => refund(shop, payment.id, body, key));
  expect(new Set(all.map((answer) => answer.body.data._id)).size).toBe(1);
  expect(all.filter((answer) => answer.headers.get('idempotency-replayed') === 'true')).toHaveLength(9);
  expect((await balanceOf(shop)).reserved).toBe('0.001042');
  for (const [id, changed] of [
    [payment.id, { ...body, amount: '0.002' }],
    [payment.id, { ...body, address: address() }],
    [other.id, body],
  ] as const)
    expect(codeOf(await refund(shop, id, changed, key))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  const inBody = { ...body, idempotencyKey: 'r-2' };
  const twice = [await refund(shop, payment.id, inBody), await refund(shop, payment.id, inBody)];
  expect(new Set(twice.map((answer) => answer.body.data._id)).size).toBe(1);
  const blank = await refund(shop, payment.id, body, { 'Idempotency-Key': 'a b' });
  expect(codeOf(blank)).toEqual([400, 'INVALID_IDEMPOTENCY_KEY']);
  const reserved = { 'Idempotency-Key': `widget:${'a'.repeat(24)}:x` };
  expect(codeOf(await refund(shop, payment.id, body, reserved))).toEqual([400, 'RESERVED_IDEMPOTENCY_KEY']);
});

it('thirty at once never exceed what was received, nor the balance', async () => {
  const shop = await h.shop();
  const rich = await settled(shop, { credit: '1' });
  const part = { type: 'partial', amount: '0.001', address: address() };
  const answers = await atOnce(30, () => refund(shop, rich.id, part));
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(12); // of 0.0125
  expect(new Set(answers.filter((answer) => answer.status !== 201).map((answer) => answer.body.error.code))).toEqual(
    new Set(['REFUND_EXCEEDS_PAID']),
  );
  const poor = await h.shop();
  const two = [await settled(poor, { credit: '0.005' }), await settled(poor, { credit: '0' })];
  const mixed = await atOnce(20, (index) => refund(poor, two[index % 2]!.id, part));
  expect(mixed.filter((answer) => answer.status === 201)).toHaveLength(4); // 0.001042 each
  expect((await balanceOf(poor)).reserved).toBe('0.004168');
});

describe('a user', () => {
  let ann: Person;
  let shop: Pick<Shop, 'id' | 'key'>;
  beforeAll(async () => {
    ann = await Person.admin(h);
    shop = await shopOf(ann);
  });
  const part = { type: 'partial', amount: '0.001', address: address() };
  const requests = async (id: string): Promise<number> =>
    (await h.db.query('SELECT FROM temporal_request WHERE workflow_id = $1', [`refund/${id}`])).length;

  it('refunds with a second factor, which a refusal does not use up', async () => {
    const payment = await settled(shop, { credit: '1' });
    const path = `/api/v1/payments/${payment.id}/refunds`;
    expect(codeOf(await ann.post(path, part))).toEqual([400, 'VERIFICATION_FAILED']);
    expect(codeOf(await ann.post(path, { ...part, totpCode: '000000' }))).toEqual([401, 'VERIFICATION_FAILED']);
    const totpCode = await ann.code();
    expect(codeOf(await ann.post(path, { ...part, amount: '1', totpCode }))).toEqual([400, 'REFUND_EXCEEDS_PAID']);
    const made = await ann.post(path, { ...part, totpCode });
    expect([made.status, made.body.data.status]).toEqual([201, 'pending']);
    expect(await requests(made.body.data._id)).toBe(1);
    const back = await ann.post(`/api/v1/refunds/${made.body.data._id}/cancel`);
    expect(back.body.data.status).toBe('cancelled');
    const [acts] = await h.db.query(
      `SELECT array_agg(action ORDER BY id) AS actions FROM audit_log WHERE target = $1`,
      [made.body.data._id],
    );
    expect(acts.actions).toEqual(['refund.created', 'refund.cancelled']);
  });

  it('brings a factor to a repeat too, which does not use it', async () => {
    const payment = await settled(shop, { credit: '1' });
    const path = `/api/v1/payments/${payment.id}/refunds`;
    const key = { 'Idempotency-Key': newId() };
    const first = await ann.post(path, { ...part, totpCode: await ann.code() }, key);
    expect(codeOf(await ann.post(path, part, key))).toEqual([400, 'VERIFICATION_FAILED']);
    await h.db.query('DELETE FROM wrong_factor');
    const totpCode = await ann.code();
    for (const factor of [{ totpCode }, { totpCode: '000000' }, { passkeyResponse: { id: 'x' }, challengeKey: 'x' }]) {
      const again = await ann.post(path, { ...part, ...factor }, key);
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
    expect(await h.db.query('SELECT FROM wrong_factor')).toEqual([]);
    expect((await ann.post(path, { ...part, totpCode })).status).toBe(201);
  });

  it('approves money from a listed place only, asked before the factor, which serves again', async () => {
    const bob = await Person.admin(h);
    const his = await shopOf(bob);
    const payment = await settled(his, { credit: '1' });
    const path = `/api/v1/payments/${payment.id}/refunds`;
    const asked = (await refund(his, payment.id, part)).body.data._id as string;
    await bob.post('/api/v1/whitelist/ip', { ip: '10.88.0.1', totpCode: await bob.code() });
    const totpCode = await bob.code();
    const approval = `/api/v1/refunds/${asked}/approve`;
    for (const [what, body] of [
      [path, part],
      [path, { ...part, totpCode }],
      [approval, {}],
      [approval, { totpCode }],
    ] as const)
      expect(codeOf(await bob.post(what, body))).toEqual([403, 'IP_NOT_WHITELISTED']);
    expect((await balanceOf(his)).reserved).toBe('0.001042');
    // What moves nothing is open to every place: looking, a key's wish, and a refusal.
    expect((await bob.post(path, { ...part, preview: true })).status).toBe(201);
    expect((await refund(his, payment.id, part)).status).toBe(201);
    const listedPlace = { 'X-Forwarded-For': '10.88.0.1' };
    expect((await bob.post(approval, { totpCode }, listedPlace)).body.data.status).toBe('pending');
    expect((await bob.post(path, { ...part, totpCode: await bob.code() }, listedPlace)).status).toBe(201);
    expect((await bob.post(`/api/v1/refunds/${asked}/cancel`)).status).toBe(200);
  });

  it('approves, or refuses, what a key has asked for', async () => {
    const payment = await settled(shop, { credit: '1' });
    const ask = async () => (await refund(shop, payment.id, part)).body.data._id as string;
    const { reserved } = await balanceOf(shop);
    const [good, bad] = [await ask(), await ask()];
    const decide = async (id: string, what: string, factor?: object) =>
      ann.post(`/api/v1/refunds/${id}/${what}`, factor ?? { totpCode: await ann.code() });
    expect(codeOf(await decide(good, 'approve', {}))).toEqual([400, 'VERIFICATION_FAILED']);
    const byKey = await h.call('POST', `/api/v1/refunds/${good}/approve`, { key: shop.key, body: {} });
    expect(byKey.status).toBe(401);
    expect((await decide(good, 'approve')).body.data.status).toBe('pending');
    expect((await decide(good, 'approve')).body.data.status).toBe('pending');
    expect(await requests(good)).toBe(1);
    expect(codeOf(await decide(good, 'reject'))).toEqual([409, 'INVALID_STATE']);
    expect((await decide(bad, 'reject')).body.data.status).toBe('cancelled');
    expect(codeOf(await decide(bad, 'approve'))).toEqual([409, 'INVALID_STATE']);
    expect((await decide(bad, 'reject')).body.data.status).toBe('cancelled');
    expect(await requests(bad)).toBe(0);
    // What was not done again is not said again.
    const acts = await h.db.query(`SELECT action FROM audit_log WHERE target = ANY($1) ORDER BY id`, [[good, bad]]);
    expect(acts.map((act: { action: string }) => act.action)).toEqual(['refund.approved', 'refund.rejected']);
    expect((await balanceOf(shop)).reserved).toBe(add(reserved, '0.001042'));
  });

  it('cannot cancel what is signed', async () => {
    const payment = await settled(shop, { credit: '1' });
    const { _id } = (await refund(shop, payment.id, part)).body.data;
    for (const status of ['processing', 'broadcast']) {
      await h.db.query('UPDATE refund SET status = $2, state_version = state_version + 1 WHERE id = $1', [_id, status]);
      expect(codeOf(await h.call('POST', `/api/v1/refunds/${_id}/cancel`, { key: shop.key }))).toEqual([
        409,
        'INVALID_STATE',
      ]);
    }
    await expect(
      h.db.query(`UPDATE refund SET status = 'pending', state_version = 9 WHERE id = $1`, [_id]),
    ).rejects.toThrow('may not go from broadcast to pending');
  });
});

describe('above the sum that takes two people', () => {
  let ann: Person;
  let bob: Person;
  let shop: Pick<Shop, 'id' | 'key'>;
  const part = { type: 'partial', amount: '0.04', address: address() }; // 128 USD
  const small = { ...part, amount: '0.01' };
  beforeAll(async () => {
    ann = await Person.admin(h);
    bob = await Person.member(ann, ['payments:manage', 'refunds:manage']);
    shop = await shopOf(ann);
    await setLimits(h.db, shop.id, { dailyUsd: null, hourlyCount: null, approvalUsd: '100' }, 'test', 0);
  });
  const payment = () => settled(shop, { paid: '1', credit: '2' });
  const asked = async (body: object = part): Promise<string> =>
    (await refund(shop, (await payment()).id, body)).body.data._id;
  const approve = async (by: Person, id: string): Promise<Answer> =>
    by.post(`/api/v1/refunds/${id}/approve`, { totpCode: await by.code() });
  const outcome = (answer: Answer): string => answer.body.data?.status ?? `${codeOf(answer).join(' ')}`;
  const refused = '403 SECOND_PERSON_REQUIRED';

  it('a key asks for the user who made it: another one approves it', async () => {
    const id = await asked();
    expect(outcome(await approve(ann, id))).toBe(refused);
    expect(outcome(await approve(bob, id))).toBe('pending');
    expect(outcome(await approve(ann, id))).toBe('pending'); // done already
  });

  it('a user who asks in a session does not approve it either', async () => {
    const { id: paymentId } = await payment();
    const made = await ann.post(`/api/v1/payments/${paymentId}/refunds`, { ...part, totpCode: await ann.code() });
    expect(made.body.data.status).toBe('awaiting_approval');
    expect(outcome(await approve(ann, made.body.data._id))).toBe(refused);
    expect(outcome(await approve(bob, made.body.data._id))).toBe('pending');
  });

  it('two users approve what a key of an unknown maker has asked for', async () => {
    await h.db.query('UPDATE api_key SET created_by = NULL WHERE merchant_id = $1', [shop.id]);
    h.api.deps.keys.forget();
    const id = await asked();
    const first = { totpCode: await bob.code() };
    expect(outcome(await bob.post(`/api/v1/refunds/${id}/approve`, first))).toBe('awaiting_approval');
    await h.db.query('DELETE FROM wrong_factor');
    expect(outcome(await bob.post(`/api/v1/refunds/${id}/approve`, first))).toBe(refused);
    expect(await h.db.query('SELECT FROM wrong_factor')).toEqual([]);
    expect(outcome(await approve(bob, id))).toBe(refused);
    expect(await h.db.query('SELECT FROM temporal_request WHERE workflow_id = $1', [`refund/${id}`])).toEqual([]);
    expect(outcome(await approve(ann, id))).toBe('pending');
    const acts = await h.db.query(`SELECT actor_name, action, after FROM audit_log WHERE target = $1 ORDER BY id`, [
      id,
    ]);
    expect(acts).toMatchObject([
      { actor_name: bob.email, action: 'refund.approved', after: { status: 'awaiting_approval' } },
      { actor_name: ann.email, action: 'refund.approved', after: { status: 'pending' } },
    ]);
    await h.db.query(
      'UPDATE api_key SET created_by = (SELECT id FROM dashboard_user WHERE email = $2) WHERE merchant_id = $1',
      [shop.id, ann.email],
    );
    h.api.deps.keys.forget();
  });

  it('two users approve what a policy has opened', async () => {
    const id = await failedPayment(h, shop, [['ETH', '0.05']]);
    const [row] = await h.db.query('SELECT * FROM payment WHERE id = $1', [id]);
    const deps = { codecs: h.api.deps.codecs, rateMaxAgeSeconds: 3600 };
    await h.db.transaction((tx) => refundUnderpaid(tx, deps, row));
    const [opened] = (await ann.get(`/api/v1/payments/${id}/refunds`)).body.data.items;
    const claim = new URL(opened.claimUrl).pathname.replace('/r/', '/refund-claims/');
    const named = await h.call('POST', claim, { body: { address: address(), confirm: true } });
    expect(named.body.status).toBe('awaiting_approval');
    expect(outcome(await approve(ann, opened._id))).toBe('awaiting_approval');
    expect(outcome(await approve(ann, opened._id))).toBe(refused);
    expect(outcome(await approve(bob, opened._id))).toBe('pending');
  });

  it('one user is enough below it, also for a key of his own', async () => {
    expect(outcome(await approve(ann, await asked(small)))).toBe('pending');
  });

  it('the limit of the moment of asking counts, and the table checks it', async () => {
    const id = await asked();
    await setLimits(h.db, shop.id, { dailyUsd: null, hourlyCount: null, approvalUsd: null }, 'test', 0);
    expect(outcome(await approve(ann, id))).toBe(refused);
    await setLimits(h.db, shop.id, { dailyUsd: null, hourlyCount: null, approvalUsd: '100' }, 'test', 0);
    const approveAs = (by: string) =>
      h.db.query(
        `UPDATE refund SET status = 'pending', state_version = state_version + 1, approved_at = now(),
           approved_by = ${by}
          WHERE id = $1`,
        [id],
      );
    await expect(approveAs('asked_by')).rejects.toThrow('refund_second_person');
    await expect(approveAs('NULL')).rejects.toThrow('refund_second_person');
  });

  it('answers about a key say who made it', async () => {
    const { items } = (await ann.get('/api/v1/api-keys')).body.data;
    expect(items).toEqual([expect.objectContaining({ name: 'k', createdBy: ann.email })]);
    const made = await ann.post('/api/v1/api-keys', {
      name: 'second',
      scopes: ['payments:read'],
      totpCode: await ann.code(),
    });
    expect(made.body.data.createdBy).toBe(ann.email);
    const renamed = await ann.call('PATCH', `/api/v1/api-keys/${made.body.data.id}`, { name: 'renamed' });
    expect(renamed.body.data).toMatchObject({ name: 'renamed', createdBy: ann.email });
  });
});
