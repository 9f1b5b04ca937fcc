import type { EntityManager } from 'typeorm';
import { networkOf } from '../../domain/chains/assets';
import type { PaymentRow } from '../../domain/payments/payment';
import { recordAct } from '../../db/access/audit-log';
import { findMerchant } from '../../db/access/merchants';
import { claimAddress, lockForgotten, type Unclaimed } from '../../db/recovery/unclaimed';
import { notNow, type OperatorAct, type Payload } from './act';
import { namedPayment } from './named-payment';

/** The payment, and what waits at the address, both locked, where the address may be given to the payment. */
async function claimable(
  tx: EntityManager,
  payload: Payload,
): Promise<{ payment: PaymentRow; unclaimed: readonly Unclaimed[] }> {
  const { network, address, paymentId } = payload;
  const payment = await namedPayment(tx, paymentId);
  if (payment.currency === null) throw notNow(`Payment ${payment.id} has no currency yet`);
  if (networkOf(payment.currency).id !== network) throw notNow(`Payment ${payment.id} is no payment on ${network}`);
  const unclaimed = await lockForgotten(tx, network!, address!);
  if (!unclaimed) throw notNow(`${address} on ${network} is no address that a recovery has forgotten`);
  return { payment, unclaimed };
}

const sumOf = (unclaimed: readonly Unclaimed[]): string =>
  unclaimed.map(({ amount, currency, tx_id: txId }) => `${amount} ${currency} of ${txId}`).join(', ') || 'nothing';

/** The payment takes what came to the address like any deposit: for its own price, or as a child. */
export const claimForgotten: OperatorAct = {
  kind: 'claim-address',
  title: 'Give an address that a recovery has forgotten to a payment',
  fields: {
    network: 'Network of the address.',
    address: 'The address, as `operator recoveries` shows it.',
    paymentId: 'Id of a payment, on that network, of the merchant who has shown that the address was theirs.',
  },
  async validate(tx, payload) {
    const { network, address, paymentId } = payload;
    await claimable(tx, payload);
    return { network: network!, address: address!, paymentId: paymentId! };
  },
  async describe(tx, payload) {
    const { payment, unclaimed } = await claimable(tx, payload);
    const { name } = (await findMerchant(tx, payment.merchant_id))!;
    return (
      `Give address ${payload['address']} on ${payload['network']} to payment ${payment.id} ` +
      `of merchant ${payment.merchant_id} (${name}), with what came to it: ${sumOf(unclaimed)}`
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { payment, unclaimed } = await claimable(tx, payload);
    const [network, address] = [payload['network']!, payload['address']!];
    const { merchant_id: merchantId, id: paymentId } = payment;
    await claimAddress(tx, { requestId, network, address, paymentId }, unclaimed);
    await recordAct(tx, actor, {
      merchantId,
      action: 'address.claimed',
      target: paymentId,
      after: { network, address, reason, requestId },
    });
    return `${address} belongs to payment ${paymentId} now`;
  },
};
