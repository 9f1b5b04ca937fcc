import type { EntityManager } from 'typeorm';
import { newId } from '../../domain/ids';

/** Money that our Lightning node took for nobody: of an invoice whose payment waited for it no more, or of one that no
 *  row is for. Two operators say whose it is. */

export type Taken = Readonly<{
  msat: bigint;
  /** Whose invoice it was, of which the money is unallocated; null: no row is for it. */
  row: Readonly<{ invoiceId: string; paymentId: string; merchantId: string }> | null;
  isClaimed: boolean;
}>;

/** Until the transaction ends nobody else gives this money away. */
export const lockClaim = (tx: EntityManager, hash: string): Promise<unknown> =>
  tx.query<unknown[]>(`SELECT pg_advisory_xact_lock(hashtext('claim-lightning/' || $1::text))`, [hash]);

/** Of a hash: what was taken and is nobody's, or was; null: there is no such money. */
export async function findTaken(tx: EntityManager, hash: string): Promise<Taken | null> {
  type Row = { invoiceId: string; paymentId: string; merchantId: string; msat: string; isClaimed: boolean | null };
  const [row] = await tx.query<Row[]>(
    `SELECT i.id AS "invoiceId", i.payment_id AS "paymentId", p.merchant_id AS "merchantId",
            i.taken_msat::text AS msat, EXISTS (SELECT FROM journal WHERE key = 'claimed/' || i.hash) AS "isClaimed"
       FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
      WHERE i.hash = $1 AND i.state = 'taken' AND NOT i.is_for_payment`,
    [hash],
  );
  if (row) {
    const { msat, isClaimed, ...ofRow } = row;
    return { msat: BigInt(msat), row: ofRow, isClaimed: isClaimed === true };
  }
  const [unknown] = await tx.query<Array<{ msat: string; isOver: boolean | null }>>(
    `SELECT u.msat::text AS msat, EXISTS (
              SELECT FROM operator_request r WHERE r.kind = 'claim-lightning' AND r.state = 'executed'
                 AND r.payload->>'hash' = u.hash) AS "isOver"
       FROM lightning_unknown u
      WHERE u.kind = 'invoice' AND u.hash = $1 AND u.state = 'done'
        AND NOT EXISTS (SELECT FROM lightning_invoice i WHERE i.hash = u.hash)`,
    [hash],
  );
  return unknown ? { msat: BigInt(unknown.msat), row: null, isClaimed: unknown.isOver === true } : null;
}

/** The row that was missing: of a payment of whom the money is given to. The database asks for the two operators. */
export const insertClaimed = (
  tx: EntityManager,
  claim: Readonly<{ requestId: string; hash: string; paymentId: string }>,
): Promise<unknown> =>
  tx.query<unknown[]>('SELECT claim_lightning($1, $2, $3, $4)', [
    claim.requestId,
    claim.hash,
    claim.paymentId,
    newId(),
  ]);
