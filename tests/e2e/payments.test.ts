import { createCodecs } from '../../activities/chain/codecs';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { call } from '../../sandbox/parts/json-rpc';
import { reorgBitcoin, reorgEthereum } from '../../sandbox/chain-tools';
import { deploy } from '../../sandbox/tokens';
import { add, compare, subtract } from '../../domain/money';
import { World, type Invoice, type Shop } from '../world';

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await World.start();
  shop = await world.shop();
}, 240_000);
afterAll(() => world?.stop(), 60_000);
afterEach(async () => {
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  const frozen = await world.db.query('SELECT FROM egress_freeze');
  // After a reorganisation below finality we owe more than the chain holds: that alarm is what the last test is about.
  const allowed = frozen.length ? ['I4', 'I5'] : [];
  expect((await world.audit()).filter((violation) => !allowed.includes(violation.invariant))).toEqual([]);
});

const text = (amount: number): string => (amount < 1e-6 ? amount.toFixed(8) : String(amount));
const pay = (invoice: Invoice, amount = text(invoice.amount)) =>
  world.payer.pay(invoice.currency!, invoice.address, amount);

describe.each(['BTC', 'ETH', 'USDT_ERC20', 'USDC_ERC20'])('a payment in %s', (currency) => {
  it('is confirmed, swept, settled, credited and announced', async () => {
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

    await world.until('every event is delivered', () =>
      world.eventsOf(invoice.id).some((event) => event.type === 'payment.settled'),
    );
    const types = world
      .eventsOf(invoice.id)
      .sort((a, b) => a.seq - b.seq)
      .map((event) => event.type);
    expect(types).toEqual([
      'payment.created',
      'payment.detected',
      'payment.confirming',
      'payment.confirmed',
      'payment.sweep_queued',
      'payment.settled',
    ]);
    const last = world.eventsOf(invoice.id).find((event) => event.type === 'payment.settled')!;
    expect(last.raw).toContain('"metadata":{"order":"ä\\"</script>"}');
    const { confirmations: _now, ...got } = settled;
    const { confirmations: _then, ...told } = last.data;
    expect(told).toEqual(got);

    const history = await world.history(`payment/${invoice.id}`, `payment-settled-${currency}`);
    expect(history.events).toBeLessThanOrEqual(60);
    expect(history.bytes).toBeLessThanOrEqual(60_000);
    await world.until(
      'the sweep has ended',
      async () =>
        (await world.temporal.workflow.getHandle(`sweep/${invoice.id}`).describe()).status.name === 'COMPLETED',
    );
    const sweep = await world.history(`sweep/${invoice.id}`, `sweep-${currency}`);
    expect(sweep.events).toBeLessThanOrEqual(60);
  });
});

