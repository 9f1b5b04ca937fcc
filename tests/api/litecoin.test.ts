import { bech32 } from '@scure/base';
import { randomBytes } from 'node:crypto';
import { createCodecs } from '../../chains/codecs';
import { startHarness, type Harness } from './harness';
import { Person } from './person';
import { settledPayment } from './refundable';

/** A network that is off is not offered; one that is on is, at every door. */

const why = 'MWEB addresses cannot be paid';
const stealth = bech32.encode('tmweb', [0, ...bech32.toWords(randomBytes(66))], 200);
const currenciesOf = async (h: Harness): Promise<string[]> =>
  ((await h.call('GET', '/api/v1/currencies')).body.data as Array<{ currency: string }>).map((one) => one.currency);

describe('Litecoin where it is off', () => {
  let h: Harness;
  beforeAll(async () => {
    h = await startHarness();
  });
  afterAll(() => h?.stop());

  it('is neither listed nor taken', async () => {
    expect(await currenciesOf(h)).toEqual(['BTC', 'ETH', 'USDT_ERC20', 'USDC_ERC20']);
    const none = await h.call('GET', '/api/v1/min-orders/LTC');
    expect([none.status, none.body.error.code]).toEqual([400, 'CURRENCY_NOT_AVAILABLE']);
    const shop = await h.shop();
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'LTC' } });
    expect([made.status, made.body]).toEqual([400, { error: 'Payment creation failed' }]);
    const admin = await Person.admin(h);
    const address = createCodecs(h.api.deps.config.chain).litecoin.derive(
      createCodecs(h.api.deps.config.chain).litecoin.extendedKey(randomBytes(64), 'deposit'),
      0,
    );
    for (const [path, body] of [
      ['/api/v1/merchant-wallets', { currency: 'LTC' }],
      ['/api/v1/merchant-wallets', { currency: 'ltc', settlementAddress: address }],
      ['/api/v1/whitelist/wallet', { currency: 'LTC', address }],
    ] as const) {
      const answer = await admin.post(path, { ...body, totpCode: await admin.code() });
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 400, 'CURRENCY_NOT_AVAILABLE']);
    }
    const { liquidity } = (await h.call('GET', '/api/v1/conversions/liquidity', { key: shop.key })).body;
    expect(Object.keys(liquidity)).not.toContain('LTC');
  });
});

describe('Litecoin where it is on', () => {
  let h: Harness;
  beforeAll(async () => {
    h = await startHarness({ NETWORKS: 'bitcoin,ethereum,litecoin', LTC_NETWORK: 'regtest' });
  });
  afterAll(() => h?.stop());

  it('is listed with its depth and its least payment', async () => {
    const { data } = (await h.call('GET', '/api/v1/currencies')).body;
    expect(data.find((one: { currency: string }) => one.currency === 'LTC')).toMatchObject({
      network: 'litecoin',
      networkName: 'Litecoin',
      decimals: 8,
      isToken: false,
      contractAddress: null,
      requiredConfirmations: 6,
      payin: true,
      payout: true,
      convert: true,
      status: 'active',
      minAmountUsd: expect.any(Number) as number,
      explorerTxUrl: null,
    });
    const icon = await h.call('GET', '/icons/ltc.svg');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(icon.text).not.toContain('<text');
  });

  it('takes a payment to an address of its own, and shows a URI that wallets of Litecoin read', async () => {
    const shop = await h.shop();
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'LTC' } });
    expect(made.status).toBe(201);
    expect(made.body.depositAddress).toMatch(/^rltc1q[a-z0-9]{38}$/);
    const slug = made.body.invoiceUrl.split('/').at(-1) as string;
    const { paymentUri } = (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
    expect(paymentUri).toContain(`litecoin:${made.body.depositAddress}?amount=${made.body.amount}`);
    const found = await h.call('GET', `/api/v1/payments?search=${made.body.depositAddress.toUpperCase()}`, {
      key: shop.key,
    });
    expect(found.body.items).toHaveLength(1);
  });

  it('says at each door why an address of the extension block is refused', async () => {
    const admin = await Person.admin(h);
    const wallet = await admin.post('/api/v1/merchant-wallets', { currency: 'LTC', totpCode: await admin.code() });
    expect(wallet.status).toBe(201);
    const doors: Array<[path: string, method: 'POST' | 'PATCH', body: object]> = [
      ['/api/v1/whitelist/wallet', 'POST', { currency: 'LTC', address: stealth }],
      ['/api/v1/merchant-wallets', 'POST', { currency: 'LTC', settlementAddress: stealth.toUpperCase() }],
      [`/api/v1/merchant-wallets/${wallet.body.data.id}/settlement`, 'PATCH', { settlementAddress: stealth }],
      [
        '/api/v1/withdrawals',
        'POST',
        { currency: 'LTC', amount: '1', address: stealth, feeMode: 'add', idempotencyKey: 'to-the-hidden' },
      ],
    ];
    for (const [path, method, body] of doors) {
      await h.db.query('DELETE FROM rate_limit');
      const answer = await admin.call(method, path, { ...body, totpCode: await admin.code() });
      expect([path, answer.status, answer.body.error]).toEqual([
        path,
        400,
        { code: 'INVALID_ADDRESS', message: expect.stringContaining(why) as string },
      ]);
    }
    const { body } = await admin.post('/api/v1/mass-payouts/validate', {
      rows: [{ currency: 'LTC', address: stealth, amount: '1' }],
    });
    expect(body.data.rows[0]).toMatchObject({ valid: false, error: expect.stringContaining(why) as string });
  });

  it('says it where payers and keys name an address for a refund', async () => {
    const shop = await h.shop();
    const payment = await settledPayment(h, shop, { currency: 'LTC' });
    const refunds = `/api/v1/payments/${payment.id}/refunds`;
    const made = await h.call('POST', refunds, { key: shop.key, body: { type: 'partial', amount: '0.1' } });
    expect(made.status).toBe(201);
    const claim = new URL(made.body.data.claimUrl).pathname.replace('/r/', '/refund-claims/');
    const open = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'LTC' } });
    const slug = open.body.invoiceUrl.split('/').at(-1) as string;
    const doors: Array<[path: string, key: string | undefined, body: object]> = [
      [refunds, shop.key, { type: 'partial', amount: '0.1', address: stealth }],
      [claim, undefined, { address: stealth }],
      [claim, undefined, { address: stealth, confirm: true }],
      [`/invoice/${slug}/payer`, undefined, { address: stealth }],
    ];
    for (const [path, key, body] of doors) {
      await h.db.query('DELETE FROM rate_limit');
      const answer = await h.call('POST', path, { key, body });
      expect([path, answer.status, answer.text]).toEqual([path, 400, expect.stringContaining(why) as string]);
    }
  });
});
