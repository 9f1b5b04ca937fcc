import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { requestSignal } from '../temporal/temporal-requests';
import { ownerWorkflow, workflowIds, type IntentOwner, type OwnerKind } from '../../domain/workflow-ids';

/** Notifies a payment's workflow, which looks again. */
export const notifyPayment = (tx: EntityManager, id: string): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'payment',
    workflowId: workflowIds.payment(id),
    args: [id],
    signal: 'updated',
    attributes: { PaymentId: id },
  });
/** Notifies the workflows of the payments that own these deposits, and whoever has their pages open: these speak of a
 *  deposit while no worker counts it. */
export async function notifyOwners(tx: EntityManager, depositIds: readonly string[]): Promise<void> {
  if (!depositIds.length) return;
  const owners = await tx.query<Array<{ owner: string }>>(
    `SELECT DISTINCT coalesce(child_payment_id, payment_id) AS owner FROM deposit
      WHERE id = ANY($1::bigint[]) AND role = 'deposit' AND NOT is_dust AND allocation IS DISTINCT FROM 'own'
        AND payment_id IS NOT NULL`,
    [depositIds],
  );
  for (const { owner } of owners) await notifyPayment(tx, owner);
  await tx.query("SELECT pg_notify('payment_changed', owner) FROM unnest($1::text[]) AS owner", [
    owners.map(({ owner }) => owner),
  ]);
}
/** Notifies the workflows that process these intents, each once. */
export async function notifySenders(
  tx: EntityManager,
  intentIds: readonly string[],
  only: OwnerKind | null = null,
): Promise<void> {
  if (!intentIds.length) return;
  const owners = await tx.query<IntentOwner[]>(
    `SELECT DISTINCT owner_kind AS kind, owner_id AS id FROM intent
      WHERE id = ANY($1::bigint[]) AND owner_kind <> 'lost' AND ($2::text IS NULL OR owner_kind = $2)`,
    [intentIds, only],
  );
  for (const owner of owners)
    await requestSignal(tx, { ...ownerWorkflow(owner), args: [owner.id], signal: 'updated', attributes: {} });
}

/** Notifies those mass payouts alone: many are sent one after the other, and there is room for more. A workflow of a
 *  single intent looks by itself, and a signal would only lengthen its history. */
export const notifyPayouts = (tx: EntityManager, intentIds: readonly string[]): Promise<void> =>
  notifySenders(tx, intentIds, 'payout-batch');

/** Has the workflow run that sends a planned sweep. */
export const startSweep = (tx: EntityManager, payment: PaymentRow, owner: IntentOwner): Promise<unknown> =>
  requestSignal(tx, {
    ...ownerWorkflow(owner),
    args: [owner.id],
    signal: 'updated',
    attributes: {
      MerchantId: payment.merchant_id,
      Currency: payment.currency!,
      Network: payment.network!,
      // A batch has more payments than the one that asks for it.
      ...(owner.kind === 'sweep'
        ? { PaymentId: payment.id, summary: `Sweep of ${payment.currency} of payment ${payment.id}` }
        : {}),
    },
  });
