import type { Queryable } from '../query';

/** Deposit addresses of one payment, one per asset that was chosen for it. */

/** So many addresses an invoice may draw: each is watched and derived for ever. Invariants: 8, public actions. */
const mostAddresses = 10;

/** The address that a payment has for an asset; `isFull`: it has drawn as many as it may. */
export async function addressOf(
  db: Queryable,
  paymentId: string,
  currency: string,
): Promise<{ address: string | null; isFull: boolean }> {
  const rows = await db.query<Array<{ address: string; currency: string | null }>>(
    `SELECT address, currency FROM address WHERE payment_id = $1 AND role = 'deposit' ORDER BY branch DESC, key_index`,
    [paymentId],
  );
  return {
    address: rows.find((row) => row.currency === currency)?.address ?? null,
    isFull: rows.length >= mostAddresses,
  };
}
