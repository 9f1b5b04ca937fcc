import { randomBytes } from 'node:crypto';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { approveRefund } from '../../commands/refunds/approve';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { assetsOn, baseUnits, evmNetworks, networks, networksWithAddressesOf } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { compare, divide, subtract, times } from '../../domain/money';
import { transactionsOf, reorgEthereum } from '../../sandbox/chain-tools';
import { call } from '../../sandbox/parts/json-rpc';
import { pricesOf } from '../../sandbox/prices';
import { fundTreasury } from '../../sandbox/seed';
import { optionalNetworks } from '../../sandbox/stack/networks';
import { creditFromCapital } from '../credit-from-capital';
import { anApprover } from '../approver';
import { unreconciled } from '../reconciled';
import { ann, childOf, decide, half, halfPaid, isReorged, late, open, pay, sees, setUp } from '../rows/stage';
import { settled, shop, tearDown, until, world } from '../rows/stage';
import type { Answer } from '../world';
import { readFileSync } from 'node:fs';

/** EVM networks beside Ethereum on a whole service, all at once: in, swept, settled, converted, out again, and money
 *  that took the wrong one of two networks. */

const scopes = ['refunds:create', 'refunds:read', 'withdrawals:read', 'conversions:read', 'conversions:execute'];
const by = { id: newId(), email: 'ann@shop.example' };
const ids = optionalNetworks.filter((id) => evmNetworks().some((network) => network.id === id));
let codecs: ReturnType<typeof createCodecs>;
let prices: Record<string, string>;

const balance = async (currency: string): Promise<string> => (await world.balance(shop, currency)).balance;
const ask = (method: string, route: string, body?: object): Promise<Answer> => world.call(shop, method, route, body);
/** So much of a coin as this many dollars buy. */
const worth = (dollars: string, currency: string): string => divide(dollars, prices[currency]!, 6, 'down');

beforeAll(async () => {
  const currencies = ['ETH', 'USDC_ERC20', ...assetsOn(ids).map(({ currency }) => currency)];
  await setUp({ networks: ids, scopes, currencies });
  codecs = createCodecs(parseConfig(world.stack.env).chain);
  prices = (
    JSON.parse(readFileSync(pricesOf(world.stack.dataDir, ['ethereum', ...ids]), 'utf8')) as { USD: typeof prices }
  ).USD;
  await fundTreasury(world.db, world.payer); // before anything of ours comes back as change
}, 300_000);
afterAll(tearDown, 60_000);
afterEach(async () => {
  await until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
});

it('are all on, with the addresses of Ethereum', () => {
  expect(parseConfig(world.stack.env).networks).toEqual(expect.arrayContaining(ids));
  expect(networksWithAddressesOf('ethereum').toSorted()).toEqual(['ethereum', ...ids].toSorted());
});

