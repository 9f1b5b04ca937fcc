import { parseConfig } from '../../domain/config';
import { add, subtract } from '../../domain/money';
import { whileRefused } from '../../sandbox/again';
import { fundTreasury } from '../../sandbox/seed';
import { unreconciled } from '../reconciled';
import { leaving } from '../rows/leaving';
import { childOf, late, open, pay, sees, setUp, shop, tearDown, text, until, world, type Case } from '../rows/stage';

/** XRP on a whole service and a simulated ledger: in by tags, settled without a sweep, and out again. */

const scopes = ['refunds:create', 'refunds:read', 'withdrawals:read'];
const { balance, mining, stranger, ...out } = leaving('XRP', 1);

const unallocated = async (): Promise<string> => {
  const [row] = await world.db.query(
    `SELECT trim_scale(amount)::text AS amount FROM balance
      WHERE account = 'L:unallocated:unclaimed' AND asset = 'XRP'`,
  );
  return row?.amount ?? '0';
};

const cases: Case[] = [
  {
    rows: '7, 8',
    name: 'a part, then the rest',
    status: 'SETTLED',
    async drive() {
      const invoice = await open('XRP');
      await pay(invoice, '6');
      await sees(invoice, 'PARTIALLY_PAID', 'XRP');
      await pay(invoice, subtract(text(invoice.amount), '6'));
      expect((await sees(invoice, 'SETTLED', 'XRP')).txIds).toHaveLength(2);
      return invoice;
    },
  },
  {
    rows: '5, 18',
    name: 'after its time: late money is a payment of its own',
    status: 'EXPIRED',
    exceptions: ['paidLate'],
    async drive() {
      const invoice = await open('XRP');
      await late(invoice);
      await sees(invoice, 'EXPIRED', 'XRP');
      await pay(invoice);
      expect(await childOf(invoice, 'XRP')).toMatchObject({ currency: 'XRP', amountPaid: invoice.amount });
      return invoice;
    },
  },
];

beforeAll(async () => {
  await setUp({ networks: ['xrpl'], scopes, currencies: ['BTC', 'USDT_ERC20', 'XRP'] });
  await fundTreasury(world.db, world.payer);
  await mining('our own money is booked', async () => {
    const rows = await world.db.query(`SELECT FROM deposit WHERE currency = 'XRP' AND allocation = 'capital'`);
    return rows.length === 1;
  });
}, 240_000);
afterAll(tearDown, 60_000);
afterEach(async () => {
  await until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
});

it('is listed as simulated, with the tag that it needs', async () => {
  const { body } = await world.call(null, 'GET', '/api/v1/currencies');
  const listed = body.data as Array<{ currency: string }>;
  expect(listed.find(({ currency }) => currency === 'XRP')).toMatchObject({
    ...{ network: 'xrpl', simulated: true, requiresDestinationTag: true, payin: true, payout: true },
  });
});

it.each(cases)('$rows: $name', async ({ drive, status, exceptions = [] }) => {
  const invoice = await drive();
  expect(await world.payment(shop, invoice.id)).toMatchObject({ status, exceptions });
});

it('is paid by its tag, settled where it came to, and withdrawn', async () => {
  const before = await balance();
  const [invoice, other] = [await open('XRP'), await open('XRP')];
  expect([invoice.address, invoice.tag === other.tag]).toEqual([other.address, false]);
  await pay(invoice);
  const done = await sees(invoice, 'SETTLED', 'XRP');
  expect(await balance()).toBe(add(before, String(done.netAmount)));
  expect((await world.payment(shop, other.id)).status).toBe('WAITING');
  await out.withdraws('5');
});

it('refuses to send without a tag, which an exchange would need', async () => {
  const { address } = stranger('1');
  await expect(out.open({ address }, '5')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
});

it('is refunded to the tag that its payer names', () => out.refunds());

it('keeps money without a tag, and with one that nobody was given, for whoever proves that it is his', async () => {
  const invoice = await open('XRP');
  const before = await unallocated();
  const txIds = [
    (await world.payer.pay('XRP', invoice.address, '3')).txId,
    (await world.payer.pay('XRP', invoice.address, '4', { tag: '4000000000' })).txId,
  ];
  const rows = async () =>
    world.db.query(`SELECT payment_id, allocation FROM deposit WHERE tx_id = ANY($1) AND status = 'confirmed'`, [
      txIds,
    ]);
  await mining('both are booked', async () => (await rows()).length === 2);
  expect(await rows()).toEqual([0, 1].map(() => ({ payment_id: null, allocation: 'unclaimed' })));
  await until('they are owed to somebody', async () => (await unallocated()) === add(before, '7'));
  expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
});

it('goes on where it was when its ledger comes back from a kill', async () => {
  const invoice = await open('XRP');
  await pay(invoice);
  const simulator = world.stack.part('xrpl-simulator');
  await simulator.kill9();
  await simulator.start();
  // The first question may meet a connection that the kill has closed.
  await whileRefused(/fetch failed/, () => world.payer.mine('XRP'));
  await sees(invoice, 'SETTLED', 'XRP');
});

it('pays a hundred lines of a mass payout exactly', () => out.paysHundred());

it('adds up with its ledger after all that', async () => {
  expect(parseConfig(world.stack.env).networks).toContain('xrpl');
  expect(await unreconciled(world)).toEqual([]);
});
