import type { Receiver } from '../../domain/payments/receiver';
import type { Queryable } from '../query';

/** Deposit addresses of one payment, one per asset that was chosen for it. */

/** So many addresses an invoice may draw: each is watched and derived for ever. Invariants: 8, public actions. */
const mostAddresses = 10;

/** An address of ours, with the tag of the payment where others have the address too. */
export type PaymentReceiver = Pick<Receiver, 'address' | 'tag'>;

/** What a payment has for an asset; `isFull`: it has drawn as many as it may. */
export async function receiverOfPayment(
  db: Queryable,
  paymentId: string,
  currency: string,
): Promise<{ known: PaymentReceiver | null; isFull: boolean }> {
  const rows = await db.query<Array<{ address: string; tag: string; currency: string | null }>>(
    `SELECT address, tag, currency FROM address WHERE payment_id = $1 AND role = 'deposit' AND NOT is_elsewhere
      ORDER BY branch DESC, key_index, length(tag), tag`,
    [paymentId],
  );
  const own = rows.find((row) => row.currency === currency);
  return {
    known: own ? { address: own.address, tag: own.tag === '' ? null : own.tag } : null,
    isFull: rows.length >= mostAddresses,
  };
}

/** Is it the treasury's own account, which payments of a network with tags share? */
export async function isSharedAccount(db: Queryable, network: string, address: string): Promise<boolean> {
  const [row] = await db.query<Array<{ isShared: boolean }>>('SELECT is_shared_account($1, $2) AS "isShared"', [
    network,
    address,
  ]);
  return row!.isShared;
}
