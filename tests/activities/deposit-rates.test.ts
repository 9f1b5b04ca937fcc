import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { applyMempool } from '../../db/chains/mempool';
import { pruneRates } from '../../db/pricing/rates';
import { times, toUnits } from '../../domain/money';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { paymentsAt } from './run-payment';

/** Each deposit counts at the rate of the quote in force when it was first seen, and its rate goes when it goes. */

let h: Harness;
let db: DataSource;
let shop: Shop;
let act: ReturnType<typeof paymentsAt>;
beforeAll(async () => {
  h = await startHarness();
  db = h.db;
  shop = await h.shop();
  const { config } = h.api.deps;
  act = paymentsAt({ db, config, codecs: createCodecs(config.chain) });
});
afterAll(() => h?.stop());
beforeEach(() => price('1'));

/** Every rate, from now on, times `factor` of what the harness began with. */
async function price(factor: string): Promise<void> {
  await h.setRates();
  await db.query('UPDATE rate SET value = value * $1 WHERE id IN (SELECT rate_id FROM rate_latest)', [factor]);
  await db.query('UPDATE rate_latest SET value = value * $1', [factor]);
}

type Made = { id: string; address: string; amount: string; currency: string };
async function open(currency: 'ETH' | 'BTC', fiat: number): Promise<Made> {
  const body = { amount: fiat, currency, expiresIn: 172_800 };
  const answer = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
  if (answer.status !== 201) throw new Error(answer.text);
  const { paymentId: id, depositAddress: address, amount } = answer.body;
  return { id, address, amount: String(amount), currency };
}

/** Hours pass for one payment, and for the rates that are known; its time to pay stays. */
async function pass(made: Made, hours: number): Promise<void> {
  const columns = await db.query<Array<{ table: string; column: string }>>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_name IN ('payment', 'deposit', 'payment_quote') AND data_type LIKE 'timestamp%'
        AND column_name <> 'expires_at'`,
  );
  for (const { table, column } of columns) {
    const where = table === 'payment' ? 'id' : 'payment_id';
    await db.query(`UPDATE ${table} SET ${column} = ${column} - make_interval(hours => $2) WHERE ${where} = $1`, [
      made.id,
      hours,
    ]);
  }
  for (const table of ['rate', 'rate_latest'])
    await db.query(`UPDATE ${table} SET taken_at = taken_at - make_interval(hours => $1)`, [hours]);
}

async function pay(made: Made, amount: string, status: 'pool' | 'mined' | 'confirmed' = 'confirmed'): Promise<string> {
  const [row] = await db.query<Array<{ id: string }>>(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust,
       status, block_hash, height, first_seen_at)
     SELECT network, $1, 0, $2, 'deposit', $3, currency, $4, $4, false, $5, CASE WHEN $5 <> 'pool' THEN '0xb' END,
       CASE WHEN $5 <> 'pool' THEN 90 END, clock_timestamp() FROM payment WHERE id = $3 RETURNING id`,
    [randomBytes(32).toString('hex'), made.address, made.id, amount, status],
  );
  return row!.id;
}
const invoice = async (made: Made) =>
  (
    await h.call(
      'GET',
      `/getInvoiceStatus?invoiceId=${(await db.query('SELECT slug FROM payment WHERE id = $1', [made.id]))[0].slug}`,
    )
  ).body;
const of = async (made: Made) => (await h.call('GET', `/api/v1/payments/${made.id}`, { key: shop.key })).body;

describe('B1: a part of a price', () => {
  it('holds its own rate and no other: the rest costs what it costs when it comes', async () => {
    const made = await open('ETH', 10_000);
    expect(made.amount).toBe('3.125');
    await pay(made, '0.00001');
    expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');
    await pass(made, 47);
    await price('0.9');
    await pay(made, '3.12499');
    expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');

    // 0.00001 at 3,200 and 3.12499 at 2,880: 0.032 + 8,999.9712 of 10,000 dollars; the rest at 2,880.
    const seen = await invoice(made);
    expect(seen).toMatchObject({ exchangeRate: '2880', amountPaid: '3.125', amountRemaining: '0.34722112' });
    expect(seen.paymentUri).toContain('347221120000000000');
    await pay(made, seen.amountRemaining);
    expect((await act.runPayment(made.id)).status).toBe('CONFIRMED');
    expect(await of(made)).toMatchObject({ exceptions: [], amountRemaining: '0', overpaidAmount: '0' });
  });
});

describe('B2: a deposit that is gone', () => {
  it('leaves nothing behind: the old amount no longer does', async () => {
    const made = await open('BTC', 1000);
    expect(made.amount).toBe('0.015625');
    const bait = await pay(made, '0.00002', 'pool');
    expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');
    await db.query("UPDATE deposit SET status = 'replaced' WHERE id = $1", [bait]);
    expect((await act.runPayment(made.id)).status).toBe('WAITING');
    await pass(made, 40);
    await price('0.8');
    await pay(made, made.amount);
    expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');
    expect(await invoice(made)).toMatchObject({
      amount: '0.01953125',
      amountRemaining: times('0.00390625', '1', 8, 'up'),
    });
  });
});

