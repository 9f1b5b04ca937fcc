import { parseConfig } from '../../domain/config';
import { add } from '../../domain/money';
import { whileRefused } from '../../sandbox/again';
import { fundTreasury } from '../../sandbox/seed';
import { unreconciled } from '../reconciled';
import { leaving } from '../rows/leaving';
import { lateMoney, partThenRest } from '../rows/on-any-network';
import { audited, check, outcomesOf } from '../rows/run';
import { open, pay, sees, setUp, shop, tearDown, tick, ticking, until, world, type Case } from '../rows/stage';

/** XRP, TRX and USDT on TRON on a whole service with simulated chains: in (XRP by tags, settled without a sweep),
 *  swept, settled, and out again. What is on one network runs in its order, and the two beside each other. */

const scopes = ['refunds:create', 'refunds:read', 'withdrawals:read'];
const currencies = ['XRP', 'TRX', 'USDT_TRC20'] as const;
/** Blocks of TRON between the newest and the newest final one: eighteen cost the time of reading them. */
const finalLag = 2;
/** Until what a block has is final. */
const deep = finalLag + 2;
const [xrp, trx, usdt] = [leaving('XRP'), leaving('TRX', { blocks: deep }), leaving('USDT_TRC20', { blocks: deep })];

type Act = Readonly<{ name: string; act: () => Promise<unknown> }>;
const acted = (one: Case): Act => ({ name: `${one.rows}: ${one.name}`, act: () => check(one) });
const refunds = (currency: string, out: typeof xrp): Act => ({
  name: `${currency} is refunded to its payer`,
  act: () => out.refunds(),
});
const hundred = (currency: string, out: typeof xrp): Act => ({
  name: `a hundred lines of a mass payout in ${currency} are paid exactly`,
  act: () => out.paysHundred(),
});
/** On TRON. */
const paidAndSwept = (currency: string, { balance, mining, withdraws }: typeof xrp): Act => ({
  name: `${currency} is paid, swept, settled and withdrawn`,
  async act() {
    const before = await balance();
    const invoice = await open(currency);
    await pay(invoice);
    await mining('it is settled', async () => (await world.payment(shop, invoice.id)).status === 'SETTLED');
    const { netAmount } = await world.payment(shop, invoice.id);
    expect(await balance()).toBe(add(before, String(netAmount)));
    await withdraws('5');
  },
});

const unallocated = async (): Promise<string> => {
  const [row] = await world.db.query(
    `SELECT trim_scale(amount)::text AS amount FROM balance
      WHERE account = 'L:unallocated:unclaimed' AND asset = 'XRP'`,
  );
  return row?.amount ?? '0';
};

const ofXrp: Act[] = [
  acted(partThenRest('XRP')),
  acted(lateMoney('XRP')),
  {
    name: 'XRP is paid by its tag, settled where it came to, and withdrawn',
    async act() {
      const before = await xrp.balance();
      const [invoice, other] = [await open('XRP'), await open('XRP')];
      expect([invoice.address, invoice.tag === other.tag]).toEqual([other.address, false]);
      await pay(invoice);
      const done = await sees(invoice, 'SETTLED', 'XRP');
      expect(await xrp.balance()).toBe(add(before, String(done.netAmount)));
      expect((await world.payment(shop, other.id)).status).toBe('WAITING');
      await xrp.withdraws('5');
    },
  },
  {
    name: 'XRP is not sent without a tag, which an exchange would need',
    async act() {
      const { address } = xrp.stranger('1');
      await expect(xrp.open({ address }, '5')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    },
  },
  refunds('XRP', xrp),
  {
    name: 'XRP without a tag, and with one that nobody was given, is kept for whoever proves that it is his',
    async act() {
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
      await xrp.mining('both are booked', async () => (await rows()).length === 2);
      expect(await rows()).toEqual([0, 1].map(() => ({ payment_id: null, allocation: 'unclaimed' })));
      await until('they are owed to somebody', async () => (await unallocated()) === add(before, '7'));
      expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
    },
  },
  hundred('XRP', xrp),
];
const ofTrx: Act[] = [acted(partThenRest('TRX')), paidAndSwept('TRX', trx), refunds('TRX', trx)];
const ofUsdt: Act[] = [
  paidAndSwept('USDT_TRC20', usdt),
  acted(lateMoney('USDT_TRC20')),
  refunds('USDT_TRC20', usdt),
  hundred('USDT_TRC20', usdt),
];

const all = [...ofXrp, ...ofTrx, ...ofUsdt];
const outcomes = outcomesOf(all, async ({ act }) => {
  await act();
  expect(await audited()).toEqual([]);
});
let done: Promise<void> = Promise.resolve();

beforeAll(async () => {
  await setUp({
    ...{ networks: ['xrpl', 'tron'], simulatedFinalLag: finalLag, scopes, currencies: ['BTC', ...currencies] },
    env: { ETH_SWEEPER_CONTRACT: '', LANES: 'xrpl=3,tron=4' },
  });
  await fundTreasury(world.db, world.payer);
  await xrp.mining('our own money is booked', async () => {
    await world.payer.mine('TRX', deep);
    const [row] = await world.db.query(
      `SELECT count(*)::int AS booked, (SELECT count(*)::int FROM address a WHERE a.role = 'treasury'
                AND a.lane = 'used' AND a.network = ANY($2)) AS lanes
         FROM deposit WHERE currency = ANY($1) AND role = 'treasury' AND allocation = 'capital'`,
      [currencies, ['xrpl', 'tron']],
    );
    return row.booked === 3 + 2 * 4 && row.lanes === 3 + 4;
  });
  const ticks = [tick('XRP', { everyMs: 150 }), tick('TRX', { blocks: deep, everyMs: 300 })];
  done = Promise.all([ofXrp, [...ofTrx, ...ofUsdt]].map(outcomes.inOrder)).then(async () => {
    ticking.clear();
    await Promise.all(ticks);
  });
}, 280_000);
afterAll(tearDown, 60_000);

it('are listed as simulated, XRP with the tag that it needs', async () => {
  const { body } = await world.call(null, 'GET', '/api/v1/currencies');
  const listed = body.data as Array<{ currency: string }>;
  const shown = currencies.map((currency) => listed.find((one) => one.currency === currency));
  const [onXrpl, onTron] = ['xrpl', 'tron'].map((network) => ({ network, simulated: true, payin: true, payout: true }));
  expect(shown).toMatchObject([{ ...onXrpl, requiresDestinationTag: true }, onTron, onTron]);
});

it.each(all)('$name', (one) => outcomes.of(one), 900_000);

it.each([
  ['XRP', 'xrpl-simulator'],
  ['TRX', 'tron-simulator'],
])(
  '%s goes on where it was when its chain comes back from a kill',
  async (currency, part) => {
    await done;
    const invoice = await open(currency);
    await pay(invoice);
    await world.payer.mine(currency);
    const simulator = world.stack.part(part);
    await simulator.kill9();
    await simulator.start();
    // The first question may meet a connection that the kill has closed.
    await whileRefused(/fetch failed/, () => world.payer.mine(currency));
    await sees(invoice, 'SETTLED', currency);
    await until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
    expect(await world.audit()).toEqual([]);
  },
  900_000,
);

it('add up with their chains after all that', async () => {
  await done;
  expect(parseConfig(world.stack.env).networks).toEqual(expect.arrayContaining(['xrpl', 'tron']));
  expect(await unreconciled(world)).toEqual([]);
});
