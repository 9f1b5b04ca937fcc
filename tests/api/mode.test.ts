import { createApiKey } from '../../db/access/api-keys';
import { ConfigError, parseConfig } from '../../domain/config';
import { scopes } from '../../domain/access/access';
import { createLogger } from '../../api/http/logger';
import { startApi } from '../../api/main';
import { urlFor } from '../setup/postgres';
import { secretsKey, startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';
import { settledPayment } from './refundable';

/** A live and a test instance: each knows its own keys and its own database. */

const other = { live: 'test', test: 'live' } as const;

describe.each(['live', 'test'] as const)('4: an instance with MODE=%s', (mode) => {
  let h: Harness;
  let shop: Shop;
  beforeAll(async () => {
    h = await startHarness({ MODE: mode });
    shop = await h.shop();
  });
  afterAll(() => h?.stop());

  it('makes keys of its own prefix, and takes them', async () => {
    expect(shop.key).toMatch(new RegExp(`^svc_${mode}_[0-9A-Za-z]{32}$`));
    expect((await h.call('GET', '/api/v1/payments', { key: shop.key })).status).toBe(200);
    const ann = await Person.admin(h);
    const { publishableKey } = (await ann.get('/api/v1/api-keys/publishable')).body;
    expect(publishableKey).toMatch(new RegExp(`^pk_${mode}_\\w{32}$`));
    const totpCode = await ann.code();
    const made = await ann.post('/api/v1/api-keys', { name: 'k', scopes: [...scopes], totpCode });
    expect(made.body.data).toMatchObject({
      apiKey: expect.stringMatching(new RegExp(`^svc_${mode}_`)) as string,
      prefix: `svc_${mode}_`,
    });
    const rotated = await ann.post('/api/v1/api-keys/publishable/rotate', { totpCode: await ann.code() });
    expect(rotated.body.publishableKey).toMatch(new RegExp(`^pk_${mode}_`));
  });

  it('refuses keys of the other mode by name, whoever made them', async () => {
    const { apiKey } = await createApiKey(h.db, shop.id, {
      secretsKey,
      name: 'k',
      createdBy: null,
      scopes: ['payments:read'],
    });
    const foreign = apiKey.replace(`_${mode}_`, `_${other[mode]}_`);
    const answer = await h.call('GET', '/api/v1/payments', { key: foreign });
    expect([answer.status, answer.body]).toEqual([
      401,
      {
        error:
          mode === 'live'
            ? 'This is a test key, and this instance is live'
            : 'This is a live key, and this instance is a test instance',
      },
    ]);
    const page = await h.call('POST', `/api/v1/public/widgets/${'f'.repeat(24)}/checkout`, {
      key: `pk_${other[mode]}_${'x'.repeat(32)}`,
      body: { checkoutToken: 'x'.repeat(32) },
    });
    expect([page.status, page.body.error.code]).toEqual([
      401,
      mode === 'live' ? 'TEST_PUBLISHABLE_KEY' : 'LIVE_PUBLISHABLE_KEY',
    ]);
  });

  it('says its mode of payments, refunds, invoices and events', async () => {
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'BTC' } });
    const { paymentId, invoiceUrl } = made.body;
    const livemode = mode === 'live';
    expect((await h.call('GET', `/api/v1/payments/${paymentId}`, { key: shop.key })).body).toMatchObject({ livemode });
    const list = await h.call('GET', '/api/v1/payments', { key: shop.key });
    expect(list.body.items).toEqual([expect.objectContaining({ livemode })]);
    const { id } = await settledPayment(h, shop, { credit: '1' });
    const body = { type: 'partial', amount: '0.004', address: `0x${'ab'.repeat(20)}` };
    const refund = await h.call('POST', `/api/v1/payments/${id}/refunds`, { key: shop.key, body });
    expect(refund.body.data).toMatchObject({ status: 'awaiting_approval', livemode });
    expect((await h.call('GET', '/api/v1/refunds', { key: shop.key })).body.data.items).toEqual([refund.body.data]);
    const slug = invoiceUrl.split('/').at(-1);
    expect((await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body).toMatchObject({ livemode });
    const events = await h.call('GET', '/api/v1/events', { key: shop.key });
    expect(events.body.data.items.map(({ type }: { type: string }) => type)).toEqual([
      'payment.created',
      'payment.created',
      'refund.created',
    ]);
    for (const event of events.body.data.items) expect(event).toMatchObject({ livemode, data: { livemode } });
  });

  it('does not start on the database of the other', async () => {
    const config = parseConfig({
      MODE: other[mode],
      BTC_NETWORK: 'regtest',
      ETH_CHAIN_ID: '31337',
      DATABASE_URL: urlFor(h.databaseUrl, 'api'),
      SECRETS_KEY: secretsKey,
      API_PORT: '0',
    });
    const starting = startApi(config, createLogger('silent'));
    await expect(starting).rejects.toThrow(ConfigError);
    await expect(starting).rejects.toThrow(`this database belongs to a ${mode} instance`);
  });

  it('keeps its mode for good', async () => {
    for (const sql of [`UPDATE instance SET mode = '${other[mode]}'`, 'DELETE FROM instance', 'TRUNCATE instance'])
      await expect(h.db.query(sql)).rejects.toThrow('append-only');
  });
});
