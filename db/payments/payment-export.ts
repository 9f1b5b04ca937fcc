import type { DataSource } from 'typeorm';
import { exportedColumns, type ExportedPayment } from '../../domain/payments/payment-csv';
import { conditions, type PaymentFilter } from './payment-queries';

/** Rows held at once; other requests are answered between batches. */
const batchSize = 100;

/** Every payment that the filter finds, newest first, as of one moment. A cursor in a read-only transaction: it holds a connection until
 *  it is read through or returned, and the server ends it when nobody reads for as long as a transaction may rest. */
export async function* exportPayments(
  db: DataSource,
  merchantId: string,
  filter: PaymentFilter,
): AsyncGenerator<ExportedPayment[], void, undefined> {
  const { sql, values } = conditions(merchantId, filter);
  const runner = db.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query('SET TRANSACTION READ ONLY');
    await runner.query(
      `DECLARE exported NO SCROLL CURSOR FOR SELECT ${exportedColumns.map((column) => `p.${column}`).join()} FROM payment p
        WHERE ${sql} ORDER BY p.created_at DESC, p.id DESC`,
      values,
    );
    for (;;) {
      const rows = (await runner.query(`FETCH ${batchSize} FROM exported`)) as ExportedPayment[];
      if (rows.length) yield rows;
      if (rows.length < batchSize) return;
    }
  } finally {
    if (runner.isTransactionActive && !runner.isReleased) await runner.rollbackTransaction().catch(() => undefined);
    await runner.release();
  }
}
