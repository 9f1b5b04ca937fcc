import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { approveRefund } from '../../commands/refunds/approve';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { baseUnits } from '../../domain/chains/assets';
import { parseConfig, type Config } from '../../domain/config';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { add, compare, subtract } from '../../domain/money';
import { bitcoinCall } from '../../sandbox/miner';
import { fundTreasury } from '../../sandbox/seed';
import { anApprover } from '../approver';
import { unreconciled } from '../reconciled';
import { blocksReplaced } from '../rows/bitcoin';
import {
  ann,
  childOf,
  half,
  halfPaid,
  late,
  open,
  pay,
  payer,
  sees,
  setUp,
  settled,
  shop,
  tearDown,
  text,
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
const by = { id: newId(), email: 'ann@shop.example' };
let config: Config;
let codecs: ReturnType<typeof createCodecs>;

const stranger = (): string => codecs.litecoin.derive(codecs.litecoin.extendedKey(randomBytes(64), 'deposit'), 0);
const balance = async (currency = 'LTC'): Promise<string> => (await world.balance(shop, currency)).balance;
const ask = (method: string, route: string, body?: object): Promise<Answer> => world.call(shop, method, route, body);
/** Mines Litecoin until `condition` holds. */
const mining = (what: string, condition: () => Promise<boolean>): Promise<void> =>
  until(what, async () => {
    await world.payer.mine('LTC');
    return condition();
  });
/** What a mined transaction pays to each address, in base units. */
async function outputsOf(txId: string): Promise<Map<string, bigint>> {
  const adapter = createAdapter('litecoin', config);
  const sighting = await adapter.lookUp(txId);
  if (sighting.state !== 'mined') throw new Error(`${txId} is ${sighting.state}`);
  const { transfers } = (await adapter.readBlock(sighting.height))!;
  return new Map(transfers.filter((one) => one.txId === txId).map((one) => [one.to, one.units]));
}
async function listed(): Promise<string> {
  const address = stranger();
  await addToWhitelist(world.db, shop.id, by, { type: 'wallet', currency: 'LTC', address, destinationTag: null });
  return address;
}

const cases: Case[] = [
  {
    rows: '7, 8',
    name: 'a part, then the rest',
    status: 'SETTLED',
    async drive() {
      const invoice = await halfPaid('LTC');
      await pay(invoice, half(invoice));
      expect((await sees(invoice, 'SETTLED', 'LTC')).txIds).toHaveLength(2);
      return invoice;
    },
  },
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
  {
    rows: '5, 18',
    name: 'after its time: late money is a payment of its own',
    status: 'EXPIRED',
    exceptions: ['paidLate'],
    async drive() {
      const invoice = await open('LTC');
      await late(invoice);
      await sees(invoice, 'EXPIRED');
      await pay(invoice);
      expect(await childOf(invoice, 'LTC')).toMatchObject({ currency: 'LTC', amountPaid: invoice.amount });
      return invoice;
    },
  },
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
  blocksReplaced('LTC', 'six blocks of Litecoin are replaced before settlement, and have it again'),
];

(isThere ? describe : describe.skip)('Litecoin', () => {
  beforeAll(async () => {
    await setUp({ networks: ['litecoin'], scopes, currencies: ['BTC', 'USDT_ERC20', 'LTC'] });
    config = parseConfig(world.stack.env);
    codecs = createCodecs(config.chain);
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

  it('is paid, swept, settled and withdrawn', async () => {
    const before = await balance();
    const invoice = await open('LTC');
    expect(invoice.address).toMatch(/^rltc1q/);
    await pay(invoice);
    const done = await sees(invoice, 'SETTLED', 'LTC');
    const after = await balance();
    expect(after).toBe(add(before, String(done.netAmount)));

    const to = await listed();
    const { row } = await world.db.transaction((tx) =>
      openWithdrawal(
        tx,
        { codecs, rateMaxAgeSeconds: 3600 },
        shop.id,
        { currency: 'LTC', amount: '0.1', feeMode: 'add', address: to },
        by,
        newId(),
      ),
    );
    const read = async () => (await ask('GET', `/api/v1/withdrawals/${row.id}`)).body.data;
    await mining('the withdrawal is completed', async () => (await read()).status === 'completed');
    const { txId, networkFee } = await read();
    expect((await outputsOf(txId)).get(to)).toBe(baseUnits('LTC', '0.1'));
    expect(await balance()).toBe(subtract(after, add('0.1', networkFee)));
  });

  it('is refunded to its payer', async () => {
    const invoice = await settled('LTC');
    const address = stranger();
    const asked = await ask('POST', `/api/v1/payments/${invoice.id}/refunds`, {
      type: 'full',
      address,
      feeBearer: 'payer',
    });
    expect(asked.status).toBe(201);
    const { _id: id } = asked.body.data;
    await world.db.transaction((tx) => approveRefund(tx, shop.id, id, anApprover()));
    const read = async () => (await ask('GET', `/api/v1/refunds/${id}`)).body.data;
    await mining('the refund is completed', async () => (await read()).status === 'completed');
    const { txId, netToDestination, networkFee } = await read();
    expect(add(netToDestination, networkFee)).toBe(text(invoice.amount));
    expect((await outputsOf(txId)).get(address)).toBe(baseUnits('LTC', netToDestination));
  });

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

  it('pays a hundred lines of a mass payout exactly', async () => {
    // The platform's own money (its float) is credited to the merchant.
    await world.db.transaction((tx) =>
      post(tx, {
        key: 'test/LTC',
        entry: adjustment,
        postings: [{ debit: 'Q:capital', credit: `L:available:${shop.id}`, asset: 'LTC', amount: '20' }],
      }),
    );
    const before = await balance();
    const rows = [];
    for (let n = 0; n < 100; n += 1)
      rows.push({ currency: 'LTC', address: await listed(), amount: `0.1${String(n).padStart(3, '0')}` });
    const route = '/api/v1/mass-payouts';
    const emailCode = await ann.emailCode(`${route}/send-email-code`);
    const made = await ann.post(route, { rows, emailCode });
    const read = async () => (await ann.call('GET', `${route}/${made.body.data._id}`)).body.data;
    await mining('the payout has ended', async () => (await read()).completedAt !== null);
    const done = await read();
    expect([done.status, done.counts.completed]).toEqual(['completed', 100]);
    const lines = done.legs as Array<{ address: string; txId: string; netToDestination: string; networkFee: string }>;
    const paid = new Map<string, bigint>();
    for (const txId of new Set(lines.map((line) => line.txId)))
      for (const [to, units] of await outputsOf(txId)) paid.set(to, units);
    for (const { address, netToDestination } of lines)
      expect([address, paid.get(address)]).toEqual([address, baseUnits('LTC', netToDestination)]);
    expect(await balance()).toBe(subtract(before, done.totalsByCurrency.LTC));
  });

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
    expect(config.networks).toContain('litecoin');
    expect(await unreconciled(world)).toEqual([]);
  });
});
