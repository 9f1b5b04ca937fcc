import { randomBytes } from 'node:crypto';
import { planIntent } from '../../db/txmanager/intents';
import { post } from '../../db/ledger/ledger';
import { assetOf, type Asset } from '../../domain/chains/assets';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { register } from '../chain/registering';
import { startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';
import { failedPayment } from './refundable';

/** An asset that requires destination tags, which no network of ours carries yet: every door through which its money
 *  would come or go without one. */

const tagged: Asset = {
  ...assetOf('USDC_ERC20'),
  currency: 'TAGGED',
  asset: 'TAGGED',
  contract: `0x${'1'.repeat(40)}`,
  requiresDestinationTag: true,
};
let h: Harness;
let unregister: () => void;
let ann: Person & { merchantId: string };
let shop: Awaited<ReturnType<Harness['shop']>>;

beforeAll(async () => {
  unregister = register([tagged]);
  h = await startHarness({ PROXY_COUNT: '1' });
  ann = (await Person.admin(h)) as typeof ann;
  ann.merchantId = (await ann.get('/api/v1/auth/me')).body.merchantId;
  shop = await h.shop({}, ['BTC', 'ETH', 'USDT_ERC20', 'USDC_ERC20']);
  await h.db.transaction((tx) =>
    post(tx, {
      key: `test/${newId()}`,
      entry: adjustment,
      postings: [
        { debit: 'A:treasury', credit: `L:available:${ann.merchantId}`, asset: 'TAGGED', amount: '1000' },
        { debit: 'A:treasury', credit: `L:available:${ann.merchantId}`, asset: 'ETH', amount: '1' },
      ],
    }),
  );
});
afterAll(async () => {
  await h?.stop();
  unregister?.();
});

const address = (): string => `0x${randomBytes(20).toString('hex')}`;
const told = (answer: Answer): unknown[] => {
  const error = answer.body.error ?? answer.body;
  return [answer.status, error.code ?? error, error.message ?? answer.body.message];
};
const missing = [400, 'VALIDATION_ERROR', expect.stringContaining('TAGGED needs a destination tag')];
const unavailable = [400, 'CURRENCY_NOT_AVAILABLE', expect.anything()];
const list = async (body: object): Promise<Answer> =>
  ann.post('/api/v1/whitelist/wallet', { ...body, totpCode: await ann.code() });
let keys = 0;
const withdraw = async (body: object): Promise<Answer> =>
  ann.post('/api/v1/withdrawals', {
    amount: '10',
    currency: 'TAGGED',
    feeMode: 'deduct',
    idempotencyKey: `tags-${process.pid}-${(keys += 1)}`,
    ...body,
    totpCode: await ann.code(),
  });

describe('an asset that requires tags', () => {
  it('is listed for withdrawals with a tag alone, and other assets without one', async () => {
    expect(told(await list({ currency: 'TAGGED', address: address() }))).toEqual(missing);
    const added = await list({ currency: 'TAGGED', address: address(), destinationTag: '77' });
    expect([added.status, added.body.data.destinationTag]).toEqual([201, '77']);
    const needless = await list({ currency: 'ETH', address: address(), destinationTag: '77' });
    expect(told(needless)).toEqual([400, 'VALIDATION_ERROR', expect.stringContaining('ETH has no destination tags')]);
  });

  it('is not withdrawn without its tag, and not with one while nothing would carry it', async () => {
    const to = address();
    const { id } = (await list({ currency: 'TAGGED', address: to, destinationTag: '5' })).body.data;
    expect(told(await withdraw({ address: to }))).toEqual(missing);
    expect(told(await withdraw({ address: to, destinationTag: '5' }))).toEqual(unavailable);
    expect(told(await withdraw({ whitelistId: id }))).toEqual(unavailable);
    // An entry that somebody wrote without its tag.
    await h.db.query('UPDATE whitelist_entry SET destination_tag = NULL WHERE id = $1', [id]);
    expect(told(await withdraw({ whitelistId: id }))).toEqual(missing);
    const { balances } = (await ann.get('/api/v1/ledger/balances')).body;
    expect(balances.find((one: { currency: string }) => one.currency === 'TAGGED')).toMatchObject({ reserved: '0' });
  });

  it('is in no mass payout', async () => {
    const to = address();
    await list({ currency: 'TAGGED', address: to, destinationTag: '9' });
    const row = { currency: 'TAGGED', address: to, amount: '10' };
    const { body } = await ann.post('/api/v1/mass-payouts/validate', { rows: [row, { ...row, destinationTag: '9' }] });
    const { rows, canSubmit } = body.data;
    expect(canSubmit).toBe(false);
    expect(rows.map((one: { error: string }) => one.error)).toEqual([
      'TAGGED needs a destination tag',
      'TAGGED cannot be sent yet',
    ]);
  });

  it('has no wallet, and no payment even where it has one', async () => {
    const add = async (body: object): Promise<Answer> =>
      ann.post('/api/v1/merchant-wallets', { currency: 'TAGGED', ...body, totpCode: await ann.code() });
    expect(told(await add({ settlementAddress: address() }))).toEqual(missing);
    expect(told(await add({ settlementAddress: address(), destinationTag: '1' }))).toEqual(unavailable);
    expect(told(await add({}))).toEqual(unavailable);
    await h.db.query(
      `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
       VALUES ($1, $2, 'TAGGED', $3, 'platform')`,
      [newId(), shop.id, address()],
    );
    const body = { amount: 40, currency: 'TAGGED' };
    const refused = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('CURRENCY_NOT_AVAILABLE'),
    ]);
    expect(await h.db.query(`SELECT FROM address WHERE currency = 'TAGGED'`)).toEqual([]);
  });

  it('is not refunded without its tag, by the merchant or by the payer', async () => {
    const id = await failedPayment(h, shop, [['TAGGED', '50']]);
    const refund = (body: object): Promise<Answer> =>
      h.call('POST', `/api/v1/payments/${id}/refunds`, {
        key: shop.key,
        body: { type: 'full', reason: 'late', ...body },
      });
    expect(told(await refund({ address: address() }))).toEqual(missing);
    expect(told(await refund({ address: address(), destinationTag: '3' }))).toEqual(unavailable);
    const made = await refund({});
    expect(made.status).toBe(201);
    const token = new URL(made.body.data.claimUrl).pathname.replace('/r/', '');
    const claim = (body: object): Promise<Answer> => h.call('POST', `/refund-claims/${token}`, { body });
    for (const confirm of [false, true]) {
      expect(told(await claim({ address: address(), confirm }))).toEqual(missing);
      expect(told(await claim({ address: address(), destinationTag: '3', confirm }))).toEqual(unavailable);
    }
    expect(await h.db.query('SELECT status, address FROM refund WHERE payment_id = $1', [id])).toEqual([
      { status: 'awaiting_address', address: null },
    ]);
  });

  it('is never planned to be sent', async () => {
    const intent = {
      kind: 'withdrawal' as const,
      ref: newId(),
      network: 'ethereum',
      currency: 'TAGGED',
      from_address: address(),
      outputs: [{ address: address(), units: '1' }],
      deposit_ids: [],
      max_unit_price: '1',
      fee_budget: '1',
      payment_id: null,
      merchant_id: null,
      owner_kind: 'withdrawal' as const,
      owner_id: 'tags',
    };
    await expect(h.db.transaction((tx) => planIntent(tx, intent))).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    expect(await h.db.query(`SELECT FROM intent WHERE currency = 'TAGGED'`)).toEqual([]);
  });
});
