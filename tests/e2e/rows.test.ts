import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatEther } from 'viem';
import { parseConfig } from '../../domain/config';
import { dropBitcoin, reorgEthereum, transactionsOf } from '../../sandbox/chain-tools';
import { bitcoinCall } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import type { Payment } from '../../sandbox/payer';
import { Visitor } from '../../sandbox/visitor';
import { World, type Answer, type Invoice, type Shop } from '../world';

/** Every row of the payment state machine on the whole stack: how it is driven, where it ends, what was told. Cases that mind nobody's
 *  blocks run side by side; then, on each chain by itself, those whose blocks must be their own; then those that cost us money.
 *  Invariants: 3. */

let world: World;
let ann: Visitor;
let shop: Shop;
beforeAll(async () => {
  world = await World.start();
  const { apiUrl, mail, env } = world.stack;
  ann = new Visitor(
    { apiUrl, dashboardUrl: parseConfig(env).DASHBOARD_URL, mailUrl: mail.url },
    'ann@shop.example',
    'Correct-Horse-7',
  );
  await ann.register('Books');
  const user = await ann.enrol();
  for (const currency of ['ETH', 'BTC', 'USDT_ERC20']) {
    const emailCode = await ann.emailCode('/api/v1/merchant-wallets/send-email-code');
    await ann.post('/api/v1/merchant-wallets', { currency, emailCode });
  }
  const made = await ann.post('/api/v1/api-keys', {
    name: 'Shop',
    scopes: ['payments:create', 'payments:read', 'ledger:read'],
    totpCode: await ann.totpCode(),
  });
  shop = { id: user.merchantId, secretKey: made.body.data.apiKey } as never;
  await ann.call('PATCH', '/api/v1/settings', usual);
  begin();
}, 300_000);
afterAll(async () => {
  ticking.clear();
  await world?.stop();
}, 60_000);

/** What this merchant wants where a case does not say otherwise. */
const usual = { underpaidPolicy: 'hold', autoAcceptCrossChainHours: 0 };

/** One after the other: settings are everybody's, and stamped when a payment is made. */
function inTurn(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const next = last.then(act, act);
    last = next.catch(() => undefined);
    return next;
  };
}
const making = inTurn();
const open = (currency?: string, settings?: Partial<typeof usual>): Promise<Invoice> =>
  making(async () => {
    if (settings) await ann.call('PATCH', '/api/v1/settings', settings);
    const invoice = await world.invoice(shop, { amount: 25, ...(currency ? { currency } : {}) });
    if (settings) await ann.call('PATCH', '/api/v1/settings', usual);
    return invoice;
  });

/** Chains on which a block comes every half second. */
const ticking = new Set<string>();
async function tick(chain: string): Promise<void> {
  ticking.add(chain);
  while (ticking.has(chain)) {
    await world.payer.mine(chain).catch(() => undefined);
    await sleep(500);
  }
}

/** What the merchant decides. Where there is no answer in time the payment is what counts: the same is asked again, and refused if it was
 *  done. */
async function decide(id: string, what: string): Promise<Awaited<ReturnType<Visitor['post']>>> {
  let isUnknown = false;
  for (;;) {
    try {
      return await ann.post(`/api/v1/payments/${id}/${what}`, { confirm: true });
    } catch (error) {
      const said = String(error);
      if (isUnknown && said.includes('INVALID_STATE')) return { status: 200, body: null };
      if (!said.includes('OUTCOME_UNKNOWN')) throw error;
      isUnknown = true;
    }
  }
}
const payer = (invoice: Invoice, action: string, body: object = {}): Promise<Answer> =>
  world.call(null, 'POST', `/invoice/${invoice.slug}/${action}`, body);
const text = (amount: number): string => (amount < 1e-6 ? amount.toFixed(8) : String(amount));
const pay = (invoice: Invoice, amount = text(invoice.amount)) =>
  world.payer.pay(invoice.currency!, invoice.address, amount);
const half = (invoice: Invoice): string => (invoice.amount / 2).toFixed(8);
/** Waits for a status, long: a slow machine is no fault. `mine`: where nothing ticks, blocks of this chain. */
const sees = (
  invoice: Pick<Invoice, 'id'>,
  status: string | readonly string[],
  mine?: string,
): Promise<Answer['body']> =>
  world.sees(shop, invoice.id, status, { ...(mine && !ticking.has(mine) ? { mine } : {}), ms: patience });
