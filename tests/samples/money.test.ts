import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { post } from '../../db/ledger/ledger';
import type { Account } from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { startMarkets, type Markets } from '../api/markets';
import { Person } from '../api/person';
import { settledPayment } from '../api/refundable';
import { eachSample, filesOf, Samples } from './runner';

/** Samples about money that leaves a balance: refunds, conversions, payouts. */

let h: Harness;
let shop: Shop;
let markets: Markets;
let copied: Samples;
let between: Server;
/** What happens between an answer of the API and the next request of the sample. */
let then: (method: string, path: string) => Promise<unknown> = async () => undefined;

beforeAll(async () => {
  h = await startHarness();
  markets = await startMarkets(h);
  shop = await h.shop();
  copied = new Samples();
  between = createServer((request, response) => {
    const { method, url: path, headers } = request;
    void buffer(request).then(async (body) => {
      const hasBody = method !== 'GET' && body.length > 0;
      const { connection: _c, host: _h, 'content-length': _l, 'transfer-encoding': _t, ...sent } = headers;
      const answer = await fetch(h.url + path, {
        method,
        headers: sent as Record<string, string>,
        ...(hasBody ? { body: new Uint8Array(body) } : {}),
      });
      const text = await answer.text();
      await then(method!, path!);
      const kept = { 'content-type': answer.headers.get('content-type')!, 'set-cookie': answer.headers.getSetCookie() };
      response.writeHead(answer.status, kept).end(text);
    });
  }).listen(0, '127.0.0.1');
});
afterAll(async () => {
  between?.closeAllConnections();
  between?.close();
  copied?.remove();
  await markets?.stop();
  await h?.stop();
});
beforeEach(async () => {
  then = async () => undefined;
  markets.move({ ETH: '3200', USDT_ERC20: '1' });
  await markets.look();
  await h.db.query('DELETE FROM rate_limit');
});

const credit = (account: Account, asset: string, amount: string) =>
  h.db.transaction((tx) =>
    post(tx, {
      key: `test/${randomBytes(8).toString('hex')}`,
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: account, asset, amount }],
    }),
  );
const run = (file: string, env: Record<string, string>, input = '') =>
  copied.run(
    file,
    {
      API_URL: `http://127.0.0.1:${(between.address() as AddressInfo).port}`,
      API_KEY: shop.key,
      ...env,
    },
    input,
  );
