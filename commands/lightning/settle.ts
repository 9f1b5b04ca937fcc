import type { EntityManager } from 'typeorm';
import { ensure } from '../../db/ledger/ledger';
import type { InvoiceRow } from '../../db/lightning/invoices';
import { knownNode } from '../../db/lightning/node';
import { databaseNow, emitPaymentEvents, lockPayment, movePayment, type Move } from '../../db/payments/payments';
import type { Currency } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { coinsOf } from '../../domain/ledger/lightning';
import { compare } from '../../domain/money';
import type { PaymentRow } from '../../domain/payments/payment';
import { splitPaid } from '../../domain/pricing/quote';
import { settledJournal, settledPatch } from '../payments/settled';

/** The half that was paid gives a payment of bitcoin its asset, as a choice of it would, at the quote that it has. What
 *  comes to the address from now on is money at an address of an earlier choice. Row 3. */
async function asPaid(tx: EntityManager, payment: PaymentRow, invoice: InvoiceRow): Promise<Move> {
  const node = await knownNode(tx);
  if (!node) throw new DomainError('INTERNAL_ERROR', `Payment ${payment.id} was paid to a node that nobody knows`);
  const { currency } = invoice;
  const split = splitPaid(payment.amount!, currency as Currency, payment.fee_bps, '0');
  return {
    to: 'WAITING',
    cause: 'currency-selected-by-lightning',
    events: ['payment.currency_selected'],
    patch: {
      currency,
      deposit_address: invoice.invoice,
      destination_tag: null,
      settlement_address: node.key,
      custody: 'platform',
      required_confirmations: 0,
      commission_amount: split.commission,
      network_fee_amount: split.network,
      fee_amount: split.fee,
      net_amount: split.net,
    },
    details: { currency, rateId: payment.rate_id },
  };
}

/** WAITING → CONFIRMING → CONFIRMED → SWEEP_QUEUED → SETTLED in the caller's transaction, in which the money was booked
 *  by J13: it is final, and in the treasury's hands already. J2 without a network fee, for nothing was paid to a chain.
 *  Rows 8, 11, 15 and 17, after row 3 where the payment was in another currency. */
export async function settleByLightning(tx: EntityManager, invoice: InvoiceRow, takenMsat: bigint): Promise<void> {
  const payment = await lockPayment(tx, invoice.payment_id);
  const currency = invoice.currency as Currency;
  const paid = coinsOf(takenMsat, currency);
  const settled = { paid, value: null, networkFee: '0' };
  const now = await databaseNow(tx);
  const hash = invoice.hash!;
  const moves: readonly Move[] = [
    ...(payment.currency === currency ? [] : [await asPaid(tx, payment, invoice)]),
    {
      to: 'CONFIRMING',
      cause: 'lightning-taken',
      events: ['payment.detected', 'payment.confirming'],
      addExceptions: exceptionsOf(payment.amount, paid),
      patch: { amount_paid: paid, value_paid: null, tx_ids: [hash] },
      details: { txIds: [hash], amountPaid: paid },
    },
    { to: 'CONFIRMED', cause: 'lightning-taken', events: ['payment.confirmed'], patch: { confirmed_at: now } },
    {
      to: 'SWEEP_QUEUED',
      cause: 'lightning-taken',
      events: ['payment.sweep_queued'],
      patch: { sweep_state: 'queued' },
    },
    {
      to: 'SETTLED',
      cause: 'lightning-taken',
      events: ['payment.settled'],
      patch: settledPatch({ ...payment, currency }, settled, now),
      details: { txIds: [hash], chainFees: '0' },
    },
  ];
  const steps: Array<{ before: PaymentRow; after: PaymentRow; events: Move['events'] }> = [];
  for (const move of moves) {
    const before = steps.at(-1)?.after ?? payment;
    steps.push({ before, after: await movePayment(tx, before, move), events: move.events });
  }
  await ensure(tx, settledJournal(steps.at(-1)!.after, settled));
  for (const step of steps) await emitPaymentEvents(tx, step.before, step.after, step.events);
}

function exceptionsOf(amount: string | null, paid: string): Array<'overpaid' | 'underpaid'> {
  if (amount === null || compare(paid, amount) === 0) return [];
  return [compare(paid, amount) > 0 ? 'overpaid' : 'underpaid'];
}
