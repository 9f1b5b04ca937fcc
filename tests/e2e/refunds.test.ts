import { randomBytes } from 'node:crypto';
import { add, compare, subtract } from '../../domain/money';
import { baseUnits } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { createCodecs } from '../../chains/codecs';
import { approveRefund } from '../../commands/refunds/approve';
import { newId } from '../../domain/ids';
import { patiently } from '../setup/postgres';
import { World, type Answer, type Owner, type Shop } from '../world';
import { anApprover } from '../approver';

/** Money back to payers, on real chains: never more than came, never twice, and the books agree with the chain. */

const restartAfterMs = 2000;
let world: World;
let ann: Owner['ann'];
let shop: Shop;
beforeAll(async () => {
  world = await World.start({ miner: true, restartAfterMs, env: { FAIL_POINTS: 'true' } });
  ({ ann, shop } = await world.merchant([
    'payments:create',
    'payments:read',
    'ledger:read',
    'refunds:create',
    'refunds:read',
  ]));
});
afterAll(() => world?.stop(), 60_000);
afterEach(async () => expect(await world.audit()).toEqual([]), 60_000);

const ethAddress = (): string => `0x${randomBytes(20).toString('hex')}`;
const wei = (amount: string): bigint => baseUnits('ETH', amount);

const units6 = (amount: string): string => baseUnits('USDT_ERC20', amount).toString();