describe('B2: an unconfirmed deposit', () => {
  const mine = (id: string, blocks: number) =>
    db.query(
      `UPDATE deposit SET status = 'confirmed', first_seen_height = 100, height = 100 + $2, block_hash = '0xb',
              mined_at = clock_timestamp() WHERE id = $1`,
      [id, blocks],
    );

  it.each([
    [12, 'CONFIRMED', '0.015625', 64_000],
    [13, 'PARTIALLY_PAID', '0.01953125', 51_200],
  ])('that a block takes after %i blocks', async (blocks, status, amount, rate) => {
    const made = await open('BTC', 1000);
    const id = await pay(made, made.amount, 'pool');
    expect((await act.runPayment(made.id)).status).toBe('CONFIRMING');
    expect(await of(made)).toMatchObject({ exchangeRate: 64_000, amountRemaining: '0' });
    await pass(made, 2);
    await price('0.8');
    await mine(id, blocks);
    expect((await act.runPayment(made.id)).status).toBe(status);
    expect(await invoice(made)).toMatchObject({ amount, exceptions: [] });
    expect((await of(made)).exchangeRate).toBe(rate);
  });
});

describe('B2: a replacement that pays more than what it replaces', () => {
  /** Coins that the node tells of, unconfirmed. */
  const showUnconfirmed = (made: Made, txId: string, amount: string) =>
    db.transaction((tx) =>
      applyMempool(
        tx,
        'bitcoin',
        {
          ids: new Set([txId]),
          transfers: [
            { txId, index: 0, to: made.address, currency: 'BTC', units: toUnits(amount, 8), inputs: [`${made.id}:0`] },
          ],
          since: new Map(),
        },
        600,
      ),
    );

  it('counts at the old rate for the old amount alone', async () => {
    const made = await open('BTC', 1000);
    await showUnconfirmed(made, `early-${made.id}`, '0.001');
    expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');
    await pass(made, 1);
    await price('0.8');
    await showUnconfirmed(made, `whole-${made.id}`, made.amount);
    expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');
    // 0.001 at 64,000 and 0.014625 at 51,200: 64 + 748.80 of 1,000 dollars; the rest at 51,200.
    expect(await invoice(made)).toMatchObject({ amountPaid: made.amount, amountRemaining: '0.00365625' });
    expect((await of(made)).exchangeRate).toBe(51_200);
    await pruneRates(db, 0);

    await showUnconfirmed(made, `rest-${made.id}`, '0.01928125');
    expect((await act.runPayment(made.id)).status).toBe('CONFIRMING');
    expect(await invoice(made)).toMatchObject({ amount: '0.01928125', amountRemaining: '0' });
    expect((await of(made)).exchangeRate).toBeCloseTo(1000 / 0.01928125, 4);

    // Long in coming: what was early counts at the rate of its block, too.
    await db.query(
      `UPDATE deposit SET status = 'confirmed', block_hash = '0xb', height = 120, first_seen_height = 115,
              mined_at = clock_timestamp() WHERE tx_id = $1`,
      [`rest-${made.id}`],
    );
    await db.query(
      `UPDATE deposit_part SET first_seen_height = 100 WHERE deposit_id = (SELECT id FROM deposit WHERE tx_id = $1)`,
      [`rest-${made.id}`],
    );
    expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');
    expect(await invoice(made)).toMatchObject({ amountRemaining: '0.00025' });
  });
});

describe('B1: a price paid at two rates', () => {
  it('shows what it was paid at, and was paid in full', async () => {
    const made = await open('ETH', 1000);
    await pay(made, '0.15625');
    await act.runPayment(made.id);
    expect(await of(made)).toMatchObject({ status: 'PARTIALLY_PAID', exchangeRate: 3200, amountRemaining: '0.15625' });
    await pass(made, 1);
    await price('1.25');
    expect((await act.refreshQuote(made.id)).refused).toBeUndefined();
    const asked = await of(made);
    expect(asked).toMatchObject({ exchangeRate: 4000, amount: 0.28125, amountRemaining: '0.125' });
    expect(Date.parse(asked.quoteExpiresAt)).toBeLessThanOrEqual(Date.parse(asked.expiresAt));
    await pay(made, '0.225');
    expect((await act.runPayment(made.id)).status).toBe('CONFIRMED');
    // 500 dollars at 3,200, and 900 at 4,000, of which 400 are too much.
    expect(await of(made)).toMatchObject({ amountPaid: 0.38125, overpaidAmount: '0.1', exceptions: ['overpaid'] });
    expect((await of(made)).exchangeRate).toBeCloseTo(1400 / 0.38125, 9);
  });

  it('names rates that are never pruned, and counts what came under a quote that is over', async () => {
    const made = await open('ETH', 1000);
    await pass(made, 1);
    await price('1.25');
    expect((await act.refreshQuote(made.id)).refused).toBeUndefined();
    const early = await pay(made, '0.3125');
    await db.query(
      `UPDATE deposit SET first_seen_at = (SELECT quoted_at + interval '5 minutes' FROM payment_quote
         WHERE payment_id = $2)
        WHERE id = $1`,
      [early, made.id],
    );
    expect((await act.runPayment(made.id)).status).toBe('CONFIRMED');
    expect(await of(made)).toMatchObject({ exchangeRate: 3200, exceptions: [] });
    await pruneRates(db, 0);
    const [kept] = await db.query('SELECT value::int FROM rate r JOIN deposit d ON d.rate_id = r.id WHERE d.id = $1', [
      early,
    ]);
    expect(kept).toEqual({ value: 3200 });
  });
});

describe('a quote', () => {
  it('never ends after its invoice', async () => {
    const body = { amount: 40, currency: 'ETH', expiresIn: 60 };
    const { body: made } = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
    expect(made.quoteExpiresAt).toBe(made.expiresAt);
    expect((await act.selectCurrency(made.paymentId, 'BTC', 'payer')).refused).toBeUndefined();
    const { quoteExpiresAt, expiresAt } = (await h.call('GET', `/api/v1/payments/${made.paymentId}`, { key: shop.key }))
      .body;
    expect(quoteExpiresAt).toBe(expiresAt);
  });
});
