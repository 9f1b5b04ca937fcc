import { randomBytes } from 'node:crypto';
import { formatEther } from 'viem';
import { parseConfig } from '../../domain/config';
import { Visitor } from '../../sandbox/visitor';
import { call } from '../../sandbox/parts/json-rpc';
import { World, type Shop } from '../world';

/** Money that is too little, too late, or in another coin, and what a merchant decides about it. */

let world: World;
let ann: Visitor;
let shop: Shop;
beforeAll(async () => {
  world = await World.start({ miner: true });
  ann = new Visitor(
    {
      apiUrl: world.stack.apiUrl,
      dashboardUrl: parseConfig(world.stack.env).DASHBOARD_URL,
      mailUrl: world.stack.mail.url,
    },
    'ann@shop.example',
    'Correct-Horse-7',
  );
  await ann.register('Books');
  const user = await ann.enrol();
  for (const currency of ['ETH', 'USDT_ERC20']) {
    const emailCode = await ann.emailCode('/api/v1/merchant-wallets/send-email-code');
    await ann.post('/api/v1/merchant-wallets', { currency, emailCode });
  }
  const made = await ann.post('/api/v1/api-keys', {
    name: 'Shop',
    scopes: ['payments:create', 'payments:read', 'ledger:read'],
    totpCode: await ann.totpCode(),
  });
  shop = { id: user.merchantId, secretKey: made.body.data.apiKey } as never;
}, 300_000);
afterAll(() => world?.stop(), 60_000);
afterEach(async () => expect(await world.audit()).toEqual([]), 60_000);

const settings = (change: object) => ann.call('PATCH', '/api/v1/settings', change);
const decide = (id: string, what: string) => ann.post(`/api/v1/payments/${id}/${what}`, { confirm: true });
const half = (amount: number): string => (amount / 2).toFixed(6);
/** What the merchant holds that is owed to nobody yet. */
const unallocated = async (asset: string): Promise<string> => {
  const [row] = await world.db.query(
    `SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1 AND asset = $2`,
    [`L:unallocated:${(shop as { id: string }).id}`, asset],
  );
  return (row as { amount: string } | undefined)?.amount ?? '0';
};

it('row 9: the merchant takes an underpayment; it settles at what arrived', async () => {
  const invoice = await world.invoice(shop, { amount: 40, currency: 'ETH' });
  await world.payer.pay('ETH', invoice.address, half(invoice.amount));
  await world.sees(shop, invoice.id, 'PARTIALLY_PAID');
  const accepted = await decide(invoice.id, 'accept-underpaid');
  expect(accepted.body).toMatchObject({ ok: true, data: { exceptions: ['underpaid'] } });
  const paid = await world.sees(shop, invoice.id, 'SETTLED', { ms: 120_000 });
  expect(paid.amountPaid).toBe(parseFloat(half(invoice.amount)));
  expect(paid.settledNetAmount + paid.settledFeeAmount).toBeCloseTo(paid.amountPaid, 12);
  await expect(decide(invoice.id, 'accept-underpaid')).rejects.toThrow('INVALID_STATE');
}, 180_000);

