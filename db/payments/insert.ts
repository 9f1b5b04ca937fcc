import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { traceparentNow } from '../../domain/tracing';

/** Writes a new payment, the first entry of its timeline and the request for its workflow. False where the payment
 *  exists already: the same idempotency key, or another child of the same deposit. */
export async function insertPayment(
  tx: EntityManager,
  row: PaymentRow,
  first: Readonly<{ cause: string; details: object; attributes: object }>,
): Promise<boolean> {
  const { metadata, ...columns } = row;
  const [written] = await tx.query<Array<{ inserted: boolean }>>(
    'SELECT insert_payment_2(jsonb_populate_record(NULL::payment, $1), $2, $3, $4, $5, $6) AS inserted',
    [
      JSON.stringify(columns),
      metadata,
      first.cause,
      JSON.stringify(first.details),
      JSON.stringify(first.attributes),
      traceparentNow(),
    ],
  );
  return written!.inserted;
}