/** What a sample has printed, one value a line, without the envelope that the SDKs take off. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
const printed = (out: string): any[] =>
  out.split('\n').map((line) => {
    const value = JSON.parse(line) as { data?: unknown };
    return value.data ?? value;
  });

describe('18.3: refunding a payment', () => {
  eachSample(
    'refund',
    async (file) => {
      const payment = await settledPayment(h, shop, { credit: '1' });
      const env = { PAYMENT_ID: payment.id, REFUND_REFERENCE: `refund-of-${payment.id}` };
      const first = await run(file, env);
      expect([first.errors, first.code]).toEqual(['', 0]);
      const [preview, refund] = printed(first.out);
      expect(preview).toMatchObject({ _id: null, netToDestination: payment.paid });
      expect(refund).toMatchObject({
        paymentId: payment.id,
        status: 'awaiting_address',
        amount: payment.paid,
        networkFee: preview.networkFee,
        claimUrl: expect.stringContaining('/r/') as string,
      });
      // Nothing is left to preview, and a repeat finds the first.
      const again = await run(file, env);
      expect(again.code).not.toBe(0);
      const { body } = await h.call('GET', `/api/v1/payments/${payment.id}/refunds`, { key: shop.key });
      expect([body.data.total, body.data.items[0]._id]).toEqual([1, refund._id]);
      expect((await run(file, { ...env, API_KEY: 'svc_live_wrong' })).code).not.toBe(0);
    },
    filesOf('refund').filter((file) => file.startsWith('refund.')),
  );

  eachSample(
    'refund',
    async (file) => {
      const payment = await settledPayment(h, shop, { credit: '1' });
      const made = await h.call('POST', `/api/v1/payments/${payment.id}/refunds`, {
        key: shop.key,
        body: { type: 'full' },
      });
      const id = made.body.data._id as string;
      let asked = 0;
      then = async () => {
        asked += 1;
        if (asked === 1) await h.call('POST', `/api/v1/refunds/${id}/cancel`, { key: shop.key });
      };
      const { code, out, errors } = await run(file, { REFUND_ID: id });
      expect([errors, code]).toEqual(['', 0]);
      expect(printed(out)).toMatchObject([{ _id: id, status: 'cancelled' }]);
      expect(asked).toBe(2);
    },
    filesOf('refund').filter((file) => file.startsWith('wait.')),
  );
});

describe('18.3: converting a balance', () => {
  eachSample('conversion', async (file) => {
    await credit(`L:available:${shop.id}`, 'ETH', '1');
    await credit('Q:capital', 'USDT_ERC20', '10000');
    const env = { FROM: 'ETH', TO: 'USDT_ERC20', AMOUNT: '0.5', CONVERSION_REFERENCE: `convert-${file}` };
    const done = await run(file, env);
    expect([done.errors, done.code]).toEqual(['', 0]);
    expect(printed(done.out)).toMatchObject([
      { status: 'completed', fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', toAmount: 1593.6 },
    ]);
    const again = await run(file, env);
    expect(printed(again.out)[0]._id).toBe(printed(done.out)[0]._id);

    // The market falls while the user looks at the quote.
    then = async (_method, path) => {
      if (!path.startsWith('/api/v1/conversions/quote')) return;
      markets.move({ ETH: '3000' });
      await markets.look();
    };
    const drifted = await run(file, { ...env, CONVERSION_REFERENCE: `drifted-${file}` });
    expect([drifted.code, drifted.out]).toEqual([1, '']);
    expect(drifted.errors).toContain('RATE_DRIFT');
    expect(drifted.errors).toContain('1494'); // what it would be now
    const { body } = await h.call('GET', '/api/v1/conversions?limit=1', { key: shop.key });
    expect(body.items[0]._id).toBe(printed(done.out)[0]._id);
  });
});

describe('18.5: a market that moves, in the READMEs of the SDKs', () => {
  eachSample(
    'sdk',
    async (file) => {
      await credit(`L:available:${shop.id}`, 'ETH', '1');
      then = async (_method, path) => {
        if (!path.startsWith('/api/v1/conversions/quote')) return;
        markets.move({ ETH: '3000' });
        await markets.look();
      };
      expect(await run(file, {})).toEqual({ code: 0, out: '1494', errors: '' });
    },
    filesOf('sdk').filter((file) => file.startsWith('drift.')),
  );
});

describe('18.3: payouts', () => {
  let ann: Person;
  let merchantId: string;
  let key: string;
  let address: string;
  beforeAll(async () => {
    ann = await Person.admin(h);
    merchantId = (await ann.get('/api/v1/auth/me')).body.merchantId as string;
    const scopes = ['withdrawals:read', 'payouts:read'];
    const made = await ann.post('/api/v1/api-keys', { name: 'Books', scopes, totpCode: await ann.code() });
    key = made.body.data.apiKey as string;
    address = h.api.deps.codecs.ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!;
    await ann.post('/api/v1/whitelist/wallet', { currency: 'ETH', address, totpCode: await ann.code() });
    await credit(`L:available:${merchantId}`, 'ETH', '1');
  });

  eachSample(
    'payouts',
    async (file) => {
      const env = {
        EMAIL: ann.email,
        PASSWORD: ann.password_,
        ROWS: JSON.stringify([{ currency: 'ETH', address, amount: '0.1' }]),
        PAYOUT_REFERENCE: `payout-${file}`,
      };
      const codes = (await ann.twoCodes()).join('\n');
      const { code, out, errors } = await run(file, env, `${codes}\n`);
      expect([errors, code]).toEqual(['', 0]);
      expect(printed(out)).toMatchObject([{ status: 'queued', rowCount: 1 }]);
      const wrong = await run(file, { ...env, PAYOUT_REFERENCE: `wrong-${file}` }, '000000\n000000\n');
      expect([wrong.code === 0, wrong.out]).toEqual([false, '']);
    },
    filesOf('payouts').filter((file) => file.startsWith('send.')),
  );

  eachSample(
    'payouts',
    async (file) => {
      const { code, out, errors } = await run(file, { API_KEY: key });
      expect([errors, code]).toEqual(['', 0]);
      const { body } = await h.call('GET', '/api/v1/mass-payouts', { key });
      expect(body.data.total).toBeGreaterThan(0);
      for (const batch of body.data.items as Array<{ _id: string }>) expect(out).toContain(batch._id);
      if (!file.endsWith('.sh')) expect(out).toContain(address);
    },
    filesOf('payouts').filter((file) => file.startsWith('read.')),
  );

  it('lets no key send', async () => {
    const rows = [{ currency: 'ETH', address, amount: '0.1' }];
    for (const [path, body] of [
      ['withdrawals', { currency: 'ETH', amount: '0.1', feeMode: 'add', address, idempotencyKey: 'by-a-key' }],
      ['mass-payouts/validate', { rows }],
      ['mass-payouts', { rows }],
    ] as const)
      expect((await h.call('POST', `/api/v1/${path}`, { key: shop.key, body })).status).toBe(401);
  });
});