it('rows 9 and 10: the policy takes an underpayment at expiry, or gives it back, and a later change of policy changes nothing made before', async () => {
  await settings({ underpaidPolicy: 'accept' });
  const accepting = await world.invoice(shop, { amount: 40, currency: 'ETH', expiresIn: 60 });
  await settings({ underpaidPolicy: 'refund' });
  const refunding = await world.invoice(shop, { amount: 40, currency: 'ETH', expiresIn: 60 });
  await settings({ underpaidPolicy: 'hold' });
  const holding = await world.invoice(shop, { amount: 40, currency: 'ETH', expiresIn: 60 });
  for (const invoice of [accepting, holding, refunding])
    await world.payer.pay('ETH', invoice.address, half(invoice.amount));
  expect((await world.sees(shop, accepting.id, 'SETTLED', { ms: 180_000 })).exceptions).toEqual(['underpaid']);
  expect((await world.sees(shop, holding.id, 'FAILED', { ms: 180_000 })).exceptions).toEqual(['underpaid']);
  // Row 10, policy refund: its payer names an address at the link on the invoice's page, and the money comes.
  expect((await world.sees(shop, refunding.id, 'FAILED', { ms: 180_000 })).exceptions).toEqual(['underpaid']);
  const invoiceOf = async (slug: string) => (await world.call(null, 'GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
  await world.until('it has a link', async () => (await invoiceOf(refunding.slug)).refundUrl !== null, 60_000);
  const token = new URL((await invoiceOf(refunding.slug)).refundUrl).pathname.replace('/r/', '');
  const to = `0x${randomBytes(20).toString('hex')}`;
  const claimed = await world.call(null, 'POST', `/refund-claims/${token}`, { address: to, confirm: true });
  expect(claimed.body).toMatchObject({ status: 'pending', amount: String(parseFloat(half(refunding.amount))) });
  const seen = async () => (await world.call(null, 'GET', `/refund-claims/${token}`)).body;
  await world.until('it has arrived', async () => (await seen()).status === 'completed', 120_000);
  const arrived = BigInt(await call<string>(world.stack.anvil.url, 'eth_getBalance', [to, 'latest']));
  expect(formatEther(arrived)).toBe(claimed.body.netToDestination);
  expect(await world.payment(shop, refunding.id)).toMatchObject({ status: 'FAILED', refundStatus: 'full' });
  // Row 10, policy hold: what it holds becomes a payment of its own when the merchant takes it after all.
  await world.until('it is held', async () => (await unallocated('ETH')) !== '0', 60_000);
  await decide(holding.id, 'accept-underpaid');
  const parent = await world.payment(shop, holding.id);
  expect(parent).toMatchObject({ status: 'FAILED', repeatDepositChildIds: [expect.any(String)] });
  const child = await world.sees(shop, parent.repeatDepositChildIds[0], 'SETTLED', { ms: 120_000 });
  expect(child).toMatchObject({ parentPaymentId: holding.id, addressRole: 'repeat' });
  expect(await unallocated('ETH')).toBe('0');
}, 300_000);

it('rows 19 and 20: another coin is noticed, priced, and taken', async () => {
  const invoice = await world.invoice(shop, { amount: 30, currency: 'ETH' });
  await world.payer.pay('USDT_ERC20', invoice.address, '30');
  const pending = await world.sees(shop, invoice.id, 'CROSS_CHAIN_PENDING', { ms: 120_000 });
  expect(pending.crossChainAutoAcceptAt).toBeUndefined();
  expect(await unallocated('USDT_ERC20')).toBe('30');
  await decide(invoice.id, 'accept-cross-chain');
  const paid = await world.sees(shop, invoice.id, 'SETTLED', { ms: 120_000 });
  expect(paid).toMatchObject({
    currency: 'USDT_ERC20',
    originalCurrency: 'ETH',
    originalAmount: String(invoice.amount),
    amountPaid: 30,
    exceptions: ['wrongCurrency'],
  });
  expect(await unallocated('USDT_ERC20')).toBe('0');
  const { balances } = (await world.call(shop, 'GET', '/api/v1/ledger/balances')).body;
  const usdt = balances.find((one: { currency: string }) => one.currency === 'USDT_ERC20');
  expect(usdt.available).toBe(String(paid.settledNetAmount));
  const types = (await world.db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [
    invoice.id,
  ])) as Array<{
    type: string;
  }>;
  expect(types.map((row) => row.type)).toEqual([
    'payment.created',
    'payment.cross_chain_pending',
    'payment.cross_chain_accepted',
    'payment.confirmed',
    'payment.sweep_queued',
    'payment.settled',
  ]);
}, 240_000);

it('rows 20, 21, 22: by itself where the merchant wants that; rejected; or overtaken by the right coin', async () => {
  await settings({ autoAcceptCrossChainHours: 1 });
  const automatic = await world.invoice(shop, { amount: 30, currency: 'ETH' });
  await settings({ autoAcceptCrossChainHours: 0 });
  const rejected = await world.invoice(shop, { amount: 30, currency: 'ETH' });
  const overtaken = await world.invoice(shop, { amount: 30, currency: 'ETH' });
  for (const invoice of [automatic, rejected, overtaken]) await world.payer.pay('USDT_ERC20', invoice.address, '30');
  for (const invoice of [automatic, rejected, overtaken])
    await world.sees(shop, invoice.id, 'CROSS_CHAIN_PENDING', { ms: 120_000 });

  const { crossChainAutoAcceptAt } = await world.payment(shop, automatic.id);
  expect(Date.parse(crossChainAutoAcceptAt) - Date.now()).toBeGreaterThan(3_500_000);
  // An hour passes: the deadline is in the row, and the payment is asked to look.
  await world.db.query(`UPDATE payment SET cross_chain_auto_accept_at = now() WHERE id = $1`, [automatic.id]);
  await world.db.query(
    `SELECT request_workflow('signal', 'payment', 'payment/' || $1::text, jsonb_build_array($1::text), 'news', '{}')`,
    [automatic.id],
  );
  expect((await world.sees(shop, automatic.id, 'SETTLED', { ms: 120_000 })).currency).toBe('USDT_ERC20');

  await ann.post(`/api/v1/payments/${rejected.id}/reject-cross-chain`);
  expect(await world.payment(shop, rejected.id)).toMatchObject({ status: 'FAILED', exceptions: ['wrongCurrency'] });
  await expect(decide(rejected.id, 'accept-cross-chain')).rejects.toThrow('INVALID_STATE');

  await world.payer.pay('ETH', overtaken.address, String(overtaken.amount));
  const paid = await world.sees(shop, overtaken.id, 'SETTLED', { ms: 120_000 });
  expect(paid.currency).toBe('ETH');
  const child = await world.sees(shop, paid.repeatDepositChildIds[0], 'SETTLED', { ms: 120_000 });
  expect(child).toMatchObject({ currency: 'USDT_ERC20', amountPaid: 30 });
  expect(await unallocated('USDT_ERC20')).toBe('30'); // the rejected one
}, 300_000);

it('two triggers at once have one winner each', async () => {
  // accept / the rest arrives
  const topped = await world.invoice(shop, { amount: 40, currency: 'ETH' });
  await world.payer.pay('ETH', topped.address, half(topped.amount));
  await world.sees(shop, topped.id, 'PARTIALLY_PAID');
  await Promise.allSettled([
    decide(topped.id, 'accept-underpaid'),
    world.payer.pay('ETH', topped.address, half(topped.amount)),
  ]);
  // accept / reject
  const crossed = await world.invoice(shop, { amount: 30, currency: 'ETH' });
  await world.payer.pay('USDT_ERC20', crossed.address, '30');
  await world.sees(shop, crossed.id, 'CROSS_CHAIN_PENDING', { ms: 120_000 });
  const both = await Promise.allSettled([
    decide(crossed.id, 'accept-cross-chain'),
    ann.post(`/api/v1/payments/${crossed.id}/reject-cross-chain`),
  ]);
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await world.sees(shop, topped.id, 'SETTLED', { ms: 180_000 });
  await world.sees(shop, crossed.id, ['SETTLED', 'FAILED'], { ms: 120_000 });
}, 300_000);
