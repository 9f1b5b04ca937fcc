import type { DataSource } from 'typeorm';
import { batcherPer } from '../batcher';
import { prepared } from '../query';

/** What `open_payment` takes: JSON as text. */
export type PaymentToOpen = Readonly<{
  /** The row, with `donor`, `lightning_invoice`, `request_id` and `traceparent`. */
  payment: string;
  metadata: string | null;
  address: string | null;
  eventId: string;
  eventData: string;
  deliveryId: string | null;
  /** Search attributes of the workflow, and its summary. */
  attributes: string;
  quota: number;
}>;

/** `replayed`: the payment that the merchant's idempotency key has opened before. */
export type OpenedPayment = Readonly<{ payment_id: string; replayed: boolean }>;

/** Payments in one transaction: some 20 ms of the database, for which the last one waits. */
const most = 16;
const batcherOf = batcherPer((db, payments: readonly PaymentToOpen[]) => openTogether(db, payments), most);

/** Opens a payment, with others of the same `opener` where they come at once: all of one merchant, whose counter of
 *  events they lock. Rejects with what `open_payment` raises of it. */
export const openInTurn = (db: DataSource, opener: string, payment: PaymentToOpen): Promise<OpenedPayment> =>
  batcherOf(db).add(opener, payment);

const openTogether = (db: DataSource, payments: readonly PaymentToOpen[]): Promise<OpenedPayment[]> =>
  prepared(db, 'creations').query<OpenedPayment[]>(
    `SELECT o.payment_id, o.replayed
       FROM unnest($1::jsonb[], $2::text[], $3::jsonb[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::int[])
              WITH ORDINALITY
              AS i(payment, metadata, address, event_id, event_data, delivery_id, attributes, quota, place)
      CROSS JOIN LATERAL open_payment(i.payment, i.metadata, i.address, i.event_id, i.event_data, i.delivery_id,
                                      i.attributes, i.quota) o
      ORDER BY i.place`,
    [
      payments.map(({ payment }) => payment),
      payments.map(({ metadata }) => metadata),
      payments.map(({ address }) => address),
      payments.map(({ eventId }) => eventId),
      payments.map(({ eventData }) => eventData),
      payments.map(({ deliveryId }) => deliveryId),
      payments.map(({ attributes }) => attributes),
      payments.map(({ quota }) => quota),
    ],
  );
