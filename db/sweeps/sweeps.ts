import type { EntityManager } from 'typeorm';
import { dropShares, sharesOf } from '../txmanager/intents';
import { notifyPayment } from '../chains/notify';
import { openIncident } from '../incidents';

/** Is this the first batch by a sweeper that has reached its destination? It makes what all later ones delegate to.
 *  `sweeper`: the contract's address, which the bytes of its transactions name. */
export async function isFirstBatch(
  tx: EntityManager,
  batch: Readonly<{ id: string; network: string }>,
  { destination, sweeper }: Readonly<{ destination: string; sweeper: string }>,
): Promise<boolean> {
  const [earlier] = await tx.query<unknown[]>(
    `SELECT FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final'
      WHERE i.owner_kind = 'sweep-batch' AND i.network = $2 AND i.outputs->0->>'address' = $3
        AND i.status = 'final' AND i.id < $1 AND position($4 in lower(a.raw)) > 0 LIMIT 1`,
    [batch.id, batch.network, destination, sweeper.replace(/^0x/, '').toLowerCase()],
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
