import { parseConfig } from '../../domain/config';
import { add } from '../../domain/money';
import { whileRefused } from '../../sandbox/again';
import { fundTreasury } from '../../sandbox/seed';
import { unreconciled } from '../reconciled';
import { leaving } from '../rows/leaving';
import { childOf, late, open, pay, sees, setUp, shop, tearDown, until, world } from '../rows/stage';

/** TRX and USDT on TRON on a whole service and a simulated chain: in, swept, settled, and out again. */

const scopes = ['refunds:create', 'refunds:read', 'withdrawals:read'];
/** Until what a block has is final. */
const deep = 25;
const currencies = ['TRX', 'USDT_TRC20'] as const;
const ways = { TRX: leaving('TRX', deep), USDT_TRC20: leaving('USDT_TRC20', deep) } as const;

beforeAll(async () => {
  await setUp({ networks: ['tron'], scopes, currencies: ['BTC', ...currencies] });
  await fundTreasury(world.db, world.payer);
  await ways.TRX.mining('our own money is booked', async () => {
    const rows = await world.db.query(
      `SELECT FROM deposit WHERE currency = ANY($1) AND role = 'treasury' AND allocation = 'capital'`,
      [currencies],
    );
    return rows.length === 4; // two hot wallets
  });
}, 280_000);
afterAll(tearDown, 60_000);
afterEach(async () => {
  await until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
});

it('is listed as simulated', async () => {
  const { body } = await world.call(null, 'GET', '/api/v1/currencies');
  const listed = body.data as Array<{ currency: string }>;
  for (const currency of currencies)
    expect(listed.find((one) => one.currency === currency)).toMatchObject({
      ...{ network: 'tron', simulated: true, payin: true, payout: true },
    });
});

it.each(currencies)('%s is paid, swept, settled and withdrawn', async (currency) => {
  const { balance, mining, withdraws } = ways[currency];
  const before = await balance();
  const invoice = await open(currency);
  await pay(invoice);
  await mining('it is settled', async () => (await world.payment(shop, invoice.id)).status === 'SETTLED');
  const { netAmount } = await world.payment(shop, invoice.id);
  expect(await balance()).toBe(add(before, String(netAmount)));
  await withdraws('5');
});

it('USDT_TRC20 after its time is a payment of its own', async () => {
  const invoice = await open('USDT_TRC20');
  await late(invoice);
  await sees(invoice, 'EXPIRED', 'TRX');
  await pay(invoice);
  await world.payer.mine('TRX', 2 * deep);
  expect(await childOf(invoice, 'TRX')).toMatchObject({ currency: 'USDT_TRC20', amountPaid: invoice.amount });
});

it.each(currencies)('%s is refunded to its payer', (currency) => ways[currency].refunds());

it('goes on where it was when its chain comes back from a kill', async () => {
  const invoice = await open('TRX');
  await pay(invoice);
  await world.payer.mine('TRX');
  const simulator = world.stack.part('tron-simulator');
  await simulator.kill9();
  await simulator.start();
  // The first question may meet a connection that the kill has closed.
  await whileRefused(/fetch failed/, () => world.payer.mine('TRX', deep));
  await sees(invoice, 'SETTLED', 'TRX');
});

it('pays a hundred lines of a mass payout exactly', () => ways.USDT_TRC20.paysHundred());

it('adds up with its chain after all that', async () => {
  expect(parseConfig(world.stack.env).networks).toContain('tron');
  expect(await unreconciled(world)).toEqual([]);
});