it('takes a part, then the rest', async () => {
  const invoice = await world.invoice(shop, { amount: 40, currency: 'ETH' });
  await pay(invoice, '0.005');
  await world.payer.mine('ETH');
  const part = await world.sees(shop, invoice.id, 'PARTIALLY_PAID');
  expect(part).toMatchObject({ amountPaid: 0.005, amountRemaining: subtract(text(invoice.amount), '0.005') });
  expect((await world.call(null, 'POST', `/invoice/${invoice.slug}/cancel`, { confirm: true })).status).toBe(400);
  await pay(invoice, part.amountRemaining);
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' });
  expect(settled.txIds).toHaveLength(2);
  await world.history(`payment/${invoice.id}`, 'payment-part-then-rest');
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

it('expires unpaid, and gives late money a payment of its own', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH', expiresIn: 60 });
  await world.db.query(`UPDATE payment SET expires_at = clock_timestamp() + interval '2 seconds' WHERE id = $1`, [
    invoice.id,
  ]);
  await world.nudge(invoice.id);
  await world.sees(shop, invoice.id, 'EXPIRED');
  await world.history(`payment/${invoice.id}`, 'payment-expired');
  await pay(invoice);
  await world.payer.mine('ETH');
  await world.until(
    'there is a child',
    async () => (await world.payment(shop, invoice.id)).repeatDepositChildIds.length === 1,
  );
  const parent = await world.payment(shop, invoice.id);
  expect(parent).toMatchObject({ status: 'EXPIRED', exceptions: ['paidLate'] });
  const child = await world.sees(shop, parent.repeatDepositChildIds[0], 'SETTLED', { mine: 'ETH' });
  expect(child).toMatchObject({ addressRole: 'repeat', parentPaymentId: invoice.id, publicKey: invoice.address });
});

it('is cancelled by its payer, and gives money that comes anyway a payment of its own', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  expect((await world.call(null, 'POST', `/invoice/${invoice.slug}/cancel`, { confirm: true })).body).toEqual({
    success: true,
    status: 'CANCELLED',
  });
  await world.until(
    'its workflow has ended',
    async () =>
      (await world.temporal.workflow.getHandle(`payment/${invoice.id}`).describe()).status.name === 'COMPLETED',
  );
  await world.history(`payment/${invoice.id}`, 'payment-cancelled');
  await pay(invoice);
  await world.until(
    'there is a child',
    async () => (await world.payment(shop, invoice.id)).repeatDepositChildIds.length === 1,
  );
  const [childId] = (await world.payment(shop, invoice.id)).repeatDepositChildIds;
  await world.sees(shop, childId, 'SETTLED', { mine: 'BTC' });
  expect((await world.payment(shop, invoice.id)).status).toBe('CANCELLED');
});

it('makes a child of a second deposit to a settled payment', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  await pay(invoice);
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'BTC' });
  await pay(invoice, '0.0009');
  await world.until(
    'there is a child',
    async () => (await world.payment(shop, invoice.id)).repeatDepositChildIds.length === 1,
  );
  const [childId] = (await world.payment(shop, invoice.id)).repeatDepositChildIds;
  expect(await world.sees(shop, childId, 'SETTLED', { mine: 'BTC' })).toMatchObject({ amountPaid: 0.0009 });
});

it('holds an underpayment when its time is up', async () => {
  const invoice = await world.invoice(shop, { amount: 60, currency: 'USDC_ERC20' });
  await pay(invoice, '10');
  await world.sees(shop, invoice.id, 'PARTIALLY_PAID', { mine: 'ETH' });
  await world.db.query(`UPDATE payment SET expires_at = clock_timestamp() + interval '1 second' WHERE id = $1`, [
    invoice.id,
  ]);
  await world.nudge(invoice.id);
  expect(await world.sees(shop, invoice.id, 'FAILED', { mine: 'ETH' })).toMatchObject({ exceptions: ['underpaid'] });
  await world.until(
    'the part is held',
    async () =>
      (
        await world.db.query(`SELECT FROM balance WHERE account = $1 AND asset = 'USDC_ERC20' AND amount = 10`, [
          `L:unallocated:${shop.id}`,
        ])
      ).length === 1,
  );
  await world.history(`payment/${invoice.id}`, 'payment-underpaid');
});

it('sees Bitcoin in the mempool, and follows a replacement that pays somebody else', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  const sent = await pay(invoice);
  await world.sees(shop, invoice.id, 'CONFIRMING');
  expect((await world.payment(shop, invoice.id)).confirmations).toBe(0);
  const elsewhere = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  await world.payer.replace(sent, { address: elsewhere.address, fee: 9000n });
  expect(await world.sees(shop, invoice.id, 'WAITING')).toMatchObject({ exceptions: ['reorged'], amountPaid: 0 });
  await world.sees(shop, elsewhere.id, 'SETTLED', { mine: 'BTC' });
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

it('follows a Bitcoin reorganisation and confirms again, once', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  await pay(invoice);
  await world.payer.mine('BTC', 1);
  await world.until('it is in a block', async () => (await world.payment(shop, invoice.id)).confirmations === 1);
  await reorgBitcoin(world.chains.btcRpcUrl, 1);
  expect(await world.sees(shop, invoice.id, 'SETTLED', { mine: 'BTC' })).toMatchObject({ amountPaid: invoice.amount });
});

