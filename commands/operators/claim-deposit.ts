import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { recordAct } from '../../db/access/audit-log';
import { findMerchant } from '../../db/access/merchants';
import { claimDeposit, lockUnclaimed, type Unclaimed } from '../../db/recovery/unclaimed';
import { invalid, notNow, type OperatorAct, type Payload } from './act';
import { namedPayment } from './named-payment';

/** The payment and the deposit, both locked, where the deposit may be given to the payment. */
async function claimable(tx: EntityManager, payload: Payload): Promise<{ payment: PaymentRow; unclaimed: Unclaimed }> {
  const { depositId = '', paymentId } = payload;
  if (!/^[1-9]\d{0,17}$/.test(depositId)) throw invalid(`No deposit ${depositId}`);
  const payment = await namedPayment(tx, paymentId);
  const unclaimed = await lockUnclaimed(tx, depositId);
  if (!unclaimed) throw notNow(`Deposit ${depositId} is not unclaimed`);
  const isThere = payment.network === unclaimed.network && payment.deposit_address === unclaimed.address;
  if (!isThere || payment.destination_tag === null)
    throw notNow(`Payment ${payment.id} does not receive by tags at ${unclaimed.address}`);
  return { payment, unclaimed };
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
    const { payment, unclaimed } = await claimable(tx, payload);
    const { name } = (await findMerchant(tx, payment.merchant_id))!;
    const came = unclaimed.stated_tag === null ? 'without a tag' : `with tag ${unclaimed.stated_tag}`;
    return (
      `Give ${unclaimed.amount} ${unclaimed.currency} of ${unclaimed.tx_id}, which came ${came}, ` +
      `to payment ${payment.id} (tag ${payment.destination_tag}) of merchant ${payment.merchant_id} (${name})`
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { payment, unclaimed } = await claimable(tx, payload);
    const { merchant_id: merchantId, id: paymentId } = payment;
    await claimDeposit(tx, { requestId, paymentId }, unclaimed);
    await recordAct(tx, actor, {
      merchantId,
      action: 'deposit.claimed',
      target: paymentId,
      after: { depositId: unclaimed.id, txId: unclaimed.tx_id, statedTag: unclaimed.stated_tag, reason, requestId },
    });
    return `Deposit ${unclaimed.id} belongs to payment ${paymentId} now`;
  },
};
