import type { DataSource } from 'typeorm';
import { planBeside } from '../../db/lightning/invoices';
import { newId, newSlug } from '../../domain/ids';
import { connectionsTo, freshDatabase, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { price } from './lightning-shop';

/** Who gets the invoices beside addresses, of which there are so many at the most, with the rights of the chain
 *  worker. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let chain: DataSource;

beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  chain = await connectionsTo(urlFor(database.url, 'chain')).initialize();
});
afterAll(async () => {
  for (const one of [chain, db]) await one?.destroy();
  await database?.drop();
});

/** A merchant who takes both halves, with payments of bitcoin that wait since so many seconds. */
async function shopWith(count: number, age: number): Promise<string> {
  const merchantId = newId();
  await db.query(
    `INSERT INTO merchant (id, name, ipn_secret_sealed, publishable_key) VALUES ($1::text, 'Shop', 'x', $1::text)`,
    [merchantId],
  );
  await unguarded(db, async (tx) => {
    await tx.query(
      `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
       VALUES ($1, $2, 'BTC_LN', 'ours', 'platform')`,
      [newId(), merchantId],
    );
    for (let n = 0; n < count; n += 1)
      await tx.query(
        `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
           tolerance_pct, underpaid_policy, expires_at, expires_in, currency, network, amount, quote_amount,
           exchange_rate, commission_amount, network_fee_amount, fee_amount, net_amount, quoted_at, quote_expires_at,
           deposit_address)
         VALUES ($1::text, $2, $3, 'WAITING', 'api', 100, 'USD', 'merchant', 40, 1, 'hold', now() + interval '1 h',
           3600, 'BTC', 'bitcoin', $4, $4, 100000, 0.000004, 0.00001, 0.000014, 0.000986,
           now() - make_interval(secs => $5), now() + interval '10 min', 'bcrt1q' || $1::text)`,
        [newId(), merchantId, newSlug(), price, age],
      );
  });
  return merchantId;
}
const planned = async (merchantId: string): Promise<number> => {
  const [row] = await db.query<[{ count: number }]>(
    `SELECT count(*)::int AS count FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
      WHERE p.merchant_id = $1`,
    [merchantId],
  );
  return row.count;
};
/** The node has made what was planned. */
const made = (): Promise<unknown> =>
  unguarded(db, (tx) =>
    tx.query(
      `UPDATE lightning_invoice SET state = 'open', hash = lpad(id, 64, '0'), invoice = 'lnbcrt1x'
        WHERE state = 'planned'`,
    ),
  );

it('gives the newest payment of one merchant its invoice before the second of another', async () => {
  const [many, one] = [await shopWith(40, 60), await shopWith(1, 0)];
  expect(await planBeside(chain, 5_000_000n)).toBe(16);
  expect([await planned(many), await planned(one)]).toEqual([15, 1]);
  await made();
  const late = await shopWith(3, 0);
  expect(await planBeside(chain, 5_000_000n)).toBe(16);
  expect([await planned(many), await planned(late)]).toEqual([28, 3]);
});

it('leaves nobody more places than are free', async () => {
  const [shop] = await db.query<Array<{ id: string }>>(
    'SELECT merchant_id AS id FROM payment GROUP BY merchant_id ORDER BY count(*) DESC LIMIT 1',
  );
  // As if that merchant had 500 of the 1,000.
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO lightning_invoice (id, payment_id, currency, beside, asked_msat, expires_at, state, hash, invoice,
         decision, why, is_for_payment, decided_at)
         SELECT lpad(to_hex(n), 24, 'e'), (SELECT id FROM payment WHERE merchant_id = $1 LIMIT 1), 'BTC_LN', 'BTC',
                100000000, now(), 'cancelling', lpad(to_hex(n), 64, 'e'), 'lnbcrt1x', 'return', 'not wanted', false,
                now() FROM generate_series(4097, 4596) n`,
      [shop!.id],
    ),
  );
  await made();
  const before = await planned(shop!.id);
  const late = await shopWith(2, 0);
  expect(await planBeside(chain, 5_000_000n)).toBe(2);
  expect([await planned(shop!.id), await planned(late)]).toEqual([before, 2]);
});
