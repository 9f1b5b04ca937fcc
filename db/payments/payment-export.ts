import type { DataSource } from 'typeorm';
import { exportedColumns, type ExportedPayment } from '../../domain/payments/payment-csv';
import { metadataColumn } from './donors';
import { nowColumns } from './payment-now';
import { conditions, readOf, type Found, type PaymentFilter, type PaymentRead } from './payment-queries';

/** Rows held at once; other requests are answered between batches. */
const batchSize = 100;

/** Every payment that the filter finds, newest first, as of one moment. A cursor in a read-only transaction: it holds a
 *  connection until it is read through or returned, and the server ends it when nobody reads for as long as a
 *  transaction may rest. */
async function* batchesOf<Row>(
  db: DataSource,
  merchantId: string,
  filter: PaymentFilter,
  select: string,
): AsyncGenerator<Row[], void, undefined> {
  const { sql, values } = conditions(merchantId, filter);
  const runner = db.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query('SET TRANSACTION READ ONLY');
    await runner.query(
      `DECLARE exported NO SCROLL CURSOR FOR SELECT ${select} FROM payment p
        WHERE ${sql} ORDER BY p.created_at DESC, p.id DESC`,
      values,
    );
    for (;;) {
      const rows = (await runner.query(`FETCH ${batchSize} FROM exported`)) as Row[];
      if (rows.length) yield rows;
      if (rows.length < batchSize) return;
    }
  } finally {
    if (runner.isTransactionActive && !runner.isReleased) await runner.rollbackTransaction().catch(() => undefined);
    await runner.release();
  }
}

/** What the lines of a file of payments are made of. */
export const exportPayments = (
  db: DataSource,
  merchantId: string,
  filter: PaymentFilter,
): AsyncGenerator<ExportedPayment[], void, undefined> =>
  batchesOf(db, merchantId, filter, exportedColumns.map((column) => `p.${column}`).join());

/** The same payments as a list shows them. */
export async function* exportWholePayments(
  db: DataSource,
  merchantId: string,
  filter: PaymentFilter,
): AsyncGenerator<PaymentRead[], void, undefined> {
  const found = batchesOf<Found>(db, merchantId, filter, `p.*, ${metadataColumn}, ${nowColumns}`);
  for await (const rows of found) yield rows.map(readOf);
}
