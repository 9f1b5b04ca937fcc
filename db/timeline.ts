import type { PaymentStatus } from '../domain/payment';
import type { Queryable } from './pricing';

/** One change of a payment, as everybody who may see the payment may read it. */
export type TimelineEntry = Readonly<{
  at: string;
  from: PaymentStatus | null;
  to: PaymentStatus;
  cause: string;
  stateVersion: number;
}>;

type Row = {
  at: Date;
  from_status: PaymentStatus | null;
  to_status: PaymentStatus;
  cause: string;
  state_version: number;
};

/** Every change of a payment, oldest first. */
export async function timelineOf(db: Queryable, paymentId: string): Promise<TimelineEntry[]> {
  const rows = await db.query<Row[]>(
    'SELECT at, from_status, to_status, cause, state_version FROM payment_event WHERE payment_id = $1 ORDER BY id',
    [paymentId],
  );
  return rows.map((row) => ({
    at: row.at.toISOString(),
    from: row.from_status,
    to: row.to_status,
    cause: row.cause,
    stateVersion: row.state_version,
  }));
}
