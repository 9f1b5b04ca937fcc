import { randomBytes } from 'node:crypto';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { approveRefund } from '../../commands/refunds/approve';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { baseUnits } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { add, compare, subtract } from '../../domain/money';
import { fundTreasury } from '../../sandbox/seed';
import { anApprover } from '../approver';
import { unreconciled } from '../reconciled';
import { childOf, decide, half, halfPaid, late, open, pay, sees, setUp, settled, shop } from '../rows/stage';
import { tearDown, text, until, world, type Case } from '../rows/stage';
import type { Answer } from '../world';

/** A second EVM network on a whole service: in, swept, settled, converted, out again, and money that took the wrong one
 *  of two networks. */

const scopes = ['refunds:create', 'refunds:read', 'withdrawals:read', 'conversions:read', 'conversions:execute'];
const by = { id: newId(), email: 'ann@shop.example' };
let codecs: ReturnType<typeof createCodecs>;

const stranger = (): string => codecs.polygon.derive(codecs.polygon.extendedKey(randomBytes(64), 'deposit'), 0);
const balance = async (currency: string): Promise<string> => (await world.balance(shop, currency)).balance;
const ask = (method: string, route: string, body?: object): Promise<Answer> => world.call(shop, method, route, body);
/** Mines on Polygon until `condition` holds. */
const mining = (what: string, condition: () => Promise<boolean>): Promise<void> =>
  until(what, async () => {
    await world.payer.mine('POL');
    return condition();
  });
/** What an account holds on Polygon, in base units. */
async function held(address: string, currency: string): Promise<bigint | null> {
  const adapter = createAdapter('polygon', parseConfig(world.stack.env));
  return adapter.holding(address, currency, (await adapter.head()).height);
}

const cases: Case[] = [
  {
    rows: '7, 8',
    name: 'a part, then the rest',
    status: 'SETTLED',
    async drive() {
      const invoice = await halfPaid('POL');
      await pay(invoice, half(invoice));
      expect((await sees(invoice, 'SETTLED', 'POL')).txIds).toHaveLength(2);
      return invoice;
    },
  },
  {
    rows: '5, 18',
    name: 'a token after its time: late money is a payment of its own',
    status: 'EXPIRED',
    exceptions: ['paidLate'],
    async drive() {
      const invoice = await open('USDC_POLYGON');
      await late(invoice);
      await sees(invoice, 'EXPIRED');
      await pay(invoice);
      expect(await childOf(invoice, 'POL')).toMatchObject({ currency: 'USDC_POLYGON', amountPaid: invoice.amount });
      return invoice;
    },
  },
  {
    rows: '19, 20',
    name: 'money that took Ethereum is another coin of this payment, which the merchant takes',
    status: 'SETTLED',
    exceptions: ['wrongCurrency'],
    async drive() {
      const invoice = await open('USDC_POLYGON');
      const { txId } = await world.payer.pay('USDC_ERC20', invoice.address, text(invoice.amount));
      const seen = await sees(invoice, 'CROSS_CHAIN_PENDING', 'ETH');
      expect(seen.receivedOther).toEqual([expect.objectContaining({ currency: 'USDC_ERC20', txId })]);
      await decide(invoice.id, 'accept-cross-chain');
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
];

describe('Polygon PoS', () => {
  beforeAll(async () => {
    await setUp({ networks: ['polygon'], scopes, currencies: ['ETH', 'USDC_ERC20', 'POL', 'USDC_POLYGON'] });
    codecs = createCodecs(parseConfig(world.stack.env).chain);
    await fundTreasury(world.db, world.payer); // before anything of ours comes back as change
  }, 240_000);
  afterAll(tearDown, 60_000);
  afterEach(async () => {
    await until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
    expect(await world.audit()).toEqual([]);
  });

  it.each(cases)('$rows: $name', async ({ drive, status, exceptions = [] }) => {
    const invoice = await drive();
    expect(await world.payment(shop, invoice.id)).toMatchObject({ status, exceptions });
  });

  it.each(['POL', 'USDC_POLYGON'])('is paid in %s, swept, settled and withdrawn', async (currency) => {
    const before = await balance(currency);
    const invoice = await settled(currency);
    const done = await world.payment(shop, invoice.id);
    const after = await balance(currency);
    // What is shown is a number, with the digits that one has.
    const left = subtract(subtract(after, before), String(done.netAmount));
    expect([compare(left, '-0.000000000001') > 0, compare(left, '0.000000000001') < 0]).toEqual([true, true]);

    const address = stranger();
    await addToWhitelist(world.db, shop.id, by, { type: 'wallet', currency, address, destinationTag: null });
    const { row } = await world.db.transaction((tx) =>
      openWithdrawal(
        tx,
        { codecs, rateMaxAgeSeconds: 3600 },
        shop.id,
        { currency, amount: '5', feeMode: 'add', address },
        by,
        newId(),
      ),
    );
    const read = async () => (await ask('GET', `/api/v1/withdrawals/${row.id}`)).body.data;
    await mining('the withdrawal is completed', async () => (await read()).status === 'completed');
    expect(await held(address, currency)).toBe(baseUnits(currency, '5'));
    expect(await balance(currency)).toBe(subtract(after, add('5', (await read()).networkFee)));
  });

  it('gives money that took the wrong network back there', async () => {
    const invoice = await open('ETH');
    await world.payer.pay('POL', invoice.address, '60');
    await sees(invoice, 'CROSS_CHAIN_PENDING', 'POL');
    await decide(invoice.id, 'reject-cross-chain');
    const address = stranger();
    const asked = await ask('POST', `/api/v1/payments/${invoice.id}/refunds`, {
      type: 'full',
      currency: 'POL',
      address,
      feeBearer: 'payer',
    });
    expect([asked.status, asked.body.error ?? null]).toEqual([201, null]);
    const { _id: id } = asked.body.data;
    await world.db.transaction((tx) => approveRefund(tx, shop.id, id, anApprover()));
    const read = async () => (await ask('GET', `/api/v1/refunds/${id}`)).body.data;
    await mining('the refund is completed', async () => (await read()).status === 'completed');
    const { netToDestination } = await read();
    expect(await held(address, 'POL')).toBe(baseUnits('POL', netToDestination));
    expect(compare(netToDestination, '59')).toBe(1);
  });

  it('is converted both ways by what the treasury holds', async () => {
    await settled('POL');
    const convert = async (fromCurrency: string, toCurrency: string, fromAmount: string): Promise<string> => {
      const before = await balance(toCurrency);
      const done = await ask('POST', '/api/v1/conversions', { fromCurrency, toCurrency, fromAmount });
      expect([done.status, done.body]).toEqual([201, expect.objectContaining({ status: 'completed' })]);
      return subtract(await balance(toCurrency), before);
    };
    await mining('the platform’s own money is booked', async () => {
      await world.payer.mine('ETH');
      const { liquidity } = (await ask('GET', '/api/v1/conversions/liquidity')).body;
      return liquidity.POL && liquidity.USDC_POLYGON && liquidity.USDC_ERC20;
    });
    const dollars = await convert('POL', 'USDC_POLYGON', '50');
    expect([compare(dollars, '19'), compare(dollars, '20')]).toEqual([1, -1]);
    const there = await convert('USDC_POLYGON', 'USDC_ERC20', '10');
    expect([compare(there, '9.5'), compare(there, '10')]).toEqual([1, -1]);
  });

  it('adds up with its chain after all that', async () => {
    expect(parseConfig(world.stack.env).networks).toContain('polygon');
    expect(await unreconciled(world)).toEqual([]);
  });
});
