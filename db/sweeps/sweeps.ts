import type { EntityManager } from 'typeorm';
import { dropShares, sharesOf } from '../txmanager/intents';
import { notifyPayment } from '../chains/notify';
import { openIncident } from '../incidents';

/** Is this the first batch that has reached its destination? It makes what all later ones delegate to. */
export async function isFirstBatch(
  tx: EntityManager,
  batch: Readonly<{ id: string; network: string }>,
  destination: string,
): Promise<boolean> {
  const [earlier] = await tx.query<unknown[]>(
    `SELECT FROM intent WHERE owner_kind = 'sweep-batch' AND network = $2 AND outputs->0->>'address' = $3
        AND status = 'final' AND id < $1 LIMIT 1`,
    [batch.id, batch.network, destination],
  );
  return earlier === undefined;
}

/** The payments of a batch that has failed go on by themselves; whoever is notified plans anew. */
export async function disband(tx: EntityManager, intentId: string, because: string): Promise<void> {
  const shares = await sharesOf(tx, intentId);
  if (!shares.length) return;
  await dropShares(tx, shares, because);
  await openIncident(tx, {
    kind: 'sweep-batch-failed',
    subject: { kind: 'intent', id: intentId },
    details: { intentId, because, payments: shares.map((one) => one.payment_id) },
  });
  for (const share of shares) await notifyPayment(tx, share.payment_id);
}
