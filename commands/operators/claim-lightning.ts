import type { EntityManager } from 'typeorm';
import { recordAct } from '../../db/access/audit-log';
import { findMerchant } from '../../db/access/merchants';
import { resolveIncident } from '../../db/incidents';
import { postAll } from '../../db/ledger/ledger';
import { findTaken, insertClaimed, lockClaim, type Taken } from '../../db/lightning/claims';
import { resolveUnknown } from '../../db/lightning/unknown';
import { coinsOf, lightningClaimJournal, lightningJournal } from '../../domain/ledger/lightning';
import { lightningCurrency as currency } from '../../domain/lightning/currency';
import { satoshiIn } from '../../domain/lightning/held-money';
import type { PaymentRow } from '../../domain/payments/payment';
import { splitPaid } from '../../domain/pricing/quote';
import { invalid, notNow, type OperatorAct, type Payload } from './act';
import { namedPayment } from './named-payment';

/** In place of a payment: the node's owner has it. */
const owner = 'owner';

type Claim = Readonly<{ hash: string; taken: Taken; payment: PaymentRow | null }>;

/** The money, and the payment of whom it goes to, locked; null for the owner. */
async function claimable(tx: EntityManager, payload: Payload): Promise<Claim> {
  const { hash = '', paymentId } = payload;
  if (!/^[0-9a-f]{64}$/.test(hash)) throw invalid(`No payment hash ${hash}`);
  const payment = paymentId === owner ? null : await namedPayment(tx, paymentId);
  await lockClaim(tx, hash);
  const taken = await findTaken(tx, hash);
  if (!taken) throw notNow(`The Lightning node took nothing for ${hash} that is nobody's`);
  if (taken.isClaimed) throw notNow(`The money of ${hash} was given away`);
  if (satoshiIn(taken.msat) === 0n) throw notNow(`What was taken for ${hash} is less than a satoshi`);
  const { row } = taken;
  if (row && payment && payment.id !== row.paymentId)
    throw notNow(`The invoice of ${hash} is one of payment ${row.paymentId}: the money goes to its merchant`);
  return { hash, taken, payment };
}

/** Into the balance of the merchant, less the commission of the payment; or into the owner's capital. */
async function book(tx: EntityManager, requestId: string, { hash, taken, payment }: Claim): Promise<void> {
  const amount = coinsOf(taken.msat);
  if (payment && !taken.row) {
    await insertClaimed(tx, { requestId, hash, paymentId: payment.id });
    const booked = { hash, merchantId: payment.merchant_id, currency, takenMsat: taken.msat } as const;
    await postAll(tx, [lightningJournal({ ...booked, allocation: 'unallocated' })]);
  }
  const merchantId = payment?.merchant_id ?? taken.row?.merchantId;
  // What no row was for is beyond the books, as the owner's capital is.
  if (merchantId === undefined) return;
  const to = payment && { paymentId: payment.id, ...splitPaid(amount, currency, payment.fee_bps, '0') };
  await postAll(tx, [lightningClaimJournal({ hash, merchantId, currency, amount, to })]);
}

export const claimLightning: OperatorAct = {
  kind: 'claim-lightning',
  title: 'Give money that the Lightning node took for nobody to the merchant of a payment, or to the node’s owner',
  fields: {
    hash: 'Payment hash, as its incident shows it.',
    paymentId:
      'Id of the payment that the invoice was for; where no row is for it, of any payment of the merchant who has ' +
      `shown that it was theirs. \`${owner}\`: it is the owner's own.`,
  },
  async validate(tx, payload) {
    const checked = { hash: payload['hash']!.trim().toLowerCase(), paymentId: payload['paymentId']! };
    const { taken } = await claimable(tx, checked);
    // Two operators confirm so much, and other processes write what was taken.
    return { ...checked, amount: coinsOf(taken.msat) };
  },
  async describe(tx, payload) {
    const { hash, taken, payment } = await claimable(tx, payload);
    const money = `${coinsOf(taken.msat)} ${currency} that the Lightning node took for ${hash}`;
    if (!payment) return `Give ${money} to the node's owner`;
    const { name } = (await findMerchant(tx, payment.merchant_id))!;
    return `Give ${money} to merchant ${payment.merchant_id} (${name}), less commission, for payment ${payment.id}`;
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const claim = await claimable(tx, payload);
    const { hash, taken, payment } = claim;
    if (coinsOf(taken.msat) !== payload['amount'])
      throw notNow(`${coinsOf(taken.msat)} ${currency} are there for ${hash} now, not ${payload['amount']}: ask anew`);
    await book(tx, requestId, claim);
    await resolveUnknown(tx, 'invoice', hash);
    if (taken.row) {
      const subject = { kind: 'payment', id: taken.row.paymentId } as const;
      await resolveIncident(tx, { kind: 'held-foreign', subject, distinction: taken.row.invoiceId });
    }
    await recordAct(tx, actor, {
      merchantId: payment?.merchant_id ?? null,
      action: 'lightning.claimed',
      target: hash,
      after: { paymentId: payment?.id ?? null, amount: coinsOf(taken.msat), requestId, reason },
    });
    return `${coinsOf(taken.msat)} ${currency} of ${hash} belong to ${payment?.merchant_id ?? "the node's owner"} now`;
  },
};
