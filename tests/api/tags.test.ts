/** @jest-environment node */
import { randomBytes } from 'node:crypto';
import { createCodecs } from '../../chains/codecs';
import { swapConversions } from '../../commands/conversions/provider-quote';
import { selectCurrency } from '../../commands/payments/select-currency';
import { audit } from '../../db/audit/audit';
import { ourReceivers, confirmDeposit, maturingDeposits } from '../../db/chains/arrivals';
import { openInvoicesToLookAt } from '../../db/chains/balance-looks';
import { applyBlock } from '../../db/chains/blocks';
import { payingUs } from '../../db/chains/mempool';
import { readCursor } from '../../db/chains/cursor';
import { watchedAddresses } from '../../db/chains/watched';
import { planIntent } from '../../db/txmanager/intents';
import { post } from '../../db/ledger/ledger';
import { bookUnclaimed } from '../../db/recovery/unclaimed';
import { assetOf, type Asset } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { paymentsAt } from '../activities/run-payment';
import { register, tagChain, withTags } from '../chain/registering';
import { byTwoOperators } from '../operators';
import { startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';
import { failedPayment, settledPayment } from './refundable';

/** Destination tags at every door: an asset whose network has them, and one whose network would lose them. */

const tagged: Asset = {
  ...assetOf('USDC_ERC20'),
  currency: 'TAGGED',
  asset: 'TAGGED',
  contract: `0x${'1'.repeat(40)}`,
  requiresDestinationTag: true,
};
const network = tagChain.network.id;
let codec: ChainCodec;
let h: Harness;
let unregister: () => void;
let ann: Person & { merchantId: string };
let shop: Awaited<ReturnType<Harness['shop']>>;

beforeAll(async () => {
  const others = [register([tagged]), register(tagChain.assets, tagChain.network)];
  unregister = () => others.forEach((leave) => leave());
  h = await startHarness({ PROXY_COUNT: '1', NETWORKS: 'bitcoin,ethereum,tagchain' });
  codec = withTags(createCodecs(h.api.deps.config.chain)[network]);
  // The codec of its family comes with its network; here the API is given it.
  Object.assign(h.api.deps.codecs, { [network]: codec });
  ann = (await Person.admin(h)) as typeof ann;
  ann.merchantId = (await ann.get('/api/v1/auth/me')).body.merchantId;
  shop = await h.shop({}, ['BTC', 'ETH', 'TAG']);
  await h.db.transaction((tx) =>
    post(tx, {
      key: `test/${newId()}`,
      entry: adjustment,
      postings: [
        { debit: 'A:treasury', credit: `L:available:${ann.merchantId}`, asset: 'TAGGED', amount: '1000' },
        { debit: 'A:treasury', credit: `L:available:${ann.merchantId}`, asset: 'TAG', amount: '1000' },
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
const answered = (answer: Answer): unknown[] => {
  const error = answer.body.error ?? answer.body;
  return [answer.status, error.code ?? error, error.message ?? answer.body.message];
};
const refused400 = (code: string, message: string): unknown[] => [400, code, expect.stringContaining(message)];
const missing = refused400('VALIDATION_ERROR', 'TAG needs a destination tag');
const tooLarge = refused400('VALIDATION_ERROR', 'a whole number up to 4294967295');
const unavailable = [400, 'CURRENCY_NOT_AVAILABLE', expect.anything()];
const list = async (body: object): Promise<Answer> =>
  ann.post('/api/v1/whitelist/wallet', { ...body, totpCode: await ann.code() });
let keys = 0;
const withdraw = async (body: object): Promise<Answer> =>
  ann.post('/api/v1/withdrawals', {
    amount: '10',
    currency: 'TAG',
    feeMode: 'deduct',
    idempotencyKey: `tags-${process.pid}-${(keys += 1)}`,
    ...body,
    totpCode: await ann.code(),
  });
const addWallet = async (body: object): Promise<Answer> =>
  ann.post('/api/v1/merchant-wallets', { ...body, totpCode: await ann.code() });

describe('an asset that requires tags', () => {
  it('is listed for withdrawals with a tag alone, and other assets without one', async () => {
    const to = address();
    expect(answered(await list({ currency: 'TAG', address: to }))).toEqual(missing);
    for (const destinationTag of ['4294967296', '+5'])
      expect(answered(await list({ currency: 'TAG', address: to, destinationTag }))).toEqual(tooLarge);
    const added = await list({ currency: 'TAG', address: to, destinationTag: '007' });
    expect([added.status, added.body.data.destinationTag]).toEqual([201, '7']);
    expect(answered(await list({ currency: 'TAG', address: to, destinationTag: '7' }))[1]).toBe('ALREADY_WHITELISTED');
    expect((await list({ currency: 'TAG', address: to, destinationTag: '8' })).status).toBe(201);
    const needless = await list({ currency: 'ETH', address: address(), destinationTag: '77' });
    expect(answered(needless)).toEqual(refused400('VALIDATION_ERROR', 'ETH has no destination tags'));
  });

  it('is withdrawn to the tag that is listed, and to no other', async () => {
    const to = address();
    const { id } = (await list({ currency: 'TAG', address: to, destinationTag: '5' })).body.data;
    expect(answered(await withdraw({ address: to }))).toEqual(missing);
    expect(answered(await withdraw({ address: to, destinationTag: '6' }))[1]).toBe('ADDRESS_NOT_WHITELISTED');
    expect(answered(await withdraw({ address: to, destinationTag: 'memo text' }))).toEqual(tooLarge);
    const needless = await withdraw({ currency: 'ETH', amount: '0.1', address: address(), destinationTag: '5' });
    expect(answered(needless)).toEqual(refused400('VALIDATION_ERROR', 'ETH has no destination tags'));
    for (const where of [{ address: to, destinationTag: '05' }, { whitelistId: id }]) {
      const { status, body } = await withdraw(where);
      expect([status, body.data.address.toLowerCase(), body.data.destinationTag]).toEqual([201, to, '5']);
    }
    // An entry that somebody wrote without its tag.
    await h.db.query('UPDATE whitelist_entry SET destination_tag = NULL WHERE id = $1', [id]);
    expect(answered(await withdraw({ whitelistId: id }))).toEqual(missing);
  });

  it('is in a mass payout by row and by file', async () => {
    const to = address();
    await list({ currency: 'TAG', address: to, destinationTag: '9' });
    const row = { currency: 'TAG', address: to, amount: '10' };
    const tags = [undefined, 'x', '10', '9', '09'];
    const rows = tags.map((tag) => ({ ...row, ...(tag === undefined ? {} : { destinationTag: tag }) }));
    const validated = (await ann.post('/api/v1/mass-payouts/validate', { rows })).body.data.rows as Array<{
      error?: string;
    }>;
    expect(validated.map(({ error }) => error ?? null)).toEqual([
      'TAG needs a destination tag',
      'a destination tag of TAG is a whole number up to 4294967295',
      expect.stringContaining('not on the withdrawal whitelist'),
      null,
      null,
    ]);
    const made = await ann.post('/api/v1/mass-payouts', {
      rows: rows.slice(3),
      idempotencyKey: `tags-batch-${process.pid}`,
      totpCode: await ann.code(),
    });
    expect(made.status).toBe(201);
    const lines = await h.db.query('SELECT destination_tag FROM payout_leg WHERE batch_id = $1 ORDER BY row_index', [
      made.body.data._id,
    ]);
    expect(lines).toEqual([{ destination_tag: '9' }, { destination_tag: '9' }]);
    const file = await ann.get(`/api/v1/mass-payouts/${made.body.data._id}/export.csv`);
    expect(file.text.split('\n').slice(1, 3)).toEqual([
      expect.stringMatching(/^\w{24},0,TAG,0x\w+,9,/),
      expect.stringMatching(/^\w{24},1,TAG,0x\w+,9,/),
    ]);
  });

  it('settles to the service alone', async () => {
    expect(answered(await addWallet({ currency: 'TAG', settlementAddress: address() }))).toEqual(missing);
    const own = await addWallet({ currency: 'TAG', settlementAddress: address(), destinationTag: '1' });
    expect(answered(own)).toEqual(refused400('VALIDATION_ERROR', 'TAG settles to the service alone'));
    const kept = await addWallet({ currency: 'TAG' });
    expect([kept.status, kept.body.data.custody]).toEqual([201, 'platform']);
    const elsewhere = await ann.call('PATCH', `/api/v1/merchant-wallets/${kept.body.data.id}/settlement`, {
      settlementAddress: address(),
      destinationTag: '1',
      totpCode: await ann.code(),
    });
    expect(answered(elsewhere)).toEqual(refused400('VALIDATION_ERROR', 'TAG settles to the service alone'));
  });

  it('is not refunded without its tag, by the merchant or by the payer', async () => {
    const { id } = await settledPayment(h, shop, { currency: 'TAG' });
    const refund = (body: object): Promise<Answer> =>
      h.call('POST', `/api/v1/payments/${id}/refunds`, {
        key: shop.key,
        body: { type: 'partial', amount: '0.1', reason: 'late', ...body },
      });
    expect(answered(await refund({ address: address() }))).toEqual(missing);
    expect(answered(await refund({ address: address(), destinationTag: '-3' }))).toEqual(tooLarge);
    const direct = await refund({ address: address(), destinationTag: '03' });
    expect([direct.status, direct.body.data.destinationTag]).toEqual([201, '3']);
    const made = await refund({});
    expect(made.status).toBe(201);
    const token = new URL(made.body.data.claimUrl).pathname.replace('/r/', '');
    const claim = (body: object): Promise<Answer> => h.call('POST', `/refund-claims/${token}`, { body });
    const to = address();
    for (const confirm of [false, true]) expect(answered(await claim({ address: to, confirm }))).toEqual(missing);
    const looked = (await claim({ address: to, destinationTag: '033' })).body;
    expect([looked.status, looked.destinationTag]).toEqual(['awaiting_address', '33']);
    const claimed = await claim({ address: to, destinationTag: '33', confirm: true });
    expect([claimed.status, claimed.body.destinationTag]).toEqual([200, '33']);
    expect((await claim({ address: to, destinationTag: '33', confirm: true })).status).toBe(200);
    for (const confirm of [false, true])
      expect(answered(await claim({ address: to, destinationTag: '34', confirm }))[1]).toBe('INVALID_STATE');
  });
});

describe('payments behind one address', () => {
  type Made = { paymentId: string; depositAddress: string; destinationTag: string; invoiceUrl: string };
  const create = async (currency: string | null = 'TAG'): Promise<Made> => {
    const body = { amount: 40, ...(currency ? { currency } : {}) };
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
    expect([made.status, made.text]).toEqual([201, expect.anything()]);
    return made.body as Made;
  };
  type Sent = Readonly<{ to: string; tag?: string; units?: bigint }>;
  let sent = 0;
  const block = async (...transfers: readonly Sent[]): Promise<string[]> => {
    const from = (await readCursor(h.db.manager, network))!;
    const all = transfers.map(({ units = 10n ** 18n, ...to }) => {
      sent += 1;
      return { txId: `0xt${sent}`, index: -1, currency: 'TAG', units, inputs: [], ...to };
    });
    const next = {
      height: from.height + 1,
      hash: `t${from.height + 1}`,
      parentHash: from.hash,
      time: Date.now() / 1000,
    };
    await h.db.transaction((tx) =>
      applyBlock(tx, network, from, { ...next, transfers: all, txIds: [], spent: new Map() }, 100),
    );
    return all.map(({ txId }) => txId);
  };
  const mature = async (): Promise<void> => {
    for (const deposit of await maturingDeposits(h.db.manager, network, 100_000))
      await h.db.transaction(async (tx) => {
        await confirmDeposit(tx, deposit, deposit.amount);
        await bookUnclaimed(tx, deposit.id);
      });
  };
  /** What the books say of deposits; other rows here are as no worker leaves them. */
  const broken = async (): Promise<unknown[]> =>
    (await audit(h.db)).filter(({ invariant }) => ['I2', 'I3', 'I10', 'I15'].includes(invariant));
  const depositsOf = (txIds: readonly string[]): Promise<unknown[]> =>
    h.db.query(`SELECT payment_id, tag, stated_tag, allocation FROM deposit WHERE tx_id = ANY($1) ORDER BY id`, [
      txIds,
    ]);

  it('have tags of their own, in every answer and in the payment URI', async () => {
    const [one, other] = [await create(), await create()];
    expect(one.depositAddress).toBe(other.depositAddress);
    expect(one.destinationTag).toMatch(/^[1-9]\d*$/);
    expect(one.destinationTag).not.toBe(other.destinationTag);
    const { body: read } = await h.call('GET', `/api/v1/payments/${one.paymentId}`, { key: shop.key });
    expect([read.publicKey, read.destinationTag]).toEqual([one.depositAddress, one.destinationTag]);
    const slug = one.invoiceUrl.split('/').pop();
    const invoice = (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
    expect([invoice.depositAddress, invoice.destinationTag]).toEqual([one.depositAddress, one.destinationTag]);
    expect(invoice.paymentUri).toBe(`tagchain:${one.depositAddress}?amount=${invoice.amount}&dt=${one.destinationTag}`);
    const file = await h.call('GET', '/api/v1/payments?format=csv', { key: shop.key });
    expect(file.text).toContain(`,${one.depositAddress},${one.destinationTag},`);
    const plain = await create('ETH');
    expect(plain).not.toHaveProperty('destinationTag');
  });

  it('get one at the choice of a currency, once', async () => {
    const { paymentId } = await create(null);
    const { config } = h.api.deps;
    const deps = { config, codecs: { ...h.api.deps.codecs } };
    const choose = (currency: string) =>
      h.db.transaction((tx) => selectCurrency(tx, deps, paymentId, currency, 'merchant'));
    const now = async (): Promise<unknown> =>
      (await h.db.query('SELECT deposit_address, destination_tag FROM payment WHERE id = $1', [paymentId]))[0];
    await choose('TAG');
    const first = (await now()) as { destination_tag: string };
    expect(first.destination_tag).toMatch(/^\d+$/);
    await choose('ETH');
    expect(await now()).toMatchObject({ destination_tag: null });
    await choose('TAG');
    expect(await now()).toEqual(first);
  });

  it('take what comes with their tags, and nothing else', async () => {
    const [one, other] = [await create(), await create()];
    const to = one.depositAddress;
    const stranger = '4000000000';
    const txIds = await block(
      { to, tag: one.destinationTag },
      { to, tag: other.destinationTag },
      { to },
      { to, tag: stranger },
      { to: address(), tag: one.destinationTag },
    );
    expect(await depositsOf(txIds)).toEqual([
      { payment_id: one.paymentId, tag: one.destinationTag, stated_tag: one.destinationTag, allocation: null },
      { payment_id: other.paymentId, tag: other.destinationTag, stated_tag: other.destinationTag, allocation: null },
      { payment_id: null, tag: '', stated_tag: null, allocation: null },
      { payment_id: null, tag: '', stated_tag: stranger, allocation: null },
    ]);
    await mature();
    expect((await depositsOf(txIds.slice(2))).map((row) => (row as { allocation: string }).allocation)).toEqual([
      'unclaimed',
      'unclaimed',
    ]);
    const [books] = await h.db.query(
      `SELECT trim_scale(amount)::text AS amount FROM balance
        WHERE account = 'L:unallocated:unclaimed' AND asset = 'TAG'`,
    );
    expect(books).toEqual({ amount: '2' });
    const incidents = await h.db.query(
      `SELECT details->>'statedTag' AS tag FROM incident WHERE kind = 'unclaimed-deposit' ORDER BY id`,
    );
    expect(incidents).toEqual([{ tag: null }, { tag: stranger }]);
    const runner = paymentsAt({ db: h.db, config: h.api.deps.config, codecs: createCodecs(h.api.deps.config.chain) });
    for (const { paymentId } of [one, other]) expect((await runner.runPayment(paymentId)).status).toBe('CONFIRMED');
    expect(await broken()).toEqual([]);
  });

  it('keep their tags when they are over: the next one gets another, and late money is theirs', async () => {
    const one = await create();
    const over = await h.call('POST', `/api/v1/payments/${one.paymentId}/cancel`, { key: shop.key, body: {} });
    expect([over.status, over.body.status]).toEqual([200, 'CANCELLED']);
    const next = await create();
    expect(next.depositAddress).toBe(one.depositAddress);
    expect(next.destinationTag).not.toBe(one.destinationTag);
    const txIds = await block({ to: one.depositAddress, tag: one.destinationTag });
    await mature();
    expect(await depositsOf(txIds)).toEqual([expect.objectContaining({ payment_id: one.paymentId, allocation: null })]);
  });

  it('take nothing for a tag that is spelled otherwise than theirs', async () => {
    const { depositAddress: to, destinationTag } = await create();
    const spelled = [`0${destinationTag}`, `+${destinationTag}`, ` ${destinationTag}`, `${destinationTag}.0`, ''];
    const txIds = await block(...spelled.map((tag) => ({ to, tag })));
    await mature();
    expect(await depositsOf(txIds)).toEqual(
      spelled.map((tag) => ({ payment_id: null, tag: '', stated_tag: tag, allocation: 'unclaimed' })),
    );
  });

  it('take nothing that comes to the same address of another network', async () => {
    const { paymentId, depositAddress: to, destinationTag: tag } = await create();
    // Networks of one family derive the same addresses, and this one is drawn there too.
    await h.db.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'deposit', 900001)
       ON CONFLICT DO NOTHING`,
      [to],
    );
    const there = (await ourReceivers(h.db, 'ethereum', [{ to, tag }]))({ to, tag });
    expect(there).toMatchObject({ address: to, tag: '' });
    expect(there!.payment_id).not.toBe(paymentId);
    expect((await ourReceivers(h.db, network, [{ to, tag }]))({ to, tag })).toMatchObject({
      tag,
      payment_id: paymentId,
    });
  });

  it('are told apart in the mempool too, and their address is watched once', async () => {
    const one = await create();
    const pay = (tag?: string) => ({
      txId: `0xpool${tag}`,
      index: -1,
      to: one.depositAddress,
      ...(tag === undefined ? {} : { tag }),
      currency: 'TAG',
      units: 10n ** 18n,
      inputs: [],
    });
    const transfers = [pay(one.destinationTag), pay(), { ...pay('1'), to: address(), txId: '0xtheirs' }];
    expect(await payingUs(h.db, network, transfers)).toEqual([`0xpool${one.destinationTag}`, '0xpoolundefined']);
    const watched = (await watchedAddresses(h.db, network, '', 1000)).filter(
      (row) => row.address === one.depositAddress,
    );
    expect(watched).toHaveLength(1);
  });

  it('are not found by the balance of the address that they share', async () => {
    await create();
    const { height } = (await readCursor(h.db.manager, network))!;
    expect(await openInvoicesToLookAt(h.db, network, 0, 100)).toEqual([]);
    expect(height).toBeGreaterThan(100);
  });

  it('are given what came without their tag by two operators', async () => {
    const one = await create();
    const [txId] = await block({ to: one.depositAddress });
    await mature();
    const [{ id: depositId }] = await h.db.query('SELECT id::text FROM deposit WHERE tx_id = $1', [txId]);
    const whole = { network, address: one.depositAddress, paymentId: one.paymentId };
    await expect(byTwoOperators(h.db, 'claim-address', whole)).rejects.toThrow('has forgotten');
    const ether = await create('ETH');
    await expect(byTwoOperators(h.db, 'claim-deposit', { depositId, paymentId: ether.paymentId })).rejects.toThrow(
      'does not receive',
    );
    const padded = { depositId: `0${depositId}`, paymentId: one.paymentId };
    await expect(byTwoOperators(h.db, 'claim-deposit', padded)).rejects.toThrow('No deposit');
    await byTwoOperators(h.db, 'claim-deposit', { depositId, paymentId: one.paymentId });
    expect(await depositsOf([txId!])).toEqual([
      { payment_id: one.paymentId, tag: one.destinationTag, stated_tag: null, allocation: null },
    ]);
    await expect(byTwoOperators(h.db, 'claim-deposit', { depositId, paymentId: one.paymentId })).rejects.toThrow(
      'is not unclaimed',
    );
    const runner = paymentsAt({ db: h.db, config: h.api.deps.config, codecs: createCodecs(h.api.deps.config.chain) });
    expect((await runner.runPayment(one.paymentId)).status).toBe('CONFIRMED');
    expect(await broken()).toEqual([]);
  });
});

it('is not converted at a provider, whose orders have no tags', async () => {
  const external = swapConversions(h.db, 1800);
  const ask = { fromAmount: '1', rates: { from: '80', to: '80' }, limits: { minimum: '0', maximum: '10' } };
  for (const [fromCurrency, toCurrency] of [
    ['TAG', 'ETH'],
    ['ETH', 'TAG'],
  ] as const)
    await expect(external.quote({ ...ask, fromCurrency, toCurrency })).rejects.toMatchObject({
      code: 'QUOTE_FAILED',
      message: expect.stringContaining('TAG needs destination tags'),
    });
});

describe('an asset whose tags nothing carries', () => {
  it('is refused at every door', async () => {
    const to = address();
    const entry = { currency: 'TAGGED', address: to, destinationTag: '5' };
    expect(answered(await list(entry))).toEqual(unavailable);
    expect(answered(await withdraw(entry))).toEqual(unavailable);
    const { body } = await ann.post('/api/v1/mass-payouts/validate', { rows: [{ ...entry, amount: '10' }] });
    expect(body.data.rows[0].error).toBe('TAGGED cannot be sent yet');
    expect(answered(await addWallet({ currency: 'TAGGED' }))).toEqual(unavailable);
    await h.db.query(
      `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
       VALUES ($1, $2, 'TAGGED', $3, 'platform')`,
      [newId(), shop.id, to],
    );
    const refused = await h.call('POST', '/api/v1/payments', {
      key: shop.key,
      body: { amount: 40, currency: 'TAGGED' },
    });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('CURRENCY_NOT_AVAILABLE')]);
    expect(await h.db.query(`SELECT FROM address WHERE currency = 'TAGGED'`)).toEqual([]);
    const id = await failedPayment(h, shop, [['TAGGED', '50']]);
    const refund = { type: 'full', reason: 'late', address: to, destinationTag: '3' };
    expect(answered(await h.call('POST', `/api/v1/payments/${id}/refunds`, { key: shop.key, body: refund }))).toEqual(
      unavailable,
    );
  });
});

it.each([
  ['TAGGED', '7'],
  ['TAGGED', undefined],
  ['TAG', undefined],
  ['ETH', '7'],
] as const)('plans no %s that leaves with the tag %s', async (currency, tag) => {
  const intent = {
    kind: 'withdrawal' as const,
    ref: newId(),
    network: assetOf(currency).network,
    currency,
    from_address: address(),
    outputs: [{ address: address(), units: '1', ...(tag === undefined ? {} : { tag }) }],
    deposit_ids: [],
    max_unit_price: '1',
    fee_budget: '1',
    payment_id: null,
    merchant_id: null,
    owner_kind: 'withdrawal' as const,
    owner_id: 'tags',
  };
  await expect(h.db.transaction((tx) => planIntent(tx, intent))).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(await h.db.query(`SELECT FROM intent WHERE owner_id = 'tags'`)).toEqual([]);
});
