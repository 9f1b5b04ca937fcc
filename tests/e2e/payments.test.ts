import { createCodecs } from '../../chains/codecs';
import { parseConfig } from '../../domain/config';
import { deploy } from '../../sandbox/tokens';
import { add, compare, subtract } from '../../domain/money';
import { World, type Invoice, type Shop } from '../world';

/** Payments in every asset, and what is no row of the state machine: tests/rows has those. */

let world: World;
let shop: Shop;
/** Its minute passes while the other tests run. */
let unpaid: Invoice;
beforeAll(async () => {
  world = await World.start();
  shop = await world.shop();
  unpaid = await world.invoice(shop, { amount: 25, currency: 'ETH', expiresIn: 60 });
}, 240_000);
afterAll(() => world?.stop(), 60_000);
afterEach(async () => {
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
});

const text = (amount: number): string => (amount < 1e-6 ? amount.toFixed(8) : String(amount));
const pay = (invoice: Invoice, amount = text(invoice.amount)) =>
  world.payer.pay(invoice.currency!, invoice.address, amount);

it('costs Temporal a start while it waits', async () => {
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  const waiting = world.temporal.workflow.getHandle(`payment/${unpaid.id}`);
  expect(await waiting.describe()).toMatchObject({
    status: { name: 'RUNNING' },
    searchAttributes: { Kind: ['payment'], PaymentId: [unpaid.id], PaymentStatus: ['WAITING'], MerchantId: [shop.id] },
  });
  expect((await world.history(`payment/${unpaid.id}`)).events).toBe(1);
});

describe.each(['BTC', 'ETH', 'USDT_ERC20', 'USDC_ERC20'])('a payment in %s', (currency) => {
  it('is confirmed, swept, settled and credited, each with its event', async () => {
    const before = await world.balance(shop, currency);
    const invoice = await world.invoice(shop, { amount: 25, currency, metadata: { order: 'ä"</script>' } });
    await pay(invoice);
    const queued = await world.sees(shop, invoice.id, ['SWEEP_QUEUED', 'SETTLED'], { mine: currency });
    if (queued.status === 'SWEEP_QUEUED') {
      expect((await world.balance(shop, currency)).balance).toBe(before.balance);
    }
    const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: currency });
    expect(settled).toMatchObject({
      basis: 'settled',
      amountRemaining: '0',
      overpaidAmount: '0',
      exceptions: [],
    });
    const credited = subtract((await world.balance(shop, currency)).balance, before.balance);
    expect(credited).toBe(add('0', String(settled.netAmount)));

    const types = ['created', 'detected', 'confirming', 'confirmed', 'sweep_queued', 'settled'].map(
      (type) => `payment.${type}`,
    );
    // In any order, and each once or more.
    const told = () => [...new Map(world.eventsOf(invoice.id).map((event) => [event.seq, event.type]))];
    await world.until('every event is delivered', () => told().length >= types.length);
    expect(
      told()
        .toSorted(([a], [b]) => a - b)
        .map(([, type]) => type),
    ).toEqual(types);
    const last = world.eventsOf(invoice.id).find((event) => event.type === 'payment.settled')!;
    expect(last.raw).toContain('"metadata":{"order":"ä\\"</script>"}');
    const { confirmations: _now, ...got } = settled;
    const { confirmations: _then, ...said } = last.data;
    expect(said).toEqual(got);

    const history = await world.history(`payment/${invoice.id}`, `payment-settled-in-task-${currency}`);
    expect(history.events).toBeLessThanOrEqual(54);
    expect(history.bytes).toBeLessThanOrEqual(60_000);
    // Tokens go by the sweeper, as a batch of one.
    const owner = await world.sweepOf(invoice.id);
    const isBatch = currency.endsWith('_ERC20');
    expect(owner).toMatch(isBatch ? /^sweep-batch\/[0-9a-f]{24}$/ : `sweep/${invoice.id}`);
    await world.until(
      'the sweep has ended',
      async () => (await world.temporal.workflow.getHandle(owner).describe()).status.name === 'COMPLETED',
    );
    const sweep = await world.history(owner, isBatch ? undefined : `sweep-${currency}`);
    expect(sweep.events).toBeLessThanOrEqual(60);
    // The last words of both name the money and the transaction.
    const [hash] = settled.txIds as string[];
    expect(await world.temporal.workflow.getHandle(`payment/${invoice.id}`).result()).toMatchObject({
      status: 'SETTLED',
      received: `${text(invoice.amount)} ${currency} in transaction ${hash}`,
    });
    const sent = world.temporal.workflow.getHandle(owner);
    const { searchAttributes } = await sent.describe();
    expect(searchAttributes).toMatchObject({ Kind: ['sweep'], TxId: [expect.stringMatching(/^(0x)?[0-9a-f]{64}$/)] });
    expect(await sent.result()).toContain(`transaction ${(searchAttributes['TxId'] as string[]).at(-1)}.`);
    const paid = await world.temporal.workflow.getHandle(`payment/${invoice.id}`).describe();
    expect(paid.searchAttributes).toMatchObject({ PaymentStatus: ['SETTLED'], TxId: [hash] });
    expect(await sent.result()).toMatch(
      /Sweep of ([\d.]+ )?\w+ to \w+ for .*: in the chain and booked, transaction (0x)?[0-9a-f]{64}\.$/,
    );
  });
});

