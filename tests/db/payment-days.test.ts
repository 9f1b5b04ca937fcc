import type { DataSource, EntityManager } from 'typeorm';
import { emitPaymentEvents, lockPayment, movePayment } from '../../db/payments/payments';
import { paymentDays, recountSql } from '../../db/payments/payment-days';
import { newId } from '../../domain/ids';
import {
  firstStatuses,
  isFinal,
  legalMoves,
  type PaymentException,
  type PaymentStatus,
} from '../../domain/payments/payment';
import { connectionsTo, freshDatabase, type Database } from '../setup/postgres';
import { Random } from '../torture/random';
import { insertMerchant } from '../merchant-row';

/** payment_day says at any time what counting the payments again says. */

const exceptions: PaymentException[] = ['underpaid', 'overpaid', 'paidLate', 'wrongCurrency', 'reorged'];

let database: Database;
let db: DataSource;
const shops = [newId(), newId()];
beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  for (const id of shops) await insertMerchant(db, id, { openPayments: 1000 });
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

type Made = Readonly<{ shop?: string; status?: PaymentStatus; daysAgo?: number; fiat?: string; price?: string }>;
async function insert(tx: Pick<EntityManager, 'query'>, made: Made = {}): Promise<string> {
  const { shop = shops[0], status = 'WAITING', daysAgo = 0, fiat = 'USD', price = '10' } = made;
  const id = newId();
  await tx.query(
    `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
       tolerance_pct, underpaid_policy, expires_at, expires_in, created_at, currency, network, amount, exchange_rate)
     VALUES ($1::text, $2, $1::text, $3, 'api', $4, $5, 'merchant', 40, 1, 'hold', now(), 3600,
       now() - make_interval(days => $6),
       'BTC', 'bitcoin', 0.1, 100)`,
    [id, shop, status, price, fiat, daysAgo],
  );
  return id;
}

/** Rows that differ between what is kept and what is counted again; both are all there is of a row. */
const differences = (): Promise<unknown[]> =>
  db.query(`WITH kept AS (SELECT * FROM payment_day WHERE created <> 0), again AS (${recountSql})
    (SELECT 'kept' AS side, * FROM kept EXCEPT SELECT 'kept', * FROM again)
    UNION ALL (SELECT 'again', * FROM again EXCEPT SELECT 'again', * FROM kept)`);
const move = async (
  id: string,
  to: PaymentStatus,
  patch: Parameters<typeof movePayment>[2]['patch'] = {},
  addExceptions: PaymentException[] = [],
): Promise<void> =>
  db.transaction(async (tx) => {
    const before = await lockPayment(tx, id);
    const after = await movePayment(tx, before, { to, cause: 'test', events: [], patch, addExceptions });
    await emitPaymentEvents(tx, before, after, []);
  });
const today = async (shop = shops[0]!) => (await paymentDays(db, shop, 1)).rows;

describe('Home: the days of payments', () => {
  it('count a payment once, however often its money goes and comes back', async () => {
    const shop = newId();
    await insertMerchant(db, shop, { openPayments: 1000 });
    const id = await insert(db, { shop });
    expect(await today(shop)).toMatchObject([{ counts: { created: 1, paid: 0, settled: 0 } }]);
    const paid = { amount_paid: '0.1', value_paid: '10.5' };
    await move(id, 'CONFIRMING', paid);
    for (let times = 0; times < 3; times += 1) {
      await move(id, 'WAITING', { amount_paid: '0', value_paid: null }, ['reorged']);
      expect(await today(shop)).toMatchObject([{ counts: { created: 1, paid: 0, settled: 0, reorged: 1 } }]);
      await move(id, 'CONFIRMING', paid);
    }
    await move(id, 'CONFIRMED');
    await move(id, 'SWEEP_QUEUED');
    await move(id, 'CONFIRMING', {}, ['reorged']);
    await move(id, 'CONFIRMED');
    await move(id, 'SWEEP_QUEUED');
    await move(id, 'SETTLED', { settled_at: new Date() });
    const [row] = await today(shop);
    expect(row).toMatchObject({ counts: { created: 1, paid: 1, settled: 1, reorged: 1 } });
    const [sums] = await db.query(
      'SELECT (paid_fiat, settled_fiat) = (10.5, 10.5) AS are_right FROM payment_day WHERE merchant_id = $1',
      [shop],
    );
    expect(sums).toEqual({ are_right: true });
  });

  it('forget what was rolled back', async () => {
    const before = await today();
    await expect(
      db.transaction(async (tx) => {
        await insert(tx);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await today()).toEqual(before);
  });

  it('equal a recount after random changes by many at once', async () => {
    const random = new Random(17);
    const below = (count: number): number => random.whole(0, count - 1);
    const ids = new Map<string, string[]>(shops.map((shop) => [shop, []]));
    const make = async (): Promise<void> => {
      const shop = random.pick(shops);
      const made = {
        shop,
        status: random.pick(firstStatuses),
        daysAgo: below(4),
        fiat: random.pick(['USD', 'EUR']),
        price: random.pick(['0.01', '25', '999999.99']),
      };
      ids.get(shop)!.push(await insert(db, made));
    };
    for (let n = 0; n < 120; n += 1) await make();
    /** One or two payments of a merchant in one transaction, as a batch of sweeps or a child brings it. Each holds the
     *  counter of events after its first payment, and changes its second then. */
    const step = async (): Promise<void> => {
      const own = ids.get(random.pick(shops))!;
      const chosen = [...new Set([random.pick(own), random.pick(own)])].sort();
      const fails = below(8) === 0;
      await db
        .transaction(async (tx) => {
          const rows = [];
          for (const id of chosen) rows.push(await lockPayment(tx, id));
          for (const before of rows.filter(({ status }) => !isFinal(status))) {
            const [amount, isValued] = [below(1000), below(3) > 0];
            const after = await movePayment(tx, before, {
              to: random.pick([...legalMoves[before.status], before.status]),
              cause: 'test',
              events: [],
              patch: { amount_paid: `0.${amount}`, value_paid: isValued ? `${amount}.000000000000000001` : null },
              addExceptions: below(4) ? [] : [random.pick(exceptions)],
            });
            await emitPaymentEvents(tx, before, after, ['payment.confirming']);
          }
          if (fails) throw new Error('rolled back');
        })
        .catch((error: Error) => {
          if (error.message !== 'rolled back') throw error;
        });
    };
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(Array.from({ length: 8 }, step));
      if (below(3) === 0) await make();
    }
    const statuses = await db.query<unknown[]>('SELECT DISTINCT status FROM payment');
    expect(statuses.length).toBeGreaterThan(7); // the walk went somewhere
    expect(await differences()).toEqual([]);
  });

  it('show a merchant its own days alone', async () => {
    const [one, other] = await Promise.all(shops.map((shop) => paymentDays(db, shop, 30)));
    const created = (days: typeof one): number => days!.rows.reduce((sum, { counts }) => sum + counts.created, 0);
    const counted = await db.query(`SELECT merchant_id AS id, count(*)::int AS n FROM payment GROUP BY 1`);
    const byId = new Map(counted.map(({ id, n }: { id: string; n: number }) => [id, n]));
    expect([created(one), created(other)]).toEqual(shops.map((shop) => byId.get(shop)));
  });
});
