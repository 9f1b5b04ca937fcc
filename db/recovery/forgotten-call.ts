import type { EntityManager } from 'typeorm';
import { isByLightning } from '../../domain/lightning/currency';
import { hasOpenInvoice, type PaidFor } from '../lightning/payments';
import { isConfirmed } from './epoch';

/** Whether a database that was restored may have forgotten that the Lightning node has paid for this: while it may, it
 *  is not cancelled. Before the signer has confirmed the database, its invoice may be forgotten too; after that, the
 *  signer asks the node about it first. */
export const mayBeForgotten = async (
  tx: EntityManager,
  paid: PaidFor,
  { currency, created_at: createdAt }: Readonly<{ currency: string; created_at: Date }>,
): Promise<boolean> =>
  isByLightning(currency) &&
  (!(await isConfirmed(tx)) || ((await isFromBeforeRecovery(tx, createdAt)) && (await hasOpenInvoice(tx, paid))));

/** Whether a row of this time was restored with the database. */
const isFromBeforeRecovery = async (tx: EntityManager, createdAt: Date): Promise<boolean> =>
  (await tx.query<unknown[]>('SELECT FROM recovery WHERE begun_at > $1', [createdAt])).length > 0;
