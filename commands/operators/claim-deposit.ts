import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { recordAct } from '../../db/access/audit-log';
import { findMerchant } from '../../db/access/merchants';
import { claimDeposit, lockUnclaimed, ownerOf, type Unclaimed } from '../../db/recovery/unclaimed';
import { invalid, notNow, type OperatorAct, type Payload } from './act';
import { namedPayment } from './named-payment';

/** The payment and the deposit, both locked, where the deposit may be given to the payment. */
async function claimable(tx: EntityManager, payload: Payload): Promise<{ payment: PaymentRow; unclaimed: Unclaimed }> {
  const { depositId = '', paymentId } = payload;
  if (!/^[1-9]\d{0,17}$/.test(depositId)) throw invalid(`No deposit ${depositId}`);
  const payment = await namedPayment(tx, paymentId);
  const unclaimed = await lockUnclaimed(tx, depositId);
  if (!unclaimed) throw notNow(`Deposit ${depositId} is not unclaimed`);
  const { network, address, found_by: foundBy } = unclaimed;
  const owner = foundBy === 'balance' ? await ownerOf(tx, unclaimed) : null;
  if (owner !== null && owner !== payment.id) throw notNow(`Payment ${payment.id} does not receive at ${address}`);
  const isThere = payment.network === network && payment.deposit_address === address;
  if (owner === null && (!isThere || payment.destination_tag === null))
    throw notNow(`Payment ${payment.id} does not receive by tags at ${address}`);
  return { payment, unclaimed };
}

/** The payment takes it like any deposit: for its own price, or as a child. */
export const claimUntagged: OperatorAct = {
  kind: 'claim-deposit',
  title: 'Give a deposit that came without a destination tag of ours, or was found by its balance, to a payment',
  fields: {
    depositId: 'Id of the deposit, as its incident shows it.',
    paymentId:
      'Id of the payment at the same address, of the merchant whose payer has shown that the deposit was theirs.',
  },
  async validate(tx, payload) {
    await claimable(tx, payload);
    return { depositId: payload['depositId']!, paymentId: payload['paymentId']! };
  },
  async describe(tx, payload) {
    const { payment, unclaimed } = await claimable(tx, payload);
    const { name } = (await findMerchant(tx, payment.merchant_id))!;
    const { amount, currency, address, tx_id: txId, stated_tag: statedTag, found_by: foundBy } = unclaimed;
    const of = `of merchant ${payment.merchant_id} (${name})`;
    const given = `Give ${amount} ${currency}`;
    if (foundBy === 'balance')
      return `${given} that ${address} holds, and no transaction tells of, to payment ${payment.id} ${of}`;
    const came = statedTag === null ? 'without a tag' : `with tag ${statedTag}`;
    return `${given} of ${txId}, which came ${came}, to payment ${payment.id} (tag ${payment.destination_tag}) ${of}`;
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
