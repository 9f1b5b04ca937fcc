import type { EntityManager } from 'typeorm';
import { openIncidentAgain } from '../incidents';
import { holdSubject } from '../ledger/ledger';
import { paidFor, paymentsWithRows, type LightningPaymentRow } from './payments';

/** What our Lightning node should have ended long ago. Both take seconds where all is well. The alerts on
 *  `payments_lightning_paying_age_seconds` and `payments_lightning_taking_age_seconds` have the same bounds. */
const [payingFor, takingFor] = ['30 minutes', '10 minutes'];

/** Opens an incident for each payment that the node has under way for too long, or has forgotten, and for each invoice
 *  whose money it was told to take and that is not booked. */
export async function noteOverdue(tx: EntityManager): Promise<void> {
  type Paying = LightningPaymentRow & { since: Date };
  const paying = await tx.query<Paying[]>(
    `SELECT l.*, o.updated_at AS since FROM ${paymentsWithRows}
      WHERE l.outcome IS NULL AND o.status = 'processing'
        AND (o.updated_at < now() - $1::interval OR l.forgotten_at IS NOT NULL)`,
    [payingFor],
  );
  for (const { hash, since, forgotten_at: forgottenSince, ...row } of paying) {
    const { kind, ref: id } = paidFor(row);
    const subject = holdSubject({ kind, id });
    await openIncidentAgain(tx, { kind: 'lightning-overdue', subject, details: { hash, since, forgottenSince } });
  }
  const taking = await tx.query<Array<{ id: string; paymentId: string; hash: string | null; since: Date | null }>>(
    `SELECT id, payment_id AS "paymentId", hash, decided_at AS since FROM lightning_invoice
      WHERE over_at IS NULL AND decision = 'take' AND decided_at < now() - $1::interval`,
    [takingFor],
  );
  for (const { id, paymentId, hash, since } of taking)
    await openIncidentAgain(tx, {
      kind: 'held-overdue',
      subject: { kind: 'payment', id: paymentId },
      distinction: id,
      details: { invoiceId: id, hash, since },
    });
}