const until = (what: string, condition: () => Promise<boolean>): Promise<void> =>
  world.until(what, condition, patience);
const patience = 150_000;
/** As if its time had been up for `seconds`, and what came had come in time. */
async function late({ id }: Invoice, seconds = 0): Promise<void> {
  await world.db.query(
    `UPDATE deposit SET first_seen_at = first_seen_at - make_interval(secs => $2 + 3600) WHERE payment_id = $1 AND $2 > 0`,
    [id, seconds],
  );
  await world.db.query(`UPDATE payment SET expires_at = clock_timestamp() - make_interval(secs => $2) WHERE id = $1`, [
    id,
    seconds,
  ]);
  await world.nudge(id);
}
async function childOf(invoice: Invoice, mine: string): Promise<Answer['body']> {
  await until('there is a child', async () => {
    if (!ticking.has(mine)) await world.payer.mine(mine);
    return (await world.payment(shop, invoice.id)).repeatDepositChildIds.length === 1;
  });
  return sees({ id: (await world.payment(shop, invoice.id)).repeatDepositChildIds[0] }, 'SETTLED', mine);
}
const cross = async (invoice: Invoice): Promise<unknown> => {
  await world.payer.pay('USDT_ERC20', invoice.address, '25');
  return sees(invoice, 'CROSS_CHAIN_PENDING', 'ETH');
};
async function settled(currency: string): Promise<Invoice> {
  const invoice = await open(currency);
  await pay(invoice);
  await sees(invoice, 'SETTLED', currency);
  return invoice;
}
/** What of its money has no home yet. */
const held = async ({ id }: Invoice): Promise<string[]> =>
  (
    (await world.db.query(
      `SELECT trim_scale(amount) || ' ' || currency AS money FROM deposit WHERE payment_id = $1 AND home = 'unallocated' AND child_payment_id IS NULL`,
      [id],
    )) as Array<{ money: string }>
  ).map((row) => row.money);

/** Paid, confirmed, and its sweep with the node; what is above its block, and eight below, is nobody else's. */
async function queued(currency: string): Promise<{ invoice: Invoice; sent: Payment }> {
  await world.payer.mine(currency, 8);
  const invoice = await open(currency);
  const sent = await pay(invoice);
  await world.payer.mine(currency, currency === 'BTC' ? 2 : 3);
  await sees(invoice, 'SWEEP_QUEUED');
  await until('something of its sweep is sent', async () => {
    const [row] = await world.db.query(
      `SELECT FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.payment_id = $1 AND a.status = 'sent'`,
      [invoice.id],
    );
    return row !== undefined;
  });
  return { invoice, sent };
}
/** Blocks from that of its deposit to the node's head, six at least. */
async function depthOf({ id, currency }: Invoice): Promise<number> {
  const [row] = await world.db.query('SELECT min(height)::int AS height FROM deposit WHERE payment_id = $1', [id]);
  const { ethRpcUrl, btcRpcUrl } = world.chains;
  const head =
    currency === 'BTC'
      ? await bitcoinCall<number>(btcRpcUrl, 'getblockcount')
      : parseInt(await call<string>(ethRpcUrl, 'eth_blockNumber', []), 16);
  return Math.max(6, head - row.height + 1);
}
const isReorged = (invoice: Invoice): Promise<void> =>
  until('the payment says so', async () => (await world.payment(shop, invoice.id)).exceptions.includes('reorged'));

/** Bitcoin: the newest blocks are gone, and what they had is in the pool again. Where `instead` is told, that spends its coins. */
async function takeBitcoin(depth: number, instead?: { sent: Payment; address: string }): Promise<void> {
  await dropBitcoin(world.chains.btcRpcUrl, depth);
  if (instead) await world.payer.replace(instead.sent, { address: instead.address, fee: 100_000n });
}
/** Ethereum: the newest blocks are gone with all that they had; returns that. */
async function takeEthereum(depth: number): Promise<string[]> {
  const raws = await transactionsOf(world.chains.ethRpcUrl, depth);
  await reorgEthereum(world.chains.ethRpcUrl, depth);
  return raws;
}
async function bringBack(raws: readonly string[]): Promise<void> {
  for (const raw of raws) await call(world.chains.ethRpcUrl, 'eth_sendRawTransaction', [raw]).catch(() => undefined); // ours are sent again already
  await world.payer.mine('ETH');
}

type Expected = { status: string | readonly string[]; exceptions?: string[] | 'any'; told?: string };
type Case = Expected & { rows: string; name: string; drive: () => Promise<Invoice> };
const paid = 'detected confirming confirmed sweep_queued settled';

