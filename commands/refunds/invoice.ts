import type { EntityManager } from 'typeorm';
import { knownNode } from '../../db/lightning/node';
import { isKnownHash, planInvoice } from '../../db/lightning/payments';
import { databaseNow } from '../../db/payments/payments';
import { isConfirmed } from '../../db/recovery/epoch';
import { DomainError } from '../../domain/errors';
import { checkPayable, givenBefore, invoiceText, type GivenInvoice } from '../../domain/lightning/receiver';
import type { RefundRow } from '../../domain/refunds/refund';
import type { RefundDeps } from './terms';

/** What a payer names for a refund by Lightning: an invoice of exactly its net amount. The text is the refund's
 *  address. docs/decisions/0087-refunds-by-lightning.md */

/** Nothing is named before the signer has confirmed the database: one that was restored may have forgotten an invoice,
 *  which comes back then. Throws INVALID_ADDRESS, VALIDATION_ERROR, CURRENCY_NOT_AVAILABLE, UPSTREAM_UNAVAILABLE. */
export async function readNamedInvoice(
  tx: EntityManager,
  { lightning }: Pick<RefundDeps, 'lightning'>,
  net: string,
  given: string,
): Promise<GivenInvoice> {
  const node = await knownNode(tx);
  if (!lightning || !node) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  if (!(await isConfirmed(tx))) throw new DomainError('UPSTREAM_UNAVAILABLE');
  const invoice = lightning.read(given);
  checkPayable(invoice, { net, network: lightning.network, ownKey: node.key, now: await databaseNow(tx) });
  if (await isKnownHash(tx, invoice.hash)) throw new DomainError('INVALID_ADDRESS', givenBefore);
  return { text: invoiceText(given), invoice };
}

/** What the node is to pay for a refund that has just been claimed. Throws INVALID_ADDRESS where somebody else has
 *  given the invoice meanwhile. */
export async function planRefundPayment(tx: EntityManager, row: RefundRow, named: GivenInvoice): Promise<void> {
  if (!(await planInvoice(tx, 'refund', row, named))) throw new DomainError('INVALID_ADDRESS', givenBefore);
}
