import { isWithoutInvoice, withdrawUnpayable } from '../../commands/lightning/withdraw';
import { readInvoicesById } from '../../db/payments/payment-queries';
import { DomainError } from '../../domain/errors';
import type { PaymentRow } from '../../domain/payments/payment';
import type { ApiDeps } from '../http/deps';
import { withOwnInvoice } from './own-invoice';

/** What is paid by Lightning is paid by an invoice, which the chain worker has the node make: within a second where all
 *  is well. Answers wait for it so long. No connection to the database is kept meanwhile. */
const patienceMs = 5000;

const late = (): DomainError =>
  new DomainError('UPSTREAM_UNAVAILABLE', 'The Lightning node has made no invoice in time: try again in a minute');

/** The payment once its invoice is there, or it waits for none any more; null: it waits still. */
export async function invoiceShown(
  deps: Pick<ApiDeps, 'changes' | 'config' | 'db'>,
  payment: PaymentRow,
): Promise<PaymentRow | null> {
  const { changes, db } = deps;
  const { row: shown } = await withOwnInvoice(deps, { row: payment });
  if (!isWithoutInvoice(shown)) return shown;
  const { promise, resolve } = Promise.withResolvers<PaymentRow | null>();
  const look = ({ row }: Readonly<{ row: PaymentRow }>): void => {
    if (!isWithoutInvoice(row)) resolve(row);
  };
  const unwatch = changes.watch(payment.id, look);
  const timer = setTimeout(() => resolve(null), patienceMs);
  try {
    // It may have come before anybody watched.
    for (const now of await readInvoicesById(db, [payment.id])) look(await withOwnInvoice(deps, now));
    return await promise;
  } finally {
    clearTimeout(timer);
    unwatch();
  }
}

/** A payment that was opened, with its invoice where it is by Lightning. One without is cancelled: nobody has seen it,
 *  and nobody shall pay it. Throws UPSTREAM_UNAVAILABLE. */
export async function openedWithInvoice(
  deps: Pick<ApiDeps, 'changes' | 'config' | 'db'>,
  opened: PaymentRow,
): Promise<PaymentRow> {
  const shown =
    (await invoiceShown(deps, opened)) ?? (await deps.db.transaction((tx) => withdrawUnpayable(tx, opened)));
  // Of two with one idempotency key the other may have cancelled it.
  const isWithdrawn = shown?.status === 'CANCELLED' && shown.idempotency_key !== opened.idempotency_key;
  if (!shown || isWithdrawn) throw late();
  const { row } = await withOwnInvoice(deps, { row: shown });
  if (isWithoutInvoice(row)) throw late();
  return row;
}

/** A payment for which BTC_LN was chosen, once its invoice is there. It stays as it was chosen, and its page shows the
 *  invoice when it comes. Throws UPSTREAM_UNAVAILABLE. */
export async function chosenWithInvoice(
  deps: Pick<ApiDeps, 'changes' | 'config' | 'db'>,
  chosen: PaymentRow,
): Promise<PaymentRow> {
  const shown = await invoiceShown(deps, chosen);
  if (!shown) throw late();
  return shown;
}
