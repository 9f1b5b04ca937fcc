import type { EntityManager } from 'typeorm';
import { requestSignal, workflowTypeOf } from '../temporal/temporal-requests';

const tellPayment = (tx: EntityManager, id: string): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'payment',
    workflowId: `payment/${id}`,
    args: [id],
    signal: 'updated',
    attributes: {},
  });
/** Tells the workflows of the payments that own these deposits. */
export async function tellOwners(tx: EntityManager, depositIds: readonly string[]): Promise<void> {
  if (!depositIds.length) return;
  const owners = await tx.query<Array<{ owner: string }>>(
    `SELECT DISTINCT coalesce(child_payment_id, payment_id) AS owner FROM deposit
      WHERE id = ANY($1::bigint[]) AND role = 'deposit' AND NOT is_dust AND home IS DISTINCT FROM 'own'`,
    [depositIds],
  );
  for (const { owner } of owners) await tellPayment(tx, owner);
}
/** Tells the workflows that carry these intents, each once. */
export async function tellSenders(tx: EntityManager, intentIds: readonly string[], only = '%'): Promise<void> {
  if (!intentIds.length) return;
  const rows = await tx.query<Array<{ owner: string }>>(
    `SELECT DISTINCT owner_workflow AS owner FROM intent WHERE id = ANY($1::bigint[]) AND owner_workflow LIKE $2`,
    [intentIds, only],
  );
  for (const { owner } of rows)
    await requestSignal(tx, {
      workflow: workflowTypeOf(owner),
      workflowId: owner,
      args: [owner.split('/')[1]],
      signal: 'updated',
      attributes: {},
    });
}
/** Tells those mass payouts alone: many are sent one after the other, and there is room for more. Whoever carries a single intent looks
 *  by itself, and a signal would only lengthen its history. */

export const tellPayouts = (tx: EntityManager, intentIds: readonly string[]): Promise<void> =>
  tellSenders(tx, intentIds, 'payout-batch/%');
