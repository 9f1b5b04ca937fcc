import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { recordAct } from '../../db/access/audit-log';
import { findMerchant } from '../../db/access/merchants';
import { claimDeposit, lockUnclaimed, type Unclaimed } from '../../db/recovery/unclaimed';
import { invalid, notNow, type OperatorAct, type Payload } from './act';
import { namedPayment } from './named-payment';

/** The payment and the deposit, both locked, where the deposit may be given to the payment. */
async function claimable(tx: EntityManager, payload: Payload): Promise<{ payment: PaymentRow; held: Unclaimed }> {
  const { depositId = '', paymentId } = payload;
  if (!/^[1-9]\d{0,17}$/.test(depositId)) throw invalid(`No deposit ${depositId}`);
  const payment = await namedPayment(tx, paymentId);
  const held = await lockUnclaimed(tx, depositId);
  if (!held) throw notNow(`Deposit ${depositId} is not unclaimed`);
  const isThere = payment.network === held.network && payment.deposit_address === held.address;
  if (!isThere || payment.destination_tag === null)
    throw notNow(`Payment ${payment.id} does not receive by tags at ${held.address}`);
  return { payment, held };
}

/** The payment takes it like any deposit: for its own price, or as a child. */
export const claimUntagged: OperatorAct = {
  kind: 'claim-deposit',
  title: 'Give a deposit that came without a destination tag of ours to a payment',
  fields: {
    depositId: 'Id of the deposit, as its incident shows it.',
    paymentId:
      'Id of a payment at the same address, of the merchant whose payer has shown that the deposit was theirs.',
  },
  async validate(tx, payload) {
    await claimable(tx, payload);
    return { depositId: payload['depositId']!, paymentId: payload['paymentId']! };
  },
  async describe(tx, payload) {
    const { payment, held } = await claimable(tx, payload);
    const { name } = (await findMerchant(tx, payment.merchant_id))!;
    const came = held.stated_tag === null ? 'without a tag' : `with tag ${held.stated_tag}`;
    return (
      `Give ${held.amount} ${held.currency} of ${held.tx_id}, which came ${came}, to payment ${payment.id} ` +
      `(tag ${payment.destination_tag}) of merchant ${payment.merchant_id} (${name})`
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { payment, held } = await claimable(tx, payload);
    const { merchant_id: merchantId, id: paymentId } = payment;
    await claimDeposit(tx, { requestId, paymentId }, held);
    await recordAct(tx, actor, {
      merchantId,
      action: 'deposit.claimed',
      target: paymentId,
      after: { depositId: held.id, txId: held.tx_id, statedTag: held.stated_tag, reason, requestId },
    });
    return `Deposit ${held.id} belongs to payment ${paymentId} now`;
  },
};
