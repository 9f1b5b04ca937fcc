import type { EntityManager } from 'typeorm';
import { endIntent, type IntentRow, type NewIntent } from '../txmanager/intents';

/** An orphaned intent: a sweep, or its gas, that was planned for deposits which its payment does not have now.
 *  `signed`: how many attempts it has. */
export type OrphanedIntent = IntentRow & { signed: number; nonce: number | null; unit_price: string | null };

/** Those of a payment, and those of its relatives that hold a nonce of these addresses or these coins; locked.
 *  `firstId`: the payment whose addresses they are. Those whose end is in the ledger are not among them. */
export const orphanedIntents = (
  tx: EntityManager,
  of: Readonly<{ paymentId: string; firstId: string; addresses: readonly string[]; depositIds: readonly string[] }>,
): Promise<OrphanedIntent[]> =>
  tx.query<OrphanedIntent[]>(
    `SELECT i.*, a.signed, a.nonce, a.unit_price FROM intent i JOIN payment p ON p.id = i.payment_id
        CROSS JOIN LATERAL (SELECT count(*)::int AS signed, max(nonce) AS nonce, max(unit_price)::text AS unit_price
                              FROM attempt WHERE intent_id = i.id) a
      WHERE i.payment_id IN (SELECT $4 UNION ALL SELECT id FROM payment WHERE parent_payment_id = $4)
        AND (i.payment_id = $1 OR i.from_address = ANY($2) OR i.kind = 'gas' AND i.outputs->0->>'address' = ANY($2)
             OR i.deposit_ids && $3::bigint[])
        AND (i.kind = 'sweep' AND NOT EXISTS (SELECT FROM journal WHERE key = 'sweep/' || i.id)
             OR i.kind = 'gas' AND p.status <> 'SETTLED')
        AND (i.status NOT IN ('failed', 'dead')
               AND EXISTS (SELECT FROM deposit d WHERE d.id = ANY(i.deposit_ids) AND NOT (
                 d.status = 'confirmed' AND d.allocation = 'unsettled'
                 AND coalesce(d.child_payment_id, d.payment_id) = i.payment_id))
             OR i.status = 'dead' AND a.signed > 0)
      ORDER BY a.nonce NULLS LAST, i.id FOR UPDATE OF i`,
    [of.paymentId, of.addresses, of.depositIds, of.firstId],
  );

/** Has an orphaned intent, signed or not, go on for these deposits. `isSame`: what was signed for it is right for
 *  them too. Its budget pays for whatever replaces what is signed. */
export async function repointIntent(
  tx: EntityManager,
  old: OrphanedIntent,
  to: Pick<
    NewIntent,
    | 'outputs'
    | 'deposit_ids'
    | 'max_unit_price'
    | 'fee_budget'
    | 'payment_id'
    | 'merchant_id'
    | 'owner_kind'
    | 'owner_id'
  >,
  isSame: boolean,
): Promise<void> {
  await tx.query(
    `UPDATE intent SET outputs = $2, deposit_ids = $3, max_unit_price = $4, payment_id = $5, merchant_id = $6,
            owner_kind = $7, owner_id = $11,
            fee_budget = greatest($10, (SELECT ceil(max(max_fee_units) * 9 / 8) FROM attempt WHERE intent_id = $1)),
            void_through = CASE WHEN $8 THEN void_through ELSE $9 END,
            gas_limit = CASE WHEN $9 = 0 THEN NULL ELSE gas_limit END,
            status = CASE status WHEN 'dead' THEN 'stored' ELSE status END, updated_at = now()
      WHERE id = $1`,
    [
      old.id,
      JSON.stringify(to.outputs),
      to.deposit_ids,
      to.max_unit_price,
      to.payment_id,
      to.merchant_id,
      to.owner_kind,
      isSame,
      old.signed,
      to.fee_budget,
      to.owner_id,
    ],
  );
  await tx.query('DELETE FROM coin_lock WHERE intent_id = $1 AND NOT deposit_id = ANY($2::bigint[])', [
    old.id,
    to.deposit_ids,
  ]);
}

/** Sets an orphaned intent superseded: what was signed for it is looked for in the chain, and not sent again until it
 *  is reassigned. */
export async function supersede(tx: EntityManager, intentId: string): Promise<void> {
  await endIntent(tx, intentId);
  await tx.query(`DELETE FROM coin_lock WHERE intent_id = (SELECT id FROM intent WHERE id = $1 AND status = 'dead')`, [
    intentId,
  ]);
}
