import type { Queryable } from '../query';

/** Whose data it is: of a payment, of a customer of a merchant, or of an address. */
export type Payers =
  | Readonly<{ by: 'payment'; paymentId: string }>
  | Readonly<{ by: 'customer'; merchantId: string; customerId: string }>
  | Readonly<{ by: 'email'; email: string }>;

export type Erased = { payment_id: string; outcome: 'erased' | 'nothing' | 'open' };

/** Deletes what payers said of themselves; each payment found, and what became of it. */
export function erasePayers(
  tx: Queryable,
  payers: Payers,
  { actor, reason }: Readonly<{ actor: string; reason: string }>,
): Promise<Erased[]> {
  const merchant = payers.by === 'customer' ? payers.merchantId : null;
  const value =
    payers.by === 'payment' ? payers.paymentId : payers.by === 'customer' ? payers.customerId : payers.email;
  return tx.query<Erased[]>('SELECT payment_id, outcome FROM erase_payers($1, $2, $3, $4, $5)', [
    payers.by,
    merchant,
    value,
    actor,
    reason,
  ]);
}
