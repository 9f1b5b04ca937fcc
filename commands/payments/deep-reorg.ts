import type { EntityManager } from 'typeorm';
import { lossJournal, lossKey } from '../../domain/ledger/ledger';
import type { PaymentRow } from '../../domain/payments/payment';
import { openIncident } from '../../db/incidents';
import { ensure, reverse, depositRefOf } from '../../db/ledger/ledger';
import { depositsById } from '../../db/payments/deposits';
import { emitPaymentEvents, movePayment } from '../../db/payments/payments';

/** Row 23: the chain has lost a settled deposit. The loss is booked (J12), operators get an incident, and outgoing
 *  money of the asset is frozen. */
export async function noteLoss(
  tx: EntityManager,
  payment: PaymentRow,
  depositIds: readonly string[],
): Promise<PaymentRow> {
  const deposits = await depositsById(tx, depositIds);
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'reorg-after-settlement',
    events: [],
    addExceptions: ['reorged'],
    details: { depositIds },
  });
  const from = payment.custody === 'external' ? 'A:deposit' : 'A:treasury';
  for (const deposit of deposits) {
    await ensure(tx, lossJournal({ ...depositRefOf(deposit), from, paymentId: payment.id }));
    await tx.query(`INSERT INTO egress_freeze (currency, reason) VALUES ($1, $2) ON CONFLICT (currency) DO NOTHING`, [
      deposit.currency,
      `Reorganisation below settled payment ${payment.id}`,
    ]);
  }
  await openIncident(tx, {
    kind: 'deep-reorg',
    subject: { kind: 'payment', id: payment.id },
    details: { paymentId: payment.id, depositIds },
  });
  await emitPaymentEvents(tx, payment, moved, ['payment.reorged']);
  return moved;
}

/** After row 23: the chain has the deposit again. The asset stays frozen until an operator has looked. */
export async function reverseLoss(
  tx: EntityManager,
  payment: PaymentRow,
  depositIds: readonly string[],
): Promise<PaymentRow> {
  for (const deposit of await depositsById(tx, depositIds)) await reverse(tx, lossKey(depositRefOf(deposit)));
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'deposit-returned',
    events: [],
    details: { depositIds },
  });
  await emitPaymentEvents(tx, payment, moved, []);
  return moved;
}
