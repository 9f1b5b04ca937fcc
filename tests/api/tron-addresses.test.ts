/** @jest-environment node */
import { hexOf } from '../../chains/tron/address';
import { createCodec } from '../../chains/codecs';
import { post } from '../../db/ledger/ledger';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { simulated } from '../chain/expiring-networks';
import { startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';
import { settledPayment } from './refundable';

/** The hexadecimal spelling of TRON's addresses has no checksum: no door takes it from a person. */

const currency = 'TRX';
const spelling = 'In hexadecimal an address of TRON has no checksum: give the spelling that begins with T';
let codec: ReturnType<typeof createCodec>;
let h: Harness;
let ann: Person;
let shop: Awaited<ReturnType<Harness['shop']>>;

beforeAll(async () => {
  const SIGNER_NODES = JSON.stringify({ tron: 'http://127.0.0.1:1' });
  h = await startHarness({ PROXY_COUNT: '1', NETWORKS: 'bitcoin,ethereum,tron', ...simulated, SIGNER_NODES });
  await h.db.query(`UPDATE network_fee SET unit_price = 420, tip_price = 0 WHERE network = 'tron'`);
  codec = createCodec('tron', h.api.deps.config.chain);
  ann = await Person.admin(h);
  const { merchantId } = (await ann.get('/api/v1/auth/me')).body;
  shop = await h.shop({}, [currency]);
  await h.db.transaction((tx) =>
    post(tx, {
      key: `test/${newId()}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: currency, amount: '1000' }],
    }),
  );
});
afterAll(async () => {
  await h?.stop();
});

let made = 0;
/** An account outside the service, in both spellings. */
function receiver(): { address: string; hex: string } {
  made += 1;
  const address = codec.derive(codec.extendedKey(Buffer.alloc(64, 99), 'deposit'), made);
  return { address, hex: hexOf(address) };
}
const answered = ({ status, body }: Answer): unknown[] => [status, body.error?.code ?? body.error, body.error?.message];
const refused = [400, 'INVALID_ADDRESS', spelling];
const list = async (address: string): Promise<Answer> =>
  ann.post('/api/v1/whitelist/wallet', { currency, address, totpCode: await ann.code() });
const withdraw = async (address: string): Promise<Answer> =>
  ann.post('/api/v1/withdrawals', {
    ...{ amount: '10', currency, feeMode: 'deduct', idempotencyKey: `t-${newId()}`, address },
    totpCode: await ann.code(),
  });

it('is listed, withdrawn to and paid out in the other spelling alone', async () => {
  const { address, hex } = receiver();
  expect(answered(await list(hex))).toEqual(refused);
  expect(answered(await list(hex.toUpperCase()))).toEqual(refused);
  expect((await list(address)).body.data).toMatchObject({ address });
  expect(answered(await withdraw(hex))).toEqual(refused);
  expect((await withdraw(address)).body.data).toMatchObject({ address });
  const rows = [hex, ` ${hex} `, address].map((to) => ({ currency, address: to, amount: '10' }));
  const { body } = await ann.post('/api/v1/mass-payouts/validate', { rows });
  const errors = (body.data.rows as Array<{ error?: string }>).map(({ error }) => error ?? null);
  expect(errors).toEqual([spelling, spelling, null]);
});

it('settles a wallet of the merchant to the other spelling alone', async () => {
  const { address, hex } = receiver();
  const add = async (settlementAddress: string): Promise<Answer> =>
    ann.post('/api/v1/merchant-wallets', { currency, settlementAddress, totpCode: await ann.code() });
  expect(answered(await add(hex))).toEqual(refused);
  expect((await add(address)).status).toBe(201);
});

it('is refunded to, by the merchant and by the payer, in the other spelling alone', async () => {
  const { id } = await settledPayment(h, shop, { currency });
  const refund = (body: object): Promise<Answer> =>
    h.call('POST', `/api/v1/payments/${id}/refunds`, {
      key: shop.key,
      body: { type: 'partial', amount: '1', ...body },
    });
  const one = receiver();
  expect(answered(await refund({ address: one.hex }))).toEqual(refused);
  expect((await refund({ address: one.address })).body.data).toMatchObject({ address: one.address });
  const token = new URL((await refund({})).body.data.claimUrl).pathname.replace('/r/', '');
  const claim = (address: string, confirm: boolean): Promise<Answer> =>
    h.call('POST', `/refund-claims/${token}`, { body: { address, confirm } });
  for (const confirm of [false, true]) expect(answered(await claim(one.hex, confirm))).toEqual(refused);
  expect((await claim(one.address, true)).body).toMatchObject({ address: one.address });
});

it('is left for a refund in the other spelling alone', async () => {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency } });
  const leave = (address: string): Promise<Answer> =>
    h.call('POST', `/invoice/${body.invoiceUrl.split('/').pop()}/payer`, { body: { address } });
  const { address, hex } = receiver();
  expect(answered(await leave(hex))).toEqual(refused);
  expect((await leave(address)).status).toBe(200);
});

it('is found in either spelling', async () => {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency } });
  for (const search of [body.depositAddress as string, hexOf(body.depositAddress)]) {
    const found = await h.call('GET', `/api/v1/payments?search=${search}`, { key: shop.key });
    expect(found.body.items).toMatchObject([{ _id: body.paymentId }]);
  }
});
