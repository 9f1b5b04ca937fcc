import type { DataSource } from 'typeorm';
import { lockInvoice, noteOpen } from '../../db/lightning/invoices';
import { emitPaymentEvents, lockPayment, movePayment } from '../../db/payments/payments';

/** The invoice as the node wrote it. Its payment shows it as the place to pay to, or beside its address, where it waits
 *  for it: not once it has ended, is paid on a chain, or has another currency or quote. A repeat changes nothing. */
export const showInvoice = (db: DataSource, id: string, text: string): Promise<void> =>
  db.transaction(async (tx) => {
    const { row, isWanted } = await lockInvoice(tx, id);
    if (!(await noteOpen(tx, id, text)) || !isWanted) return;
    const payment = await lockPayment(tx, row.payment_id);
    const shown = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'lightning-invoice',
      events: [],
      patch: row.beside === null ? { deposit_address: text } : {},
    });
    await emitPaymentEvents(tx, payment, shown, []);
  });
