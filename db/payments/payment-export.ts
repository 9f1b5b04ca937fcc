import type { DataSource, QueryRunner } from 'typeorm';
import { exportedColumns, type ExportedPayment } from '../../domain/payments/payment-csv';
import { metadataColumn } from './donors';
import { nowColumns } from './payment-now';
import { conditions, readOf, type Found, type PaymentFilter, type PaymentRead } from './payment-queries';

/** Rows held at once; other requests are answered between batches. */
const batchSize = 100;

/** How the rows of one kind of file are read; a cursor has the name of its kind. */
type Reading<Row> = Readonly<{
  open(runner: QueryRunner, merchantId: string, filter: PaymentFilter): Promise<unknown>;
  next(runner: QueryRunner): Promise<Row[]>;
}>;

/** Every payment that the filter finds, newest first, as of one moment. A cursor in a read-only transaction: it holds a
 *  connection until it is read through or returned, and the server ends it when nobody reads for as long as a
 *  transaction may rest. */
async function* batchesOf<Row>(
  db: DataSource,
  merchantId: string,
  filter: PaymentFilter,
  { open, next }: Reading<Row>,
): AsyncGenerator<Row[], void, undefined> {
  const runner = db.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query('SET TRANSACTION READ ONLY');
    await open(runner, merchantId, filter);
    for (;;) {
      const rows = await next(runner);
      if (rows.length) yield rows;
      if (rows.length < batchSize) return;
    }
  } finally {
    if (runner.isTransactionActive && !runner.isReleased) await runner.rollbackTransaction().catch(() => undefined);
    await runner.release();
  }
}

const columns = exportedColumns.map((column) => `p.${column}`).join();
const lines: Reading<ExportedPayment> = {
  open(runner, merchantId, filter) {
    const { sql, values } = conditions(merchantId, filter);
    return runner.query(
      `DECLARE exported_line NO SCROLL CURSOR FOR SELECT ${columns} FROM payment p
        WHERE ${sql} ORDER BY p.created_at DESC, p.id DESC`,
      values,
    );
  },
  next: async (runner) => (await runner.query(`FETCH ${batchSize} FROM exported_line`)) as ExportedPayment[],
};

/** What the lines of a file of payments are made of. */
export const exportPayments = (
  db: DataSource,
  merchantId: string,
  filter: PaymentFilter,
): AsyncGenerator<ExportedPayment[], void, undefined> => batchesOf(db, merchantId, filter, lines);

const wholes: Reading<Found> = {
  open(runner, merchantId, filter) {
    const { sql, values } = conditions(merchantId, filter);
    return runner.query(
      `DECLARE exported_whole NO SCROLL CURSOR FOR SELECT p.*, ${metadataColumn}, ${nowColumns} FROM payment p
        WHERE ${sql} ORDER BY p.created_at DESC, p.id DESC`,
      values,
    );
  },
  next: async (runner) => (await runner.query(`FETCH ${batchSize} FROM exported_whole`)) as Found[],
};

/** The same payments as a list shows them. */
export async function* exportWholePayments(
  db: DataSource,
  merchantId: string,
  filter: PaymentFilter,
): AsyncGenerator<PaymentRead[], void, undefined> {
  for await (const rows of batchesOf(db, merchantId, filter, wholes)) yield rows.map(readOf);
}