describe.each(ids)('%s', (id) => {
  const { native } = networks[id];
  const own = assetsOn([id]).map(({ currency }) => currency);
  const token = own.find((currency) => currency !== native) ?? native;
  /** Mines here until `condition` holds. */
  const mining = (what: string, condition: () => Promise<boolean>): Promise<void> =>
    until(what, async () => {
      await world.payer.mine(native);
      return condition();
    });
  /** What an account holds here, in base units. */
  async function held(address: string, currency: string): Promise<bigint | null> {
    const adapter = createAdapter(id, parseConfig(world.stack.env));
    return adapter.holding(address, currency, (await adapter.head()).height);
  }
  const stranger = (): string => codecs[id].derive(codecs[id].extendedKey(randomBytes(64), 'deposit'), 0);
  async function listed(currency: string): Promise<string> {
    const address = stranger();
    await addToWhitelist(world.db, shop.id, by, { type: 'wallet', currency, address, destinationTag: null });
    return address;
  }
  const shown = async (invoice: { id: string }): Promise<[string, string[]]> => {
    const { status, exceptions } = await world.payment(shop, invoice.id);
    return [status, exceptions];
  };

  it('takes a part, then more than the rest, which a reorganisation takes away and brings again', async () => {
    const invoice = await halfPaid(native);
    await pay(invoice);
    await world.payer.mine(native);
    await sees(invoice, 'CONFIRMING');
    const url = world.chains.evm![native]!;
    const raws = await transactionsOf(url, 1);
    await reorgEthereum(url, 1);
    await isReorged(invoice);
    for (const raw of raws) await call(url, 'eth_sendRawTransaction', [raw]);
    const done = await sees(invoice, 'SETTLED', native);
    expect(done.txIds).toHaveLength(2);
    expect(compare(done.overpaidAmount, times(half(invoice), '0.99', 8, 'down'))).toBe(1);
    expect(await shown(invoice)).toEqual(['SETTLED', expect.arrayContaining(['overpaid', 'reorged'])]);
  });

  it(`takes ${token} after its time: late money is a payment of its own`, async () => {
    const invoice = await open(token);
    await late(invoice);
    await sees(invoice, 'EXPIRED');
    await pay(invoice);
    expect(await childOf(invoice, native)).toMatchObject({ currency: token, amountPaid: invoice.amount });
    expect(await shown(invoice)).toEqual(['EXPIRED', ['paidLate']]);
  });

  it('money that took Ethereum is another coin of this payment, which the merchant takes', async () => {
    const invoice = await open(native);
    const { txId } = await world.payer.pay('USDC_ERC20', invoice.address, '25');
    const seen = await sees(invoice, 'CROSS_CHAIN_PENDING', 'ETH');
    expect(seen.receivedOther).toEqual([expect.objectContaining({ currency: 'USDC_ERC20', txId })]);
    await decide(invoice.id, 'accept-cross-chain');
    await sees(invoice, 'SETTLED', 'ETH');
    expect(await shown(invoice)).toEqual(['SETTLED', ['wrongCurrency']]);
  });

  it('money that came here by the wrong network goes back there', async () => {
    const invoice = await open('ETH');
    await world.payer.pay(native, invoice.address, worth('26', native));
    await sees(invoice, 'CROSS_CHAIN_PENDING', native);
    await decide(invoice.id, 'reject-cross-chain');
    const address = stranger();
    const terms = { type: 'full', currency: native, address, feeBearer: 'payer' };
    const asked = await ask('POST', `/api/v1/payments/${invoice.id}/refunds`, terms);
    expect([asked.status, asked.body.error ?? null]).toEqual([201, null]);
    const { _id: refund } = asked.body.data;
    await world.db.transaction((tx) => approveRefund(tx, shop.id, refund, anApprover()));
    const read = async () => (await ask('GET', `/api/v1/refunds/${refund}`)).body.data;
    await mining('the refund is completed', async () => (await read()).status === 'completed');
    const { netToDestination } = await read();
    expect(await held(address, native)).toBe(baseUnits(native, netToDestination));
    expect(compare(netToDestination, worth('25', native))).toBe(1);
  });

  it.each(own)('is paid in %s, swept, settled and withdrawn', async (currency) => {
    const before = await balance(currency);
    const invoice = await settled(currency);
    const done = await world.payment(shop, invoice.id);
    const after = await balance(currency);
    // What is shown is a number, with the digits that one has.
    const left = subtract(subtract(after, before), String(done.netAmount));
    expect([compare(left, '-0.000000000001') > 0, compare(left, '0.000000000001') < 0]).toEqual([true, true]);

    const address = await listed(currency);
    const amount = worth('5', currency);
    const { row } = await world.db.transaction((tx) =>
      openWithdrawal(
        tx,
        { codecs, rateMaxAgeSeconds: 3600 },
        shop.id,
        { currency, amount, feeMode: 'add', address },
        by,
        newId(),
      ),
    );
    const read = async () => (await ask('GET', `/api/v1/withdrawals/${row.id}`)).body.data;
    await mining('the withdrawal is completed', async () => (await read()).status === 'completed');
    expect(await held(address, currency)).toBe(baseUnits(currency, amount));
    const spent = subtract(after, await balance(currency));
    expect(spent).toBe(subtract(amount, `-${(await read()).networkFee}`));
  });

  it('adds up with its chain after all that', async () => {
    expect(await unreconciled(world)).toEqual([]);
  });
});

it('are converted into each other by what the treasury holds, once around', async () => {
  await until('the platform’s own money is booked', async () => {
    for (const id of ids) await world.payer.mine(networks[id].native);
    const { liquidity } = (await ask('GET', '/api/v1/conversions/liquidity')).body;
    return ids.every((id) => liquidity[networks[id].native]);
  });
  for (const [at, id] of ids.entries()) {
    const [from, to] = [networks[id].native, networks[ids[(at + 1) % ids.length]!].native];
    const before = await balance(to);
    await world.db.query('DELETE FROM rate_limit'); // five a minute, however many networks there are
    const terms = { fromCurrency: from, toCurrency: to, fromAmount: worth('8', from) };
    const done = await ask('POST', '/api/v1/conversions', terms);
    expect([done.status, done.body]).toEqual([201, expect.objectContaining({ status: 'completed' })]);
    const came = subtract(await balance(to), before);
    expect([compare(came, worth('7', to)), compare(came, worth('8', to))]).toEqual([1, -1]);
  }
});

it('a hundred lines of a mass payout, of two assets of Base, leave exactly', async () => {
  for (const currency of ['ETH_BASE', 'USDC_BASE']) await creditFromCapital(world.db, shop.id, currency, '20');
  const rows: Array<Record<'currency' | 'address' | 'amount', string>> = [];
  for (let n = 0; n < 100; n += 1) {
    const currency = n % 10 ? 'ETH_BASE' : 'USDC_BASE';
    const address = codecs.base.derive(codecs.base.extendedKey(randomBytes(64), 'deposit'), 0);
    await addToWhitelist(world.db, shop.id, by, { type: 'wallet', currency, address, destinationTag: null });
    rows.push({ currency, address, amount: `${n % 10 ? 0 : 1}.1${String(n).padStart(3, '0')}` });
  }
  const route = '/api/v1/mass-payouts';
  const emailCode = await ann.emailCode(`${route}/send-email-code`);
  const made = await ann.post(route, { rows, emailCode });
  const read = async () => (await ann.call('GET', `${route}/${made.body.data._id}`)).body.data;
  await until('the payout has ended', async () => {
    await world.payer.mine('ETH_BASE');
    return (await read()).completedAt !== null;
  });
  const done = await read();
  expect([done.status, done.counts.completed]).toEqual(['completed', 100]);
  const adapter = createAdapter('base', parseConfig(world.stack.env));
  const { height } = await adapter.head();
  for (const { address, currency, netToDestination } of done.legs as Array<Record<string, string>>)
    expect([address, await adapter.holding(address!, currency!, height)]).toEqual([
      address,
      baseUnits(currency!, netToDestination!),
    ]);
  expect(await unreconciled(world)).toEqual([]);
});
