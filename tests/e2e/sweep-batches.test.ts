import { add, compare, subtract } from '../../domain/money';
import { World, type Invoice, type Shop } from '../world';

/** Several payments of one merchant, swept in one transaction of which each bears its part; with the sender killed
 *  between store and send. */
let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await World.start({ restartAfterMs: 1000, env: { SWEEP_BATCH_SECONDS: '15', FAIL_POINTS: 'true' } });
  shop = await world.shop();
}, 240_000);
afterAll(() => world?.stop(), 60_000);

const text = (amount: number): string => (amount < 1e-6 ? amount.toFixed(8) : String(amount));

it.each([
  ['BTC', 'sweep.afterStore'],
  ['USDT_ERC20', 'sweep.afterSend'],
])('five payments in %s go together', async (currency, failPoint) => {
  await world.arm(failPoint);
  const before = (await world.balance(shop, currency)).balance;
  const invoices: Invoice[] = [];
  for (let n = 0; n < 5; n += 1) invoices.push(await world.invoice(shop, { amount: 20 + n, currency }));
  for (const invoice of invoices) await world.payer.pay(currency, invoice.address, text(invoice.amount));
  for (const { id } of invoices)
    await world.sees(shop, id, ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'], { mine: currency });
  for (const { id } of invoices) await world.sees(shop, id, ['SWEEP_QUEUED', 'SETTLED']);
  const settled = [];
  for (const { id } of invoices) settled.push(await world.sees(shop, id, 'SETTLED', { mine: currency }));
  expect(await world.armed()).toEqual([]);

  const swept = await world.db.query(
    `SELECT a.fee_units::text AS fee, i.owner_kind || '/' || i.owner_id AS owner, array_agg(s.payment_id) AS payments
       FROM attempt a JOIN intent i ON i.id = a.intent_id JOIN sweep_share s ON s.intent_id = i.id
      WHERE a.status = 'final' AND s.payment_id = ANY($1) GROUP BY a.id, i.id ORDER BY count(*) DESC`,
    [invoices.map((invoice) => invoice.id)],
  );
  // One that another transaction holds just then, or that is confirmed much later, is left for its own turn.
  expect(swept[0].payments.length).toBeGreaterThan(1);
  const [{ fee }] = await world.db.query(
    `SELECT sum(fee_units)::text AS fee FROM sweep_share WHERE payment_id = ANY($1)`,
    [invoices.map((invoice) => invoice.id)],
  );
  expect(BigInt(fee)).toBe(swept.reduce((sum: bigint, one: { fee: string }) => sum + BigInt(one.fee), 0n));
  const credited = subtract((await world.balance(shop, currency)).balance, before);
  expect(compare(credited, add('0', ...settled.map((payment) => text(payment.netAmount))))).toBe(0);
  const timeline = await world.call(shop, 'GET', `/api/v1/payments/${swept[0].payments[0]}/timeline`);
  expect(JSON.stringify(timeline.body)).toContain('it is swept with others');

  await world.until(
    'the sweep has ended',
    async () => (await world.temporal.workflow.getHandle(swept[0].owner).describe()).status.name === 'COMPLETED',
  );
  await world.history(swept[0].owner, `sweepBatch-${currency}`);
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
});