/** Nobody minds whose blocks come when. The last of them are two triggers at once: one wins, and the books are right whichever it was. */
const together: Case[] = [
  {
    rows: '1, 8, 11, 15, 17',
    name: 'paid in time and in full',
    status: 'SETTLED',
    told: `created ${paid}`,
    drive: () => settled('BTC'),
  },
  {
    rows: '2, 3, 18',
    name: 'chosen, changed; money to the first choice is a payment of its own',
    status: 'WAITING',
    told: 'created currency_selected currency_selected repeat_deposit',
    async drive() {
      const invoice = await open();
      expect((await world.payment(shop, invoice.id)).status).toBe('AWAITING_CURRENCY');
      const first = (await payer(invoice, 'select-currency', { currency: 'ETH' })).body;
      const second = (await payer(invoice, 'select-currency', { currency: 'BTC' })).body;
      expect(second.depositAddress).not.toBe(first.depositAddress);
      await world.payer.pay('ETH', first.depositAddress, text(first.amount));
      expect(await childOf(invoice, 'ETH')).toMatchObject({ currency: 'ETH', amountPaid: first.amount });
      return invoice;
    },
  },
  {
    rows: '4, 18',
    name: 'cancelled by its payer; what comes anyway is a payment of its own',
    status: 'CANCELLED',
    told: 'created cancelled repeat_deposit',
    async drive() {
      const invoice = await open('BTC');
      expect((await payer(invoice, 'cancel', { confirm: true })).body).toEqual({ success: true, status: 'CANCELLED' });
      const { workflow } = world.temporal;
      await until(
        'its workflow has ended',
        async () => (await workflow.getHandle(`payment/${invoice.id}`).describe()).status.name === 'COMPLETED',
      );
      await world.history(`payment/${invoice.id}`, 'payment-cancelled');
      await pay(invoice);
      await childOf(invoice, 'BTC');
      return invoice;
    },
  },
  {
    rows: '5, 18',
    name: 'expired unpaid; late money is a payment of its own',
    status: 'EXPIRED',
    exceptions: ['paidLate'],
    told: 'created expired repeat_deposit',
    async drive() {
      const invoice = await open('ETH');
      await late(invoice);
      await sees(invoice, 'EXPIRED');
      await world.history(`payment/${invoice.id}`, 'payment-expired');
      await pay(invoice);
      const child = await childOf(invoice, 'ETH');
      expect(child).toMatchObject({ addressRole: 'repeat', parentPaymentId: invoice.id, publicKey: invoice.address });
      return invoice;
    },
  },
  {
    rows: '6',
    name: 'a quote that has passed is renewed where its page asks',
    status: 'WAITING',
    told: 'created',
    async drive() {
      const invoice = await open('ETH');
      expect((await payer(invoice, 'refresh-quote')).body.quoteExpiresAt).toBe(
        (await world.payment(shop, invoice.id)).quoteExpiresAt,
      );
      await world.db.query('UPDATE payment SET quote_expires_at = clock_timestamp() WHERE id = $1', [invoice.id]);
      const renewed = await payer(invoice, 'refresh-quote');
      expect(renewed.status).toBe(200);
      expect(Date.parse(renewed.body.quoteExpiresAt)).toBeGreaterThan(Date.now());
      return invoice;
    },
  },
  {
    rows: '7, 8',
    name: 'a part, then the rest',
    status: 'SETTLED',
    told: `created partially_paid ${paid}`,
    async drive() {
      const invoice = await open('ETH');
      await pay(invoice, '0.005');
      const part = await sees(invoice, 'PARTIALLY_PAID');
      expect(part.amountPaid).toBe(0.005);
      expect((await payer(invoice, 'cancel', { confirm: true })).status).toBe(400);
      await pay(invoice, part.amountRemaining);
      expect((await sees(invoice, 'SETTLED', 'ETH')).txIds).toHaveLength(2);
      await world.history(`payment/${invoice.id}`, 'payment-part-then-rest');
      return invoice;
    },
  },
  {
    rows: '9',
    name: 'an underpayment that the merchant takes',
    status: 'SETTLED',
    exceptions: ['underpaid'],
    told: 'created partially_paid confirming confirmed sweep_queued settled',
    async drive() {
      const invoice = await open('ETH');
      await pay(invoice, half(invoice));
      await sees(invoice, 'PARTIALLY_PAID');
      await decide(invoice.id, 'accept-underpaid');
      const done = await sees(invoice, 'SETTLED', 'ETH');
      expect(done.amountPaid).toBe(parseFloat(half(invoice)));
      await expect(decide(invoice.id, 'accept-underpaid')).rejects.toThrow('INVALID_STATE');
      return invoice;
    },
  },
  {
    rows: '9',
    name: 'an underpayment that the policy of its day takes at expiry',
    status: 'SETTLED',
    exceptions: ['underpaid'],
    told: 'created partially_paid confirming confirmed sweep_queued settled',
    async drive() {
      const invoice = await open('BTC', { underpaidPolicy: 'accept' });
      await pay(invoice, half(invoice));
      await sees(invoice, 'PARTIALLY_PAID');
      await late(invoice);
      await sees(invoice, 'SETTLED', 'BTC');
      return invoice;
    },
  },
  {
    rows: '10',
    name: 'an underpayment that is held, and taken after all as a payment of its own',
    status: 'FAILED',
    exceptions: ['underpaid'],
    told: 'created partially_paid failed repeat_deposit',
    async drive() {
      const invoice = await open('ETH');
      await pay(invoice, half(invoice));
      await sees(invoice, 'PARTIALLY_PAID');
      await late(invoice);
      await sees(invoice, 'FAILED');
      await until('it is held', async () => (await held(invoice)).length === 1);
      await world.history(`payment/${invoice.id}`, 'payment-underpaid');
      await decide(invoice.id, 'accept-underpaid');
      expect(await childOf(invoice, 'ETH')).toMatchObject({ parentPaymentId: invoice.id, addressRole: 'repeat' });
      expect(await held(invoice)).toEqual([]);
      return invoice;
    },
  },
  {
    rows: '10',
    name: 'an underpayment that goes back to its payer by policy',
    status: 'FAILED',
    exceptions: ['underpaid'],
    told: 'created partially_paid failed',
    async drive() {
      const invoice = await open('ETH', { underpaidPolicy: 'refund' });
      await pay(invoice, half(invoice));
      await sees(invoice, 'PARTIALLY_PAID');
      await late(invoice);
      await sees(invoice, 'FAILED');
      const page = async () => (await world.call(null, 'GET', `/getInvoiceStatus?invoiceId=${invoice.slug}`)).body;
      await until('it has a link', async () => {
        return (await page()).refundUrl !== null;
      });
      const path = `/refund-claims/${new URL((await page()).refundUrl).pathname.replace('/r/', '')}`;
      const to = `0x${randomBytes(20).toString('hex')}`;
      const claimed = await world.call(null, 'POST', path, { address: to, confirm: true });
      expect(claimed.body).toMatchObject({ status: 'pending', amount: String(parseFloat(half(invoice))) });
      await until('it has arrived', async () => {
        return (await world.call(null, 'GET', path)).body.status === 'completed';
      });
      const arrived = BigInt(await call<string>(world.stack.anvil.url, 'eth_getBalance', [to, 'latest']));
      expect(formatEther(arrived)).toBe(claimed.body.netToDestination);
      expect((await world.payment(shop, invoice.id)).refundStatus).toBe('full');
      return invoice;
    },
  },
  {
    rows: '18',
    name: 'a second deposit to a settled payment',
    status: 'SETTLED',
    told: `created ${paid} repeat_deposit`,
    async drive() {
      const invoice = await settled('BTC');
      await pay(invoice, '0.0009');
      expect(await childOf(invoice, 'BTC')).toMatchObject({ amountPaid: 0.0009 });
      return invoice;
    },
  },
  {
    rows: '19, 20',
    name: 'another coin, which the merchant takes',
    status: 'SETTLED',
    exceptions: ['wrongCurrency'],
    told: 'created cross_chain_pending cross_chain_accepted confirmed sweep_queued settled',
    async drive() {
      const invoice = await open('ETH');
      await cross(invoice);
      expect(await held(invoice)).toEqual(['25 USDT_ERC20']);
      await decide(invoice.id, 'accept-cross-chain');
      expect(await sees(invoice, 'SETTLED', 'ETH')).toMatchObject({
        currency: 'USDT_ERC20',
        originalCurrency: 'ETH',
        originalAmount: String(invoice.amount),
        amountPaid: 25,
      });
      expect(await held(invoice)).toEqual([]);
      return invoice;
    },
  },
  {
    rows: '20',
    name: 'another coin, taken by itself when its time comes',
    status: 'SETTLED',
    exceptions: ['wrongCurrency'],
    async drive() {
      const invoice = await open('ETH', { autoAcceptCrossChainHours: 1 });
      await cross(invoice);
      const { crossChainAutoAcceptAt } = await world.payment(shop, invoice.id);
      expect(Date.parse(crossChainAutoAcceptAt) - Date.now()).toBeGreaterThan(3_500_000);
      await world.db.query(`UPDATE payment SET cross_chain_auto_accept_at = now() WHERE id = $1`, [invoice.id]);
      await world.nudge(invoice.id);
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
  {
    rows: '22, 18',
    name: 'another coin is overtaken by the right one',
    status: 'SETTLED',
    async drive() {
      const invoice = await open('ETH');
      await cross(invoice);
      await pay(invoice);
      await sees(invoice, 'SETTLED', 'ETH');
      expect(await childOf(invoice, 'ETH')).toMatchObject({ currency: 'USDT_ERC20', amountPaid: 25 });
      expect(await held(invoice)).toEqual([]);
      return invoice;
    },
  },
  {
    rows: '21',
    name: 'another coin, which the merchant rejects',
    status: 'FAILED',
    exceptions: ['wrongCurrency'],
    told: 'created cross_chain_pending failed',
    async drive() {
      const invoice = await open('ETH');
      await cross(invoice);
      await decide(invoice.id, 'reject-cross-chain');
      await expect(decide(invoice.id, 'accept-cross-chain')).rejects.toThrow('INVALID_STATE');
      return invoice;
    },
  },
  {
    rows: '21',
    name: 'another coin, which nobody takes within a day',
    status: 'FAILED',
    exceptions: ['wrongCurrency'],
    told: 'created cross_chain_pending failed',
    async drive() {
      const invoice = await open('ETH');
      await cross(invoice);
      await late(invoice, 25 * 3600);
      return invoice;
    },
  },
  {
    rows: '4 or 8',
    name: 'cancel and deposit',
    status: ['SETTLED', 'CANCELLED'],
    async drive() {
      const invoice = await open('BTC');
      await Promise.all([pay(invoice), payer(invoice, 'cancel', { confirm: true })]);
      await sees(invoice, ['SETTLED', 'CANCELLED'], 'BTC');
      if ((await world.payment(shop, invoice.id)).status === 'CANCELLED') await childOf(invoice, 'BTC');
      return invoice;
    },
  },
  {
    rows: '5 or 8',
    name: 'expiry and deposit',
    status: ['SETTLED', 'EXPIRED'],
    async drive() {
      const invoice = await open('BTC');
      await Promise.all([pay(invoice), late(invoice)]);
      await sees(invoice, ['SETTLED', 'EXPIRED'], 'BTC');
      if ((await world.payment(shop, invoice.id)).status === 'EXPIRED') await childOf(invoice, 'BTC');
      return invoice;
    },
  },
  {
    rows: '9 or 10',
    name: 'acceptance and expiry',
    status: ['SETTLED', 'FAILED'],
    exceptions: ['underpaid'],
    async drive() {
      const invoice = await open('BTC');
      await pay(invoice, half(invoice));
      await sees(invoice, 'PARTIALLY_PAID');
      await Promise.allSettled([late(invoice), decide(invoice.id, 'accept-underpaid')]);
      await sees(invoice, ['SETTLED', 'FAILED'], 'BTC');
      return invoice;
    },
  },
  {
    rows: '6 or 8',
    exceptions: 'any',
    name: 'renewal and deposit',
    status: 'SETTLED',
    async drive() {
      const invoice = await open('BTC');
      await world.db.query('UPDATE payment SET quote_expires_at = clock_timestamp() WHERE id = $1', [invoice.id]);
      await Promise.all([payer(invoice, 'refresh-quote'), pay(invoice)]);
      await sees(invoice, 'SETTLED', 'BTC');
      return invoice;
    },
  },
  {
    rows: '8 or 9',
    exceptions: 'any',
    name: 'acceptance and the rest',
    status: 'SETTLED',
    async drive() {
      const invoice = await open('BTC');
      await pay(invoice, half(invoice));
      await sees(invoice, 'PARTIALLY_PAID');
      await Promise.allSettled([decide(invoice.id, 'accept-underpaid'), pay(invoice, half(invoice))]);
      await sees(invoice, 'SETTLED', 'BTC');
      return invoice;
    },
  },
  {
    rows: '20 or 21',
    name: 'acceptance and rejection',
    status: ['SETTLED', 'FAILED'],
    exceptions: ['wrongCurrency'],
    async drive() {
      const invoice = await open('ETH');
      await cross(invoice);
      const both = await Promise.allSettled([
        decide(invoice.id, 'accept-cross-chain'),
        decide(invoice.id, 'reject-cross-chain'),
      ]);
      expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await sees(invoice, ['SETTLED', 'FAILED'], 'ETH');
      return invoice;
    },
  },
];

/** Blocks of Bitcoin that are replaced, and pools that are looked into. */
const bitcoin: Case[] = [
  {
    rows: '12, 8',
    name: 'one of two parts is replaced, and comes again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const invoice = await open('BTC');
      await pay(invoice, half(invoice));
      await sees(invoice, 'PARTIALLY_PAID');
      const second = await pay(invoice, half(invoice));
      await sees(invoice, 'CONFIRMING');
      const elsewhere = await open('BTC');
      await world.payer.replace(second, { address: elsewhere.address, fee: 9000n });
      expect((await sees(invoice, 'PARTIALLY_PAID')).exceptions).toEqual(['reorged']);
      await pay(invoice, half(invoice));
      await sees(invoice, 'SETTLED', 'BTC');
      await sees(elsewhere, 'PARTIALLY_PAID');
      return invoice;
    },
  },
  {
    rows: '13',
    name: 'the only part is replaced after its time',
    status: 'EXPIRED',
    exceptions: ['reorged'],
    told: 'created detected confirming reorged expired',
    async drive() {
      const invoice = await open('BTC');
      const sent = await pay(invoice);
      await sees(invoice, 'CONFIRMING');
      await late(invoice);
      const elsewhere = await open('BTC');
      await world.payer.replace(sent, { address: elsewhere.address, fee: 9000n });
      await sees(elsewhere, 'SETTLED', 'BTC');
      await sees(invoice, 'EXPIRED');
      return invoice;
    },
  },
  {
    rows: '16, 11',
    name: 'six blocks of Bitcoin are replaced before settlement, and have it again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const { invoice } = await queued('BTC');
      await takeBitcoin(6);
      await isReorged(invoice);
      await world.payer.mine('BTC', 7);
      await sees(invoice, 'SETTLED', 'BTC');
      return invoice;
    },
  },
  {
    rows: '16, 13',
    name: 'six blocks of Bitcoin are replaced before settlement, and spend its coins elsewhere; it is paid again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const { invoice, sent } = await queued('BTC');
      const elsewhere = await open('BTC');
      await takeBitcoin(6, { sent, address: elsewhere.address });
      await sees(invoice, 'WAITING');
      await pay(invoice);
      await world.payer.mine('BTC', 7);
      await sees(invoice, 'SETTLED', 'BTC');
      await sees(elsewhere, 'SETTLED', 'BTC');
      return invoice;
    },
  },
];

