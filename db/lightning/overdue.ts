import type { EntityManager } from 'typeorm';
import { openIncidentAgain } from '../incidents';

/** What our Lightning node should have ended long ago. Both take seconds where all is well. The alerts on
 *  `payments_lightning_paying_age_seconds` and `payments_lightning_taking_age_seconds` have the same bounds. */
const [payingFor, takingFor] = ['30 minutes', '10 minutes'];

/** Opens an incident for each payment that the node has under way for too long, and for each invoice whose money it was
 *  told to take and that is not booked. */
export async function noteOverdue(tx: EntityManager): Promise<void> {
  const paying = await tx.query<Array<{ hash: string; withdrawalId: string; since: Date }>>(
    `SELECT l.hash, w.id AS "withdrawalId", w.updated_at AS since
       FROM lightning_payment l JOIN withdrawal w ON w.id = l.withdrawal_id
      WHERE l.outcome IS NULL AND w.status = 'processing' AND w.updated_at < now() - $1::interval`,
    [payingFor],
  );
  for (const { hash, withdrawalId: id, since } of paying)
    await openIncidentAgain(tx, {
      kind: 'lightning-overdue',
      subject: { kind: 'withdrawal', id },
      details: { hash, since },
    });
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
