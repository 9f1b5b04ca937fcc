import { existsSync } from 'node:fs';
import { parseConfig } from '../../domain/config';
import { add, compare, subtract } from '../../domain/money';
import { bitcoinCall } from '../../sandbox/miner';
import { fundTreasury } from '../../sandbox/seed';
import { unreconciled } from '../reconciled';
import { blocksReplaced } from '../rows/bitcoin';
import { leaving } from '../rows/leaving';
import { lateMoney, partThenRest } from '../rows/on-any-network';
import { audited, check, outcomesOf } from '../rows/run';
import {
  childOf,
  open,
  pay,
  payer,
  sees,
  setUp,
  settled,
  shop,
  tearDown,
  text,
  tick,
  ticking,
  until,
  world,
  type Case,
} from '../rows/stage';
import type { Answer } from '../world';

/** Litecoin on a whole service: in, swept, settled, converted, and out again. */

const path = process.env.LITECOIND_PATH ?? '/usr/bin/litecoind';
const isThere = existsSync(path);
if (!isThere && process.env.CI) throw new Error('No litecoind: set LITECOIND_PATH, or install the litecoind package');

const scopes = ['refunds:create', 'refunds:read', 'withdrawals:read', 'conversions:read', 'conversions:execute'];
const { mining, withdraws, refunds, paysHundred } = leaving('LTC', { line: '0.1' });
const balance = async (currency: string): Promise<string> => (await world.balance(shop, currency)).balance;
const ask = (method: string, route: string, body?: object): Promise<Answer> => world.call(shop, method, route, body);

const cases: Case[] = [
  partThenRest('LTC'),
  {
    rows: '8',
    name: 'more than it costs, after an amount too small to count',
    status: 'SETTLED',
    exceptions: ['overpaid'],
    async drive() {
      const invoice = await open('LTC');
      await world.payer.pay('LTC', invoice.address, '0.00009999');
      const dust = async () =>
        world.db.query('SELECT FROM deposit WHERE payment_id = $1 AND is_dust AND height IS NOT NULL', [invoice.id]);
      await mining('the dust is booked', async () => (await dust()).length === 1);
      expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
      const twice = add(text(invoice.amount), text(invoice.amount));
      await pay(invoice, twice);
      const done = await sees(invoice, 'SETTLED', 'LTC');
      expect([String(done.amountPaid), done.overpaidAmount]).toEqual([twice, text(invoice.amount)]);
      return invoice;
    },
  },
  lateMoney('LTC'),
  {
    rows: '2, 3, 18',
    name: 'another coin than the one chosen last: a payment of its own',
    status: 'WAITING',
    async drive() {
      const invoice = await open();
      const first = (await payer(invoice, 'select-currency', { currency: 'LTC' })).body;
      await payer(invoice, 'select-currency', { currency: 'BTC' });
      await world.payer.pay('LTC', first.depositAddress, text(first.amount));
      expect(await childOf(invoice, 'LTC')).toMatchObject({ currency: 'LTC', amountPaid: first.amount });
      return invoice;
    },
  },
];
const replaced = blocksReplaced('LTC', 'six blocks of Litecoin are replaced before settlement, and have it again');
const outcomes = outcomesOf([...cases, replaced], async (one) => {
  await check(one);
  expect(await audited()).toEqual([]);
});
/** All at once; then the one whose blocks must be its own. */
async function begin(): Promise<void> {
  const ticks = tick('LTC');
  await outcomes.beside(cases, cases.length);
  ticking.clear();
  await ticks;
  await outcomes.inOrder([replaced]);
}

(isThere ? describe : describe.skip)('Litecoin', () => {
  beforeAll(async () => {
    await setUp({ networks: ['litecoin'], scopes, currencies: ['BTC', 'USDT_ERC20', 'LTC'] });
    await fundTreasury(world.db, world.payer); // before anything of ours comes back as change
    void begin();
  }, 240_000);
  afterAll(tearDown, 60_000);
  afterEach(async () => {
    await until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
    expect(await world.audit()).toEqual([]);
  });

  it.each([...cases, replaced])('$rows: $name', (one) => outcomes.of(one), 900_000);

  it('is paid, swept, settled and withdrawn', async () => {
    const before = await balance('LTC');
    const invoice = await open('LTC');
    expect(invoice.address).toMatch(/^rltc1q/);
    await pay(invoice);
    const done = await sees(invoice, 'SETTLED', 'LTC');
    expect(await balance('LTC')).toBe(add(before, String(done.netAmount)));
    await withdraws('0.1');
  });

  it('is refunded to its payer', () => refunds());

  it('is converted both ways by what the treasury holds', async () => {
    await settled('LTC');
    const liquidity = async () => (await ask('GET', '/api/v1/conversions/liquidity')).body.liquidity;
    await mining('the platform’s own money is booked', async () => {
      await world.payer.mine('ETH');
      const { LTC, USDT_ERC20 } = await liquidity();
      return LTC && USDT_ERC20;
    });
    const convert = async (fromCurrency: string, toCurrency: string, fromAmount: string): Promise<string> => {
      const before = [await balance(fromCurrency), await balance(toCurrency)];
      const done = await ask('POST', '/api/v1/conversions', { fromCurrency, toCurrency, fromAmount });
      expect([done.status, done.body]).toEqual([201, expect.objectContaining({ status: 'completed' })]);
      expect(await balance(fromCurrency)).toBe(subtract(before[0]!, fromAmount));
      return subtract(await balance(toCurrency), before[1]!);
    };
    const dollars = await convert('LTC', 'USDT_ERC20', '0.25');
    expect(compare(dollars, '19')).toBe(1);
    expect(compare(dollars, '20')).toBe(-1);
    const coins = await convert('USDT_ERC20', 'LTC', '10');
    expect(compare(coins, '0.12')).toBe(1);
    expect(compare(coins, '0.125')).toBe(-1);
  });

  it('pays a hundred lines of a mass payout exactly', () => paysHundred(), 900_000);

  it('settles a payment out of the extension block (MWEB)', async () => {
    const { url } = world.chains.coins!.LTC!;
    const inWallet = <T>(wallet: string, method: string, ...params: unknown[]): Promise<T> =>
      bitcoinCall<T>(`${url}/wallet/${wallet}`, method, params);
    for (const wallet of ['open', 'hidden']) await bitcoinCall(url, 'createwallet', [wallet]);
    await world.payer.pay('LTC', await inWallet('open', 'getnewaddress', '', 'bech32'), '20');
    await world.payer.mine('LTC');
    await inWallet('open', 'sendtoaddress', await inWallet('hidden', 'getnewaddress', '', 'mweb'), 10);
    await world.payer.mine('LTC');
    const invoice = await open('LTC');
    await inWallet('hidden', 'sendtoaddress', invoice.address, invoice.amount);
    const done = await sees(invoice, 'SETTLED', 'LTC');
    expect([done.amountPaid, done.exceptions]).toEqual([invoice.amount, []]);
    // The service saw the block's last transaction, not that of the payer's wallet.
    const [{ tx_id: txId }] = await world.db.query('SELECT tx_id FROM deposit WHERE payment_id = $1', [invoice.id]);
    const { blockhash } = await bitcoinCall<{ blockhash: string }>(url, 'getrawtransaction', [txId, true]);
    const { tx } = await bitcoinCall<{ tx: string[] }>(url, 'getblock', [blockhash]);
    expect(tx.at(-1)).toBe(txId);
  });

  it('adds up with its chain after all that', async () => {
    expect(parseConfig(world.stack.env).networks).toContain('litecoin');
    expect(await unreconciled(world)).toEqual([]);
  });
});