/** Blocks of Ethereum that are replaced. */
const ethereum: Case[] = [
  {
    rows: '14, 18',
    name: 'not confirmed within a day; what confirms later is a payment of its own',
    status: 'FAILED',
    told: 'created detected confirming failed repeat_deposit',
    async drive() {
      const invoice = await open('ETH');
      await pay(invoice);
      await world.payer.mine('ETH');
      await sees(invoice, 'CONFIRMING');
      await late(invoice, 25 * 3600);
      await sees(invoice, 'FAILED');
      await childOf(invoice, 'ETH');
      return invoice;
    },
  },
  {
    rows: '12, 8',
    name: 'a block with one of two parts is replaced, and it comes again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const invoice = await open('ETH');
      await pay(invoice, half(invoice));
      await world.payer.mine('ETH');
      await sees(invoice, 'PARTIALLY_PAID');
      await pay(invoice, half(invoice));
      await world.payer.mine('ETH');
      await sees(invoice, 'CONFIRMING');
      await takeEthereum(1);
      await sees(invoice, 'PARTIALLY_PAID');
      await isReorged(invoice);
      await pay(invoice, half(invoice));
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
  {
    rows: '16, 11',
    name: 'six blocks of Ethereum are replaced before settlement, and have it again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const { invoice } = await queued('ETH');
      const raws = await takeEthereum(6);
      await sees(invoice, 'WAITING');
      await bringBack(raws);
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
  {
    rows: '16, 13',
    name: 'six blocks of Ethereum are replaced before settlement; it is paid again, on the nonce of its old sweep',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const { invoice } = await queued('ETH');
      await takeEthereum(6);
      await sees(invoice, 'WAITING');
      await pay(invoice);
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
  {
    rows: '16, 13',
    name: 'the same with a token, and another amount',
    status: 'SETTLED',
    exceptions: ['overpaid', 'reorged'],
    async drive() {
      const { invoice } = await queued('USDT_ERC20');
      await world.payer.mine('ETH', 3);
      await until('its sweep is sent', async () => {
        const [row] = await world.db.query(
          `SELECT FROM intent WHERE payment_id = $1 AND kind = 'sweep' AND status = 'sent'`,
          [invoice.id],
        );
        return row !== undefined;
      });
      await takeEthereum(await depthOf(invoice));
      await sees(invoice, 'WAITING');
      await pay(invoice, '40');
      await sees(invoice, 'SETTLED', 'ETH');
      const [{ nonces }] = await world.db.query(
        `SELECT array_agg(DISTINCT nonce) AS nonces FROM attempt WHERE from_address = $1`,
        [invoice.address],
      );
      expect(nonces).toEqual([0]);
      return invoice;
    },
  },
  {
    rows: '16 or 17',
    name: 'a reorganisation and the sweep',
    status: 'SETTLED',
    exceptions: 'any',
    async drive() {
      const { invoice } = await queued('USDT_ERC20');
      await world.payer.mine('ETH');
      const depth = await depthOf(invoice);
      await reorgEthereum(world.chains.ethRpcUrl, depth, await transactionsOf(world.chains.ethRpcUrl, depth));
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
];

/** What settled is gone: the loss is ours, nothing of its asset leaves, and operators are told; until they have looked. */
async function frozen(invoice: Invoice): Promise<void> {
  await isReorged(invoice);
  expect((await world.payment(shop, invoice.id)).status).toBe('SETTLED');
  expect(await world.db.query('SELECT currency FROM egress_freeze')).toEqual([{ currency: invoice.currency }]);
  const [{ open }] = await world.db.query(
    `SELECT count(*)::int AS open FROM incident WHERE key = 'deep-reorg/' || $1 AND resolved_at IS NULL`,
    [invoice.id],
  );
  expect(open).toBe(1);
}
async function looked(invoice: Invoice): Promise<void> {
  await world.db.query('DELETE FROM egress_freeze');
  await world.db.query(`UPDATE incident SET resolved_at = now() WHERE key = 'deep-reorg/' || $1`, [invoice.id]);
}
/** Settled, within as few blocks as there can be. */
async function settledSoon(currency: string): Promise<{ invoice: Invoice; sent: Payment }> {
  const both = await queued(currency);
  await world.payer.mine(currency, currency === 'BTC' ? 2 : 3);
  await sees(both.invoice, 'SETTLED', currency);
  await isBooked(both.invoice, currency);
  return both;
}
const isBooked = (invoice: Invoice, currency: string): Promise<void> =>
  until('its sweep is booked', async () => {
    const [open] = await world.db.query('SELECT FROM intent WHERE payment_id = $1 AND NOT booked', [invoice.id]);
    if (open) await world.payer.mine(currency);
    return !open;
  });
const lost = async (invoice: Invoice): Promise<number> => {
  const [row] = await world.db.query(
    `SELECT coalesce(sum(CASE WHEN debit = 'E:loss' THEN amount ELSE -amount END), 0)::float8 AS lost FROM posting WHERE 'E:loss' IN (debit, credit) AND asset = $1`,
    [invoice.currency],
  );
  return row.lost as number;
};
async function returned(invoice: Invoice): Promise<void> {
  await until('the loss is taken back', async () => {
    await world.payer.mine(invoice.currency!);
    return (await lost(invoice)) === 0;
  });
  await isBooked(invoice, invoice.currency!);
  await looked(invoice);
}

const costly: Case[] = [
  {
    rows: '23',
    name: 'six blocks of Bitcoin are replaced after settlement, and have it again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    told: `created ${paid} reorged`,
    async drive() {
      const { invoice } = await settledSoon('BTC');
      await takeBitcoin(await depthOf(invoice));
      await frozen(invoice);
      await world.payer.mine('BTC', 8);
      await returned(invoice);
      return invoice;
    },
  },
  {
    rows: '23',
    name: 'six blocks of Ethereum are replaced after settlement, and have it again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    told: `created ${paid} reorged`,
    async drive() {
      const { invoice } = await settledSoon('ETH');
      const raws = await takeEthereum(await depthOf(invoice));
      await frozen(invoice);
      expect(await lost(invoice)).toBe((await world.payment(shop, invoice.id)).amountPaid);
      await bringBack(raws);
      await returned(invoice);
      return invoice;
    },
  },
  {
    rows: '23',
    name: 'six blocks of Ethereum are replaced after settlement, and do not have it',
    status: 'SETTLED',
    exceptions: ['reorged'],
    told: `created ${paid} reorged`,
    async drive() {
      const { invoice } = await settledSoon('ETH');
      await takeEthereum(await depthOf(invoice));
      await frozen(invoice);
      await borne(invoice);
      return invoice;
    },
  },
  {
    rows: '23',
    name: 'six blocks of Bitcoin are replaced after settlement, and spend its coins elsewhere',
    status: 'SETTLED',
    exceptions: ['reorged'],
    told: `created ${paid} reorged`,
    async drive() {
      const { invoice, sent } = await settledSoon('BTC');
      const elsewhere = await open('BTC');
      await takeBitcoin(await depthOf(invoice), { sent, address: elsewhere.address });
      await frozen(invoice);
      await sees(elsewhere, 'CONFIRMED', 'BTC');
      await borne(invoice);
      await sees(elsewhere, 'SETTLED', 'BTC');
      return invoice;
    },
  },
];
/** A loss for good: we owe more than we hold, and say so, until the platform puts money in. */
async function borne(invoice: Invoice): Promise<void> {
  expect(await lost(invoice)).toBe((await world.payment(shop, invoice.id)).amountPaid);
  await world.payer.mine(invoice.currency!, 4);
  expect((await world.audit()).filter(({ invariant }) => invariant !== 'I4')).toEqual([]);
  const [{ address }] = await world.db.query(
    `SELECT address FROM address WHERE network = $1 AND role = 'treasury' AND key_index = 0`,
    [invoice.currency === 'BTC' ? 'bitcoin' : 'ethereum'],
  );
  await world.payer.pay(invoice.currency!, address, text(invoice.amount));
  await world.payer.mine(invoice.currency!, 4);
  await looked(invoice);
}

const all = [...together, ...bitcoin, ...ethereum, ...costly];
type Outcome = { promise: Promise<void>; end: (error?: unknown) => void };
const outcomes = new Map<Case, Outcome>(
  all.map((one) => {
    let end!: Outcome['end'];
    const promise = new Promise<void>((resolve, reject) => {
      end = (error) => (error === undefined ? resolve() : reject(error as Error));
    });
    promise.catch(() => undefined); // its test says so
    return [one, { promise, end }];
  }),
);

let audits: Promise<unknown> = Promise.resolve();
let nextAudit: ReturnType<World['audit']> | null = null;
/** One audit after now, shared with whoever wants one meanwhile. */
function audited(): ReturnType<World['audit']> {
  nextAudit ??= audits.then(() => {
    nextAudit = null;
    const audit = world.audit();
    audits = audit.catch(() => undefined);
    return audit;
  });
  return nextAudit;
}

async function check({ drive, status, exceptions, told }: Case): Promise<void> {
  const invoice = await drive();
  const ends = typeof status === 'string' ? [status] : status;
  const payment = await sees(invoice, ends);
  if (exceptions !== 'any' && (exceptions || ends.length === 1)) expect(payment.exceptions).toEqual(exceptions ?? []);
  if (told !== undefined) {
    const events = await world.db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [invoice.id]);
    expect(events.map((event: { type: string }) => event.type.replace('payment.', '')).join(' ')).toBe(told);
  }
  expect(await audited()).toEqual([]);
}
async function run(one: Case): Promise<void> {
  await check(one).then(outcomes.get(one)!.end.bind(null, undefined), outcomes.get(one)!.end);
}
async function inOrder(cases: readonly Case[]): Promise<void> {
  for (const one of cases) await run(one);
}
const abreast = 6;
function begin(): void {
  void (async () => {
    const ticks = [tick('BTC'), tick('ETH')];
    const left = [...together];
    const lane = async (): Promise<void> => {
      for (let one = left.shift(); one; one = left.shift()) await run(one);
    };
    await Promise.all(Array.from({ length: abreast }, lane));
    ticking.clear();
    await Promise.all(ticks);
    await Promise.all([inOrder(bitcoin), inOrder(ethereum)]);
    await inOrder(costly);
  })();
}

it.each(all)('$rows: $name', (one) => outcomes.get(one)!.promise, 900_000);
