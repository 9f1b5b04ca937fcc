import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { rateClasses } from '../../domain/access/rate-limits';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { unguarded } from '../unguarded';
import { paymentsAt } from './run-payment';

/** What choosing a currency may cost, and what it changes for everybody who looks. */

let h: Harness;
let db: DataSource;
let shop: Shop;
let act: ReturnType<typeof paymentsAt>;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  db = h.db;
  const { config } = h.api.deps;
  act = paymentsAt({ db, config, codecs: createCodecs(config.chain) });
  shop = await h.shop({}, ['ETH', 'BTC', 'USDT_ERC20']);
});
afterAll(() => h?.stop());

async function anInvoice(currency: string | null = null) {
  const body = { amount: 40, ...(currency ? { currency } : {}) };
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
  return { id: made.body.paymentId as string, slug: made.body.invoiceUrl.split('/').pop() as string };
}
const addressesOf = (id: string): Promise<Array<{ currency: string; address: string }>> =>
  db.query('SELECT currency, address FROM address WHERE payment_id = $1 ORDER BY currency', [id]);
const depositAddress = async (id: string): Promise<string> =>
  (await db.query('SELECT deposit_address FROM payment WHERE id = $1', [id]))[0].deposit_address;
let callers = 0;
const choose = (slug: string, currency: string) =>
  h.call('POST', `/invoice/${slug}/select-currency`, {
    body: { currency },
    headers: { 'X-Forwarded-For': `10.9.5.${(callers += 1)}` },
  });
