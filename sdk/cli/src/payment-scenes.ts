import { pay } from './pay.js';
import { Refusal } from './refusal.js';
import { Session } from './session.js';
import { create, part, settled, until, type Payment, type Scene, type Stage } from './stage.js';

/** Events of payments, by real coins. */

const paid =
  (confirm?: string): Scene =>
  async (stage) => {
    const payment = await create(stage, stage.currency);
    await pay(stage.sandbox, payment.slug, { confirm });
    return payment.id;
  };

/** Pays in another coin of the network, about as much as the payment asks for. */
async function payOther({ sandbox, currency }: Stage, { slug }: Payment): Promise<void> {
  if (!/^ETH$|_ERC20$/.test(currency))
    throw new Refusal(`The network of ${currency} has no other coin: take --currency ETH`, 'NOT_TRIGGERED');
  const [other, amount] = currency === 'ETH' ? ['USDT_ERC20', '25'] : ['ETH', '0.01'];
  await pay(sandbox, slug, { with: other, amount });
}

async function pending(stage: Stage): Promise<Payment> {
  const payment = await create(stage, stage.currency);
  await payOther(stage, payment);
  await until(stage, payment.id, 'CROSS_CHAIN_PENDING');
  return payment;
}

/** What a user of the merchant decides about another coin. */
const decided =
  (decision: 'accept' | 'reject'): Scene =>
  async (stage) => {
    const { id } = await pending(stage);
    const session = await Session.of(stage.sandbox);
    await session.post(
      `/api/v1/payments/${id}/${decision}-cross-chain`,
      decision === 'accept' ? { confirm: true } : {},
    );
    return id;
  };

export const paymentScenes: Readonly<Record<string, Scene>> = {
  'payment.created': async (stage) => (await create(stage, stage.currency)).id,
  'payment.currency_selected': async (stage) => {
    const { id } = await create(stage);
    await stage.client.payments.selectCurrency(id, { currency: stage.currency });
    return id;
  },
  'payment.partially_paid': async (stage) => {
    const payment = await create(stage, stage.currency);
    await pay(stage.sandbox, payment.slug, { amount: part(payment.amount, 0.5) });
    return payment.id;
  },
  'payment.detected': paid(),
  'payment.confirming': paid('1'),
  'payment.confirmed': paid(),
  'payment.aml_screened': paid(),
  'payment.sweep_queued': paid(),
  'payment.settled': paid(),
  'payment.repeat_deposit': async (stage) => {
    const payment = await settled(stage);
    await pay(stage.sandbox, payment.slug, { amount: part(payment.amount, 0.5) });
    return undefined;
  },
  'payment.cross_chain_pending': async (stage) => (await pending(stage)).id,
  'payment.cross_chain_accepted': decided('accept'),
  'payment.failed': decided('reject'),
  'payment.other_deposit': async (stage) => {
    const payment = await settled(stage);
    await payOther(stage, payment);
    return payment.id;
  },
  'payment.reorged': async (stage) => {
    if (!stage.apiKey.startsWith('svc_test_'))
      throw new Refusal(
        'Blocks are replaced in a test instance alone: SANDBOX_DATA=.data-test MODE=test npm start',
        'NOT_TRIGGERED',
      );
    const { id } = await create(stage, stage.currency);
    await stage.client.testMode.simulate(id, { scenario: 'reorg' });
    return id;
  },
  'payment.cancelled': async (stage) => {
    const { id } = await create(stage, stage.currency);
    await stage.client.payments.cancel(id);
    return id;
  },
  'payment.expired': async (stage) => (await create(stage, stage.currency, 60)).id,
};