async function settled(currency: string, amount = 40): Promise<Answer['body']> {
  const invoice = await world.invoice(shop, { amount, currency });
  await world.payer.pay(currency, invoice.address, String(invoice.amount));
  return world.sees(shop, invoice.id, 'SETTLED', { ms: 120_000 });
}
/** Asked for by the key. */
const ask = (paymentId: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  world.call(shop, 'POST', `/api/v1/payments/${paymentId}/refunds`, body, headers);
/** What the approving route does, without waiting for another authenticator code. */
const approve = (id: string) =>
  patiently(() => world.db.transaction((tx) => approveRefund(tx, shop.id, id, anApprover())));
/** Who is told to come back comes back, with the same key. */
async function insist(paymentId: string, body: object, key = newId()): Promise<Answer> {
  for (;;) {
    const answer = await ask(paymentId, body, { 'idempotency-key': key }).catch(() => null);
    if (answer && answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
const read = async (id: string): Promise<Answer['body']> =>
  (await world.call(shop, 'GET', `/api/v1/refunds/${id}`)).body.data;
async function ends(id: string, status = 'completed', ms = 120_000): Promise<Answer['body']> {
  await world.until(`refund ${id} is ${status}`, async () => (await read(id)).status === status, ms);
  return read(id);
}
const balance = async (currency: string): Promise<{ balance: string; reserved: string }> =>
  (await world.call(shop, 'GET', '/api/v1/ledger/balances')).body.balances.find(
    (one: { currency: string }) => one.currency === currency,
  );

it('ETH: twice in part, and what is left', async () => {
  await settled('ETH', 100); // the balance that pays the fees
  const payment = await settled('ETH', 40);
  const paid = String(payment.amountPaid);
  const before = await balance('ETH');

  // A user refunds a part, the merchant bears the fee.
  const first = ethAddress();
  const made = await ann.post(`/api/v1/payments/${payment._id}/refunds`, {
    type: 'partial',
    amount: '0.004',
    address: first,
    totpCode: await ann.totpCode(),
  });
  expect(made.status).toBe(201);
  expect(made.body.data).toMatchObject({
    status: 'pending',
    amount: '0.004',
    netToDestination: '0.004',
    currency: 'ETH',
  });
  const one = await ends(made.body.data._id);
  expect(one.txId).toMatch(/^0x/);
  expect(await world.etherAt(first)).toBe(wei('0.004'));
  const after = await balance('ETH');
  expect(after.balance).toBe(subtract(before.balance, add('0.004', one.networkFee)));
  expect(after.reserved).toBe('0');
  expect(await world.payment(shop, payment._id)).toMatchObject({
    refundStatus: 'partial',
    refundedAmount: '0.004',
    status: 'SETTLED',
  });
  expect(await world.eventTypesOf(one._id)).toEqual(['refund.created', 'refund.broadcast', 'refund.completed']);

  // A key asks for a part, the payer bears the fee.
  const second = ethAddress();
  const asked = await ask(payment._id, { type: 'partial', amount: '0.003', address: second, feeBearer: 'payer' });
  expect(asked.body.data.status).toBe('awaiting_approval');
  expect((await balance('ETH')).reserved).toBe('0.003');
  const approved = await ann.post(`/api/v1/refunds/${asked.body.data._id}/approve`, { totpCode: await ann.totpCode() });
  expect(approved.body.data.status).toBe('pending');
  const two = await ends(asked.body.data._id);
  expect(two.netToDestination).toBe(subtract('0.003', two.networkFee));
  expect(await world.etherAt(second)).toBe(wei(two.netToDestination));

  // Too much, by a hair; and all that is left.
  const left = subtract(paid, '0.007');
  const over = await ask(payment._id, { type: 'partial', amount: add(left, '0.000000000000000001'), address: second });
  expect([over.status, over.body.error.code]).toEqual([400, 'REFUND_EXCEEDS_PAID']);
  const third = ethAddress();
  const rest = await ask(payment._id, { type: 'full', address: third });
  expect(rest.body.data.amount).toBe(left);
  await approve(rest.body.data._id);
  await ends(rest.body.data._id);
  expect(await world.etherAt(third)).toBe(wei(left));
  expect(await world.payment(shop, payment._id)).toMatchObject({ refundStatus: 'full', refundedAmount: paid });
  const none = await ask(payment._id, { type: 'full', address: third });
  expect([none.status, none.body.error.code]).toEqual([400, 'REFUND_EXCEEDS_PAID']);
  await world.history(`refund/${rest.body.data._id}`, 'refund-ETH');
}, 400_000);

it('a hundred parts at once never exceed what came, and arrive once, whoever dies', async () => {
  await settled('ETH', 100);
  const payment = await settled('ETH', 40);
  const part = '0.001';
  const address = ethAddress();
  const asked = (n: number) => insist(payment._id, { type: 'partial', amount: part, address }, `part-${n}`);
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => asked(n)));
  const made = answers.filter((answer) => answer.status === 201);
  expect(made).toHaveLength(Math.floor(payment.amountPaid / 0.001 + 1e-9));
  for (const answer of answers.filter((one) => one.status !== 201))
    expect([answer.status, answer.body.error.code]).toEqual([400, 'REFUND_EXCEEDS_PAID']);
  // Approved all at once, while what sends them dies twice: every one arrives, each once.
  for (const point of ['refund.afterStore', 'refund.afterSend']) await world.arm(point);
  await Promise.all(made.map((answer) => approve(answer.body.data._id)));
  for (const answer of made) await ends(answer.body.data._id, 'completed', 240_000);
  expect(await world.armed()).toEqual([]);
  expect(await world.etherAt(address)).toBe(wei(part) * BigInt(made.length));
  expect(
    compare((await world.payment(shop, payment._id)).refundedAmount, String(payment.amountPaid)),
  ).toBeLessThanOrEqual(0);
}, 400_000);

it('BTC: from the coins of the treasury, the change comes back', async () => {
  await settled('BTC', 100);
  const payment = await settled('BTC', 40);
  const { bitcoin } = createCodecs(parseConfig(world.stack.env).chain);
  const address = bitcoin.derive(bitcoin.extendedKey(randomBytes(64), 'deposit'), 0);
  const asked = await ask(payment._id, { type: 'partial', amount: '0.0002', address });
  expect(asked.status).toBe(201);
  await approve(asked.body.data._id);
  const one = await ends(asked.body.data._id);
  const [attempt] = await world.db.query('SELECT outputs, inputs FROM attempt WHERE tx_id = $1', [one.txId]);
  expect(attempt.outputs[0]).toEqual({ address, units: '20000' });
  const [change] = await world.db.query(
    `SELECT d.allocation, a.role FROM deposit d JOIN address a ON a.network = d.network AND a.address = d.address
       WHERE d.tx_id = $1`,
    [one.txId],
  );
  expect(change).toEqual({ allocation: 'own', role: 'treasury' });
  // Three more at once: each finds coins of its own, or waits for the change of another.
  const more = await Promise.all(
    Array.from({ length: 3 }, () => insist(payment._id, { type: 'partial', amount: '0.00005', address })),
  );
  await Promise.all(more.map((answer) => approve(answer.body.data._id)));
  for (const answer of more) await ends(answer.body.data._id, 'completed', 240_000);
  await world.history(`refund/${one._id}`, 'refund-BTC');
}, 400_000);

it('USDT: gas first, then the token', async () => {
  await settled('USDT_ERC20', 100);
  const payment = await settled('USDT_ERC20', 40);
  const address = ethAddress();
  const asked = await ask(payment._id, { type: 'full', address, feeBearer: 'payer' });
  await approve(asked.body.data._id);
  const one = await ends(asked.body.data._id);
  expect(add(one.netToDestination, one.networkFee)).toBe(String(payment.amountPaid));
  const [attempt] = await world.db.query('SELECT outputs FROM attempt WHERE tx_id = $1', [one.txId]);
  expect(attempt.outputs).toEqual([
    { address: expect.stringMatching(new RegExp(address, 'i')), units: units6(one.netToDestination) },
  ]);
  expect(await world.payment(shop, payment._id)).toMatchObject({ refundStatus: 'full' });
  const { events } = await world.history(`refund/${one._id}`, 'refund-USDT_ERC20');
  expect(events).toBeLessThanOrEqual(60);
});

it('what was never credited goes back from the address it came to: an underpayment, and another coin', async () => {
  const invoice = await world.invoice(shop, { amount: 40, currency: 'ETH', expiresIn: 60 });
  const bitcoin = await world.invoice(shop, { amount: 40, currency: 'BTC', expiresIn: 60 });
  await world.payer.pay('ETH', invoice.address, (invoice.amount / 2).toFixed(6));
  await world.payer.pay('BTC', bitcoin.address, (bitcoin.amount / 2).toFixed(8));
  for (const { id } of [invoice, bitcoin]) await world.sees(shop, id, 'FAILED', { ms: 240_000 });
  await world.payer.pay('USDT_ERC20', invoice.address, '30');
  const isHeld = async (currency: string) =>
    (
      await world.db.query(
        `SELECT FROM deposit WHERE payment_id = ANY($1) AND currency = $2 AND allocation = 'unallocated'`,
        [[invoice.id, bitcoin.id], currency],
      )
    ).length === 1;
  for (const currency of ['ETH', 'BTC']) await world.until(`${currency} is held`, () => isHeld(currency), 120_000);
  const before = await balance('ETH');

  const address = ethAddress();
  const eth = (await ask(invoice.id, { type: 'underpaid', address, currency: 'ETH' })).body.data;
  await approve(eth._id);
  const codecs = createCodecs(parseConfig(world.stack.env).chain);
  const away = codecs.bitcoin.derive(codecs.bitcoin.extendedKey(randomBytes(64), 'deposit'), 0);
  const btc = (await ask(bitcoin.id, { type: 'full', address: away })).body.data;
  await approve(btc._id);
  for (const one of [eth, btc]) await ends(one._id);
  expect(await world.etherAt(address)).toBe(wei(eth.netToDestination));
  const [attempt] = await world.db.query('SELECT outputs FROM attempt WHERE tx_id = $1', [(await read(btc._id)).txId]);
  expect(attempt.outputs).toEqual([{ address: away, units: (wei(btc.netToDestination) / 10n ** 10n).toString() }]);
  expect((await balance('ETH')).balance).toBe(before.balance);
  // The USDT is still held: not every coin that came has gone back.
  expect(await world.payment(shop, invoice.id)).toMatchObject({ status: 'FAILED', refundStatus: 'partial' });
  const held = await world.db.query(
    `SELECT asset FROM balance WHERE account = $1 AND asset IN ('ETH', 'BTC') AND amount <> 0`,
    [`L:unallocated:${shop.id}`],
  );
  expect(held).toEqual([]);
  // The taking of it after all comes too late.
  await expect(ann.post(`/api/v1/payments/${invoice.id}/accept-underpaid`, { confirm: true })).rejects.toThrow(
    'INVALID_STATE',
  );
  await world.history(`refund/${eth._id}`, 'refund-held');
}, 500_000);

describe('cancelled', () => {
  let payment: Answer['body'];
  beforeAll(async () => {
    await settled('ETH', 200);
    payment = await settled('ETH', 200);
  });

  it('while it is being signed: one of the two wins, and money moves accordingly', async () => {
    const asked = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const address = ethAddress();
        const made = await insist(payment._id, { type: 'partial', amount: '0.001', address });
        return { id: made.body.data._id as string, address };
      }),
    );
    await Promise.all(
      asked.map(async ({ id }, index) => {
        await approve(id);
        await new Promise((resolve) => setTimeout(resolve, index * 120));
        await world.call(shop, 'POST', `/api/v1/refunds/${id}/cancel`);
      }),
    );
    await world.until(
      'each has ended',
      async () => {
        const all = await Promise.all(asked.map(({ id }) => read(id)));
        return all.every((one) => ['completed', 'cancelled'].includes(one.status));
      },
      180_000,
    );
    for (const { id, address } of asked)
      expect(await world.etherAt(address)).toBe((await read(id)).status === 'completed' ? wei('0.001') : 0n);
    expect((await balance('ETH')).reserved).toBe('0');
  });
});