/** Addresses that earlier choices drew. */
const draw = (id: string, currencies: readonly string[]): Promise<unknown> =>
  unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
       SELECT 'ethereum', 'drawn ' || n || $1, 'deposit', (random() * 1e9)::bigint + n, currency, $3, $1
         FROM unnest($2::text[]) WITH ORDINALITY c (currency, n)`,
      [id, currencies, shop.id],
    ),
  );

describe('B11: choosing a currency', () => {
  it('draws one address per asset, however often it is changed, and keeps all of them', async () => {
    const { id } = await anInvoice();
    const first = new Map<string, string>();
    for (let n = 0; n < 30; n++) {
      const currency = (['ETH', 'BTC', 'USDT_ERC20'] as const)[n % 3]!;
      expect(await act.selectCurrency(id, currency, 'payer')).toEqual({ status: 'WAITING' });
      first.set(currency, first.get(currency) ?? (await depositAddress(id)));
      expect(await depositAddress(id)).toBe(first.get(currency));
    }
    expect(await addressesOf(id)).toEqual(
      [...first]
        .map(([currency, address]) => ({ currency, address }))
        .sort((a, b) => (a.currency < b.currency ? -1 : 1)),
    );
  });

  it('finds money on the address of each choice: for the payment, or of an earlier one for a child', async () => {
    const { id } = await anInvoice('ETH');
    const [eth] = await addressesOf(id);
    await act.selectCurrency(id, 'USDT_ERC20', 'payer');
    await act.selectCurrency(id, 'ETH', 'payer');
    const usdt = (await addressesOf(id)).find(({ currency }) => currency === 'USDT_ERC20')!;
    for (const [{ address, currency }, amount] of [
      [usdt, '5'],
      [eth!, '0.1'],
    ] as const)
      await db.query(
        `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
           is_dust, status, block_hash, height, first_seen_at)
         VALUES ('ethereum', $1, 0, $2, 'deposit', $3, $4, $5, $5, false, 'mined', '0xb', 90, clock_timestamp())`,
        [randomBytes(32).toString('hex'), address, id, currency, amount],
      );
    expect((await act.runPayment(id)).status).toBe('CONFIRMING');
    const children = await db.query('SELECT currency FROM payment WHERE parent_payment_id = $1', [id]);
    expect(children).toEqual([{ currency: 'USDT_ERC20' }]);
  });

  it.each([
    ['PARTIALLY_PAID', [['ETH', 'ETH', '0.004']]],
    ['CONFIRMING', [['ETH', 'ETH', '0.1']]],
    ['CROSS_CHAIN_PENDING', [['ETH', 'USDC_ERC20', '5']]],
  ] as const)(
    'I12: money at an address of an earlier choice has a child at once, also while %s',
    async (status, paid) => {
      const { id } = await anInvoice('USDT_ERC20');
      const arrive = async (to: string, currency: string, amount: string): Promise<void> => {
        const { address } = (await addressesOf(id)).find((one) => one.currency === to)!;
        const hash = randomBytes(32).toString('hex');
        await unguarded(db, (tx) =>
          tx.query(
            `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
             is_dust, status, block_hash, height, first_seen_at, confirmed_at)
           VALUES ('ethereum', $1, 0, $2, 'deposit', $3, $4, $5, $5, false, $6, '0xb', 90, clock_timestamp(),
             CASE WHEN $6 = 'confirmed' THEN now() - interval '3 minutes' END)`,
            [hash, address, id, currency, amount, status === 'CONFIRMING' && to === 'ETH' ? 'mined' : 'confirmed'],
          ),
        );
      };
      await act.selectCurrency(id, 'ETH', 'payer');
      for (const [to, currency, amount] of paid) await arrive(to, currency, amount);
      expect((await act.runPayment(id)).status).toBe(status);
      await arrive('USDT_ERC20', 'USDT_ERC20', '10');
      expect((await act.runPayment(id)).status).toBe(status);
      const children = await db.query('SELECT id, currency, status FROM payment WHERE parent_payment_id = $1', [id]);
      expect(children).toMatchObject([{ currency: 'USDT_ERC20', status: 'CONFIRMING' }]);
      await act.runPayment(children[0].id);
      const found = (await audit(db)).filter(({ invariant }) => invariant === 'I12');
      expect(found).toEqual([]);
    },
  );

  it('draws no eleventh address, says so before Temporal is asked, and lets those that exist be chosen', async () => {
    const { id, slug } = await anInvoice('ETH');
    await draw(id, ['USDT_ERC20', ...Array<string>(8).fill('USDC_ERC20')]);
    expect(await act.selectCurrency(id, 'BTC', 'payer')).toEqual({
      status: 'WAITING',
      refused: 'CURRENCY_NOT_CHANGEABLE',
    });
    expect((await choose(slug, 'BTC')).status).toBe(400);
    expect(await act.selectCurrency(id, 'USDT_ERC20', 'payer')).toEqual({ status: 'WAITING' });
    expect(await addressesOf(id)).toHaveLength(10);
  });

  it('asks nobody for the currency that is chosen already, and is limited per invoice, whoever asks', async () => {
    const { slug } = await anInvoice('ETH');
    for (let n = 0; n < rateClasses.choice.points; n++) expect((await choose(slug, 'eth')).status).toBe(200);
    const refused = await choose(slug, 'BTC');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  });

  it('is shown on every open page', async () => {
    const { id, slug } = await anInvoice('ETH');
    const abort = new AbortController();
    const seen = await Promise.all(
      ['10.9.4.1', '10.9.4.2'].map(async (from) => {
        const answer = await fetch(`${h.url}/invoice/${slug}/events`, {
          headers: { 'X-Forwarded-For': from },
          signal: abort.signal,
        });
        const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        return {
          until: async (word: string) => {
            while (!text.includes(word)) text += (await reader.read()).value ?? '';
          },
        };
      }),
    );
    await Promise.all(seen.map((page) => page.until('"currency":"ETH"')));
    await act.selectCurrency(id, 'BTC', 'payer');
    const shown = seen.map((page) => page.until('"depositAddress":"bcrt1'));
    await expect(Promise.all(shown)).resolves.toHaveLength(2);
    abort.abort();
  });
});