it('credits an overpayment in full and says so', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'USDC_ERC20' });
  await pay(invoice, '30');
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' });
  expect(settled).toMatchObject({ exceptions: ['overpaid'], amountPaid: 30, overpaidAmount: '5' });
});

it('gets the merchant his full price where the customer bears the fee', async () => {
  const generous = await world.shop({ feeBearer: 'customer' });
  const invoice = await world.invoice(generous, { amount: 25, currency: 'USDT_ERC20' });
  expect(invoice.amount).toBeGreaterThan(25);
  await pay(invoice);
  const settled = await world.sees(generous, invoice.id, 'SETTLED', { mine: 'ETH' });
  expect(settled).toMatchObject({ feeBearer: 'customer', netFiat: 25 });
  expect(settled.netAmount).toBeGreaterThanOrEqual(25);
});

it('counts a payment with a raised fee once', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  const sent = await pay(invoice);
  await world.sees(shop, invoice.id, 'CONFIRMING');
  await world.payer.replace(sent, { fee: 8000n });
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: 'BTC' });
  expect(settled.amountPaid).toBe(invoice.amount);
  expect(settled.txIds).toHaveLength(1);
});

it('credits value sent by a contract once, and reverted, lying or copied transfers not at all', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  await world.payer.payReverted(invoice.address, text(invoice.amount));
  const lying = await deploy(world.chains.ethRpcUrl, 'LyingToken');
  await world.payer.sendToken(lying, invoice.address, 25_000_000n);
  const copy = await deploy(world.chains.ethRpcUrl, 'DollarToken', ['Tether USD', 'USDT', 10n ** 12n]);
  await world.payer.sendToken(copy, invoice.address, 25_000_000n);
  await world.payer.mine('ETH', 5);
  await world.until(
    'the blocks are scanned',
    async () => (await world.db.query(`SELECT FROM deposit WHERE address = $1`, [invoice.address])).length >= 2,
  );
  expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
  await world.payer.payThroughContract(invoice.address, text(invoice.amount));
  expect(await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' })).toMatchObject({ amountPaid: invoice.amount });
});

it('sends the net to the merchant’s own address where the wallet is external', async () => {
  for (const [currency, address] of [
    ['ETH', '0x00000000000000000000000000000000000Ab001'],
    ['USDC_ERC20', '0x00000000000000000000000000000000000Ab001'],
    ['BTC', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'],
  ] as const) {
    const codec = createCodecs(parseConfig(world.stack.env).chain)[currency === 'BTC' ? 'bitcoin' : 'ethereum'];
    const own = codec.normalise(address.toLowerCase())!;
    await world.settleAt(shop, currency, own);
    const before = await world.balance(shop, currency);
    const invoice = await world.invoice(shop, { amount: 100, currency });
    await pay(invoice);
    const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: currency });
    expect(settled.merchantSettlementAddress).toBe(own);
    expect((await world.balance(shop, currency)).balance).toBe(before.balance);
    const [sent] = await world.db.query(
      `SELECT sum(p.amount)::text AS amount FROM posting p JOIN journal j ON j.id = p.journal_id
        WHERE j.source_id = $1 AND j.key LIKE 'sweep/%' AND p.debit LIKE 'L:available:%'`,
      [invoice.id],
    );
    expect(compare(sent.amount, String(settled.netAmount))).toBe(0);
  }
});

it('expires unpaid at the end of its delay, in a short history', async () => {
  await world.sees(shop, unpaid.id, 'EXPIRED', { ms: 120_000 });
  const ended = world.temporal.workflow.getHandle(`payment/${unpaid.id}`);
  await world.until('its workflow has ended', async () => (await ended.describe()).status.name === 'COMPLETED');
  expect((await ended.describe()).searchAttributes).toMatchObject({ PaymentStatus: ['EXPIRED'] });
  expect((await world.history(`payment/${unpaid.id}`)).events).toBeLessThanOrEqual(10);
});

it('wakes a waiting workflow for a command', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect((await world.history(`payment/${invoice.id}`)).events).toBe(1);
  const answer = await world.call(null, 'POST', `/invoice/${invoice.slug}/cancel`, { confirm: true });
  expect(answer.status).toBe(200);
  const cancelled = world.temporal.workflow.getHandle(`payment/${invoice.id}`);
  await world.until('its workflow has ended', async () => (await cancelled.describe()).status.name === 'COMPLETED');
  expect((await world.history(`payment/${invoice.id}`)).events).toBeLessThanOrEqual(14);
});