it('takes an Ethereum payment back that a reorganisation has dropped, before and after it was confirmed', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  await pay(invoice);
  await world.payer.mine('ETH', 1);
  await world.sees(shop, invoice.id, 'CONFIRMING');
  await reorgEthereum(world.chains.ethRpcUrl, 1);
  expect(await world.sees(shop, invoice.id, 'WAITING')).toMatchObject({ amountPaid: 0, exceptions: ['reorged'] });
  await pay(invoice);
  await world.payer.mine('ETH', 3);
  await world.sees(shop, invoice.id, ['CONFIRMED', 'SWEEP_QUEUED']);
  await reorgEthereum(world.chains.ethRpcUrl, 4);
  await world.sees(shop, invoice.id, 'WAITING');
  const [unsettled] = await world.db.query(`SELECT amount::text FROM balance WHERE account = $1 AND asset = 'ETH'`, [
    `L:unsettled:${shop.id}`,
  ]);
  expect(compare(unsettled.amount, '0')).toBe(0);
  await world.history(`payment/${invoice.id}`, 'payment-reorged');
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

it('holds another asset that comes to the address', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'USDT_ERC20' });
  await world.payer.pay('USDC_ERC20', invoice.address, '25');
  await world.payer.mine('ETH', 5);
  await world.until(
    'it is held',
    async () =>
      (await world.db.query(`SELECT FROM deposit WHERE address = $1 AND home = 'unallocated'`, [invoice.address]))
        .length === 1,
  );
  expect((await world.payment(shop, invoice.id)).status).toBe('CROSS_CHAIN_PENDING');
});

it('sends the net to the merchant’s own address where the wallet is external', async () => {
  for (const [currency, address] of [
    ['ETH', '0x00000000000000000000000000000000000Ab001'],
    ['USDC_ERC20', '0x00000000000000000000000000000000000Ab001'],
    ['BTC', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'],
  ] as const) {
    await world.db.query(`UPDATE merchant_wallet SET is_active = false WHERE merchant_id = $1 AND currency = $2`, [
      shop.id,
      currency,
    ]);
    const codec = createCodecs(parseConfig(world.stack.env).chain)[currency === 'BTC' ? 'bitcoin' : 'ethereum'];
    const own = codec.normalise(address.toLowerCase())!;
    await world.db.query(
      `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody) VALUES ($1, $2, $3, $4, 'external')`,
      [newId(), shop.id, currency, own],
    );
    const before = await world.balance(shop, currency);
    const invoice = await world.invoice(shop, { amount: 100, currency });
    await pay(invoice);
    const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: currency });
    expect(settled.merchantSettlementAddress).toBe(own);
    expect((await world.balance(shop, currency)).balance).toBe(before.balance);
    const [sent] = await world.db.query(
      `SELECT sum(p.amount)::text AS amount FROM posting p JOIN journal j ON j.id = p.journal_id JOIN intent i ON j.key = 'sweep/' || i.id
        WHERE i.payment_id = $1 AND p.debit LIKE 'L:available:%'`,
      [invoice.id],
    );
    expect(compare(sent.amount, String(settled.netAmount))).toBe(0);
  }
});

it('marks a settled payment that a deep reorganisation takes away, and freezes the asset', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'USDT_ERC20' });
  await pay(invoice);
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' });
  await world.until(
    'nothing is under way',
    async () => !(await world.db.query(`SELECT FROM intent WHERE NOT booked AND payment_id = $1`, [invoice.id])).length,
  );
  const [{ height }] = await world.db.query('SELECT min(height)::int AS height FROM deposit d WHERE payment_id = $1', [
    invoice.id,
  ]);
  const head = parseInt(await call<string>(world.chains.ethRpcUrl, 'eth_blockNumber', []), 16);
  await reorgEthereum(world.chains.ethRpcUrl, head - height + 1);
  await world.until('the payment says so', async () =>
    (await world.payment(shop, invoice.id)).exceptions.includes('reorged'),
  );
  expect((await world.payment(shop, invoice.id)).status).toBe('SETTLED');
  expect(await world.db.query(`SELECT currency FROM egress_freeze`)).toEqual([{ currency: 'USDT_ERC20' }]);
});
