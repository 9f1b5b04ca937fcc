import type { EntityManager } from 'typeorm';
import { requestSignal } from '../../db/temporal/temporal-requests';
import { deliveryAttributes, enqueue, moveToFront } from '../../db/webhooks/delivery-queue';
import { DomainError } from '../../domain/errors';
import { workflowIds } from '../../domain/workflow-ids';

/** Sends it now: a delivery that is over starts a new round, one that waits is tried at once. Throws
 *  DELIVERY_NOT_FOUND, and WEBHOOK_ENDPOINT_NOT_FOUND or WEBHOOK_ENDPOINT_INACTIVE where nothing can be sent there. */
export async function redeliver(tx: EntityManager, merchantId: string, id: string): Promise<void> {
  const [delivery] = await tx.query<
    Array<{ is_over: boolean; is_known: boolean; is_on: boolean; attributes: Record<string, string> }>
  >(
    `SELECT d.status NOT IN ('pending', 'retrying') AS is_over, d.endpoint = 'ipn' OR w.id IS NOT NULL AS is_known,
            CASE WHEN d.endpoint = 'ipn' THEN m.ipn_enabled ELSE w.is_active END AS is_on,
            ${deliveryAttributes} AS attributes
       FROM delivery d JOIN merchant m ON m.id = d.merchant_id JOIN event e ON e.id = d.event_id
         LEFT JOIN webhook_endpoint w ON w.id = d.endpoint::char(24)
      WHERE d.id = $1 AND d.merchant_id = $2 FOR UPDATE OF d`,
    [id, merchantId],
  );
  if (!delivery) throw new DomainError('DELIVERY_NOT_FOUND');
  if (!delivery.is_known) throw new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND');
  if (!delivery.is_on) throw new DomainError('WEBHOOK_ENDPOINT_INACTIVE');
  if (delivery.is_over) {
    await tx.query(
      `UPDATE delivery SET status = 'pending', attempts_before = attempts, next_attempt_at = now(), updated_at = now()
        WHERE id = $1`,
      [id],
    );
    return void (await enqueue(tx, id));
  }
  await tx.query('UPDATE delivery SET next_attempt_at = now(), updated_at = now() WHERE id = $1', [id]);
  if (await moveToFront(tx, id)) return;
  await requestSignal(tx, {
    workflow: 'webhook',
    workflowId: workflowIds.webhook(id),
    args: [id],
    signal: 'updated',
    attributes: delivery.attributes,
  });
}
