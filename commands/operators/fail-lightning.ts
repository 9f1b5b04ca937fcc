import type { EntityManager } from 'typeorm';
import { recordAct } from '../../db/access/audit-log';
import { findOpenCall, giveUpOnCall, type OpenCall } from '../../db/lightning/given-up';
import { coinsOf } from '../../domain/ledger/lightning';
import { invalid, notNow, type OperatorAct } from './act';

/** Where it waits for a call that was never answered, or for what the node has forgotten. The node is asked by the
 *  signer alone. */
async function waiting(tx: EntityManager, hash = ''): Promise<OpenCall> {
  const found = /^[0-9a-f]{64}$/.test(hash) ? await findOpenCall(tx, hash) : null;
  if (!found) throw invalid(`No payment by Lightning ${hash}`);
  if (found.outcome !== null) throw notNow(`Payment ${hash} has ended: ${found.outcome}`);
  if (found.givenUpAt !== null)
    throw notNow(`Payment ${hash} is given up: the signer ends it, unless the node knows it`);
  if (found.unanswered === 0 && !found.isForgotten)
    throw notNow(`Every call for payment ${hash} was answered: the signer ends it by itself`);
  if (found.isForgotten && !found.isOld)
    throw notNow(`The node has forgotten payment ${hash} for less than a day: it may know it again`);
  if (!found.isOld) throw notNow(`The last call for payment ${hash} began less than a day ago: it may still arrive`);
  return found;
}

/** Nothing is released here: the signer asks the node once more, and books by its word. */
export const failLightning: OperatorAct = {
  kind: 'fail-lightning',
  title: 'Fail a payment by Lightning that its node does not know, a day after a lost call, or after it was forgotten',
  fields: { hash: 'Payment hash, as its incident shows it.' },
  async validate(tx, payload) {
    const hash = payload['hash']!.trim().toLowerCase();
    await waiting(tx, hash);
    return { hash };
  },
  async describe(tx, { hash }) {
    const call = await waiting(tx, hash);
    const amount = coinsOf(BigInt(call.amountMsat));
    return (
      `Fail the payment ${hash} of ${amount} BTC_LN (for ${call.ref} of merchant ${call.merchantId}), unless the ` +
      'node knows it, and give its money back'
    );
  },
  async execute(tx, { hash }, { requestId, reason, actor }) {
    const call = await waiting(tx, hash);
    await giveUpOnCall(tx, hash!);
    await recordAct(tx, actor, {
      merchantId: call.merchantId,
      action: 'lightning_payment.given_up',
      target: call.ref,
      after: { kind: call.kind, hash, reason, requestId },
    });
    return `Payment ${hash} is given up: the signer fails ${call.ref} with its next look, unless the node knows it`;
  },
};
