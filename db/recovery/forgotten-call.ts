import type { EntityManager } from 'typeorm';
import { isByLightning } from '../../domain/lightning/currency';
import type { InvoicedKind } from '../../domain/txmanager/kinds';
import { hasOpenInvoice } from '../lightning/payments';
import { isConfirmed } from './epoch';

/** Whether a database that was restored may have forgotten that the Lightning node has paid for one of these: while it
 *  may, they are not cancelled. Before the signer has confirmed the database, their invoices may be forgotten too;
 *  after that, the signer asks the node about them first. */
export const mayBeForgotten = async (
  tx: EntityManager,
  kind: InvoicedKind,
  rows: ReadonlyArray<Readonly<{ id: string; currency: string }>>,
  createdAt: Date,
): Promise<boolean> => {
  const ids = rows.filter(({ currency }) => isByLightning(currency)).map(({ id }) => id);
  if (!ids.length) return false;
  if (!(await isConfirmed(tx))) return true;
  return (await isFromBeforeRecovery(tx, createdAt)) && hasOpenInvoice(tx, kind, ids);
};

/** Whether a row of this time was restored with the database. */
const isFromBeforeRecovery = async (tx: EntityManager, createdAt: Date): Promise<boolean> =>
  (await tx.query<unknown[]>('SELECT FROM recovery WHERE begun_at > $1', [createdAt])).length > 0;
