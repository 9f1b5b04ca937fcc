import { randomBytes } from 'node:crypto';
import { formatEther } from 'viem';
import { call } from '../../sandbox/parts/json-rpc';
import {
  world,
  ann,
  shop,
  open,
  decide,
  refuses,
  payer,
  text,
  pay,
  half,
  halfPaid,
  sees,
  until,
  late,
  childOf,
  cross,
  settled,
  held,
  type Case,
  paid,
} from './stage';

/** Nobody minds whose blocks come when. The last of them are two triggers at once: one wins, and the books are right
 *  whichever it was. */
export const sideBySide: Case[] = [
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
      await payer(invoice, 'cancel', { confirm: true });
      await sees(invoice, 'CANCELLED');
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
      await world.history(`payment/${invoice.id}`, 'payment-expired-in-task');
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
      const invoice = await halfPaid('ETH');
      await decide(invoice.id, 'accept-underpaid');
      const done = await sees(invoice, 'SETTLED', 'ETH');
      expect(done.amountPaid).toBe(parseFloat(half(invoice)));
      await refuses(invoice.id, 'accept-underpaid');
      await world.history(`payment/${invoice.id}`, 'payment-accepted');
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
      const invoice = await halfPaid('BTC', { underpaidPolicy: 'accept' });
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
      const invoice = await halfPaid('ETH');
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
      const invoice = await halfPaid('ETH', { underpaidPolicy: 'refund' });
      await late(invoice);
      await sees(invoice, 'FAILED');
      const page = async () => (await world.call(null, 'GET', `/getInvoiceStatus?invoiceId=${invoice.slug}`)).body;
      await until('it waits for its address', async () => (await page()).underpaidRefund === 'awaiting_address');
      const [opened] = (await ann.call('GET', `/api/v1/payments/${invoice.id}/refunds`)).body.data.items;
      const path = `/refund-claims/${new URL(opened.claimUrl).pathname.replace('/r/', '')}`;
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
      await world.history(`payment/${invoice.id}`, 'payment-other-accepted');
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
      const invoice = await open('ETH', { autoAcceptCrossChainHours: 1 });
      await cross(invoice);
      expect((await world.payment(shop, invoice.id)).crossChainAutoAcceptAt).toEqual(expect.any(String));
      await pay(invoice);
      expect((await sees(invoice, 'SETTLED', 'ETH')).crossChainAutoAcceptAt).toBeUndefined();
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
      await refuses(invoice.id, 'accept-cross-chain');
      await sees(invoice, 'FAILED');
      await world.history(`payment/${invoice.id}`, 'payment-other-rejected');
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
      const invoice = await halfPaid('BTC');
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
      const invoice = await halfPaid('BTC');
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
      await Promise.allSettled([decide(invoice.id, 'accept-cross-chain'), decide(invoice.id, 'reject-cross-chain')]);
      await sees(invoice, ['SETTLED', 'FAILED'], 'ETH');
      const won = (await world.eventTypesOf(invoice.id)).filter((type) => /accepted|failed/.test(type));
      expect(won).toHaveLength(1);
      return invoice;
    },
  },
];
