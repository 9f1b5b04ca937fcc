/** @jest-environment node */
import { xrplCodec } from '../../chains/xrpl/codec';
import { post } from '../../db/ledger/ledger';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { simulated, xrplChains, xrplNetwork } from '../chain/expiring-networks';
import { startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';
import { settledPayment } from './refundable';

/** Addresses of the XRP Ledger that have their tag in them, at every door that takes a receiver: nobody is paid in its
 *  coin without a tag. */

const network = xrplNetwork.id;
const codec = xrplCodec(xrplChains.simulator);
const main = xrplCodec(xrplChains.mainnet);
let h: Harness;
let ann: Person;
let shop: Awaited<ReturnType<Harness['shop']>>;

beforeAll(async () => {
  const SIGNER_NODES = JSON.stringify({ [network]: 'http://127.0.0.1:1' });
  h = await startHarness({ PROXY_COUNT: '1', NETWORKS: `bitcoin,ethereum,${network}`, ...simulated, SIGNER_NODES });
  await h.db.query(`UPDATE network_fee SET unit_price = 10, tip_price = 0 WHERE network = $1`, [network]);
  ann = await Person.admin(h);
  const { merchantId } = (await ann.get('/api/v1/auth/me')).body;
  shop = await h.shop({}, ['XRP']);
  await h.db.transaction((tx) =>
    post(tx, {
      key: `test/${newId()}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: 'XRP', amount: '1000' }],
    }),
  );
});
afterAll(async () => {
  await h?.stop();
});
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

let made = 0;
/** An account that nobody has been paid at before, and what a wallet shows of it. */
const receiver = (tag: string) => {
  made += 1;
  const address = codec.derive(codec.extendedKey(Buffer.alloc(64, 99), 'deposit'), made);
  return { address, tag, packed: codec.xAddress({ address, tag }), bare: codec.xAddress({ address }) };
};
const answered = ({ status, body }: Answer): unknown[] => [status, body.error?.code ?? body.error, body.error?.message];
const refused = (message: string, code = 'VALIDATION_ERROR'): unknown[] => [
  400,
  code,
  expect.stringContaining(message),
];
const list = async (body: object): Promise<Answer> =>
  ann.post('/api/v1/whitelist/wallet', { currency: 'XRP', ...body, totpCode: await ann.code() });
const withdraw = async (body: object): Promise<Answer> =>
  ann.post('/api/v1/withdrawals', {
    ...{ amount: '10', currency: 'XRP', feeMode: 'deduct', idempotencyKey: `x-${newId()}` },
    ...body,
    totpCode: await ann.code(),
  });

it('are listed as the account and its tag', async () => {
  const { address, tag, packed, bare } = receiver('17');
  expect(packed).toMatch(/^T/);
  expect(answered(await list({ address: packed, destinationTag: '18' }))).toEqual(refused('has the tag 17 in it'));
  expect(answered(await list({ address: bare }))).toEqual(refused('XRP needs a destination tag'));
  expect(answered(await list({ address: bare, destinationTag: '17' }))).toEqual(refused('its receiver has no tag'));
  const ofMain = main.xAddress({ address, tag });
  expect(answered(await list({ address: ofMain }))).toEqual(refused('of the main network', 'INVALID_ADDRESS'));
  const mistyped = `${packed.slice(0, -1)}${packed.endsWith('A') ? 'B' : 'A'}`;
  expect(answered(await list({ address: mistyped }))[1]).toBe('INVALID_ADDRESS');
  const added = await list({ address: packed });
  expect([added.status, added.body.data]).toMatchObject([201, { address, destinationTag: tag }]);
  expect(answered(await list({ address, destinationTag: '017' }))[1]).toBe('ALREADY_WHITELISTED');
});

it('are withdrawn to as listed, in either way of writing', async () => {
  const { address, tag, packed } = receiver('21');
  await list({ address: packed });
  for (const to of [{ address: packed }, { address: packed, destinationTag: '021' }, { address, destinationTag: tag }])
    expect((await withdraw(to)).body.data).toMatchObject({ address, destinationTag: tag });
  expect(answered(await withdraw({ address: packed, destinationTag: '22' }))).toEqual(refused('has the tag 21 in it'));
  expect(answered(await withdraw({ address }))).toEqual(refused('XRP needs a destination tag'));
  const another = codec.xAddress({ address, tag: '22' });
  expect(answered(await withdraw({ address: another }))[1]).toBe('ADDRESS_NOT_WHITELISTED');
});

it('are paid in a mass payout, by row and by file', async () => {
  const { address, tag, packed, bare } = receiver('31');
  await list({ address: packed });
  const of = (to: string, destinationTag?: string) => ({
    ...{ currency: 'XRP', address: to, amount: '10' },
    ...(destinationTag === undefined ? {} : { destinationTag }),
  });
  const rows = [of(packed), of(` ${packed} `, '31'), of(packed, '32'), of(bare), of(address)];
  const { body } = await ann.post('/api/v1/mass-payouts/validate', { rows });
  const errors = (body.data.rows as Array<{ error?: string }>).map(({ error }) => error ?? null);
  expect(errors).toEqual([
    null,
    null,
    expect.stringContaining('has the tag 31 in it'),
    'XRP needs a destination tag',
    'XRP needs a destination tag',
  ]);
  const csv = ['currency,address,amount,destinationTag', `XRP,${packed},10,`, `XRP,${address},10,31`].join('\n');
  const read = await h.call('POST', '/api/v1/mass-payouts/import', {
    text: csv,
    headers: {
      'Content-Type': 'text/csv',
      Origin: 'http://localhost:3002',
      Cookie: [...ann.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
  });
  const queued = await ann.post('/api/v1/mass-payouts', {
    ...{ rows: read.body.data.rows, idempotencyKey: `x-batch-${newId()}` },
    totpCode: await ann.code(),
  });
  expect([queued.status, queued.text]).toEqual([201, expect.anything()]);
  const lines = await h.db.query('SELECT address, destination_tag FROM payout_leg WHERE batch_id = $1', [
    queued.body.data._id,
  ]);
  expect(lines).toEqual([1, 2].map(() => ({ address, destination_tag: tag })));
});

it('are refunded to, by the merchant and by the payer', async () => {
  const { id } = await settledPayment(h, shop, { currency: 'XRP' });
  const refund = (body: object): Promise<Answer> =>
    h.call('POST', `/api/v1/payments/${id}/refunds`, {
      key: shop.key,
      body: { type: 'partial', amount: '0.1', reason: 'late', ...body },
    });
  const one = receiver('41');
  expect(answered(await refund({ address: one.packed, destinationTag: '4' }))).toEqual(refused('has the tag 41 in it'));
  expect(answered(await refund({ address: one.bare }))).toEqual(refused('XRP needs a destination tag'));
  const direct = await refund({ address: one.packed });
  expect([direct.status, direct.body.data]).toMatchObject([201, { address: one.address, destinationTag: '41' }]);
  const token = new URL((await refund({})).body.data.claimUrl).pathname.replace('/r/', '');
  const claim = (body: object): Promise<Answer> => h.call('POST', `/refund-claims/${token}`, { body });
  const two = receiver('42');
  expect(answered(await claim({ address: two.bare, confirm: true }))).toEqual(refused('XRP needs a destination tag'));
  const sure = await claim({ address: two.packed });
  expect(sure.body).toMatchObject({ status: 'awaiting_address', destinationTag: '42' });
  const done = await claim({ address: two.packed, confirm: true });
  expect([done.status, done.body]).toMatchObject([200, { address: two.address, destinationTag: '42' }]);
  expect((await claim({ address: two.address, destinationTag: '42', confirm: true })).status).toBe(200);
});

it('are left by a payer for a refund', async () => {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'XRP' } });
  const slug = body.invoiceUrl.split('/').pop();
  const { packed, address } = receiver('51');
  const left = await h.call('POST', `/invoice/${slug}/payer`, { body: { address: packed } });
  expect([left.status, left.text]).toEqual([200, expect.anything()]);
  const [kept] = await h.db.query('SELECT address, destination_tag FROM payer_browser WHERE payment_id = $1', [
    body.paymentId,
  ]);
  expect(kept).toEqual({ address, destination_tag: '51' });
});

/** A tag is a number: its zeros in front tell nothing apart, and never make two receivers of one. */
describe.each(['061', '00000000061'])('a tag that is written %s is 61', (written) => {
  const one = receiver('61');
  const ways = [
    { address: one.address, destinationTag: written },
    { address: one.packed, destinationTag: written },
  ];

  it('is listed once', async () => {
    const answers: unknown[] = [];
    for (const way of [...ways, { address: one.address, destinationTag: '61' }]) {
      const { status, body } = await list(way);
      answers.push(status === 201 ? body.data.destinationTag : answered({ status, body } as Answer)[1]);
    }
    expect(answers).toEqual(['61', 'ALREADY_WHITELISTED', 'ALREADY_WHITELISTED']);
  });

  it('is withdrawn and paid out to as listed', async () => {
    for (const way of ways)
      expect((await withdraw(way)).body.data).toMatchObject({ address: one.address, destinationTag: '61' });
    const rows = ways.map((way) => ({ currency: 'XRP', amount: '10', ...way }));
    const file = ['currency,address,amount,destinationTag', `XRP,${one.packed},10,${written}`].join('\n');
    const read = await h.call('POST', '/api/v1/mass-payouts/import', {
      text: file,
      headers: {
        'Content-Type': 'text/csv',
        Origin: 'http://localhost:3002',
        Cookie: [...ann.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    const queued = await ann.post('/api/v1/mass-payouts', {
      ...{ rows: [...rows, ...read.body.data.rows], idempotencyKey: `x-batch-${newId()}` },
      totpCode: await ann.code(),
    });
    expect([queued.status, queued.text]).toEqual([201, expect.anything()]);
    const lines = await h.db.query('SELECT address, destination_tag FROM payout_leg WHERE batch_id = $1', [
      queued.body.data._id,
    ]);
    expect(lines).toEqual([1, 2, 3].map(() => ({ address: one.address, destination_tag: '61' })));
  });

  it('is refunded to, claimed and left for a refund', async () => {
    const { id } = await settledPayment(h, shop, { currency: 'XRP' });
    const refund = (body: object): Promise<Answer> =>
      h.call('POST', `/api/v1/payments/${id}/refunds`, {
        key: shop.key,
        body: { type: 'partial', amount: '0.1', reason: 'late', ...body },
      });
    for (const way of ways)
      expect((await refund(way)).body.data).toMatchObject({ address: one.address, destinationTag: '61' });
    for (const way of ways) {
      const token = new URL((await refund({})).body.data.claimUrl).pathname.replace('/r/', '');
      const claimed = await h.call('POST', `/refund-claims/${token}`, { body: { ...way, confirm: true } });
      expect([claimed.status, claimed.body]).toMatchObject([200, { address: one.address, destinationTag: '61' }]);
      const { body } = await h.call('POST', '/api/v1/payments', {
        key: shop.key,
        body: { amount: 40, currency: 'XRP' },
      });
      const slug = body.invoiceUrl.split('/').pop();
      expect((await h.call('POST', `/invoice/${slug}/payer`, { body: way })).status).toBe(200);
      const [kept] = await h.db.query('SELECT address, destination_tag FROM payer_browser WHERE payment_id = $1', [
        body.paymentId,
      ]);
      expect(kept).toEqual({ address: one.address, destination_tag: '61' });
    }
  });
});

it('does not pay our own account, whatever tag is in its address', async () => {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'XRP' } });
  const packed = codec.xAddress({ address: body.depositAddress, tag: '5' });
  expect(answered(await list({ address: packed }))[1]).toBe('INVALID_ADDRESS');
});
