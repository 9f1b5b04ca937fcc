import type { DataSource } from 'typeorm';
import { applyDueChanges, type SettlementDeps } from '../../commands/wallets/settlement';
import { endInterrupted } from '../../commands/conversions/claim';
import { forgetOldDeliveries } from '../../db/webhooks/deliveries';
import { workflowIds } from '../../domain/workflow-ids';
import { outgoingKinds } from '../../txmanager/kinds';
import type { OpenRows } from '../../txmanager/kinds/kind';

/** Ids of the workflows of a type that run now, by Temporal's own index, which may be some seconds old. */
export type RunningWorkflows = (workflowType: string) => Promise<ReadonlySet<string>>;
export type ReconcileDeps = Readonly<{
  db: DataSource;
  running: RunningWorkflows;
  config: SettlementDeps['config'];
  log: { warn(fields: object, text: string): void };
}>;

/** Open rows, each with the workflow that it must have: those of outgoing money, and others. Rows younger than a
 *  minute are the dispatcher's. Invariants: I13. */
const openRows = (): readonly OpenRows[] => [
  {
    workflow: 'payment',
    sql: `SELECT p.id, jsonb_build_object('MerchantId', p.merchant_id, 'PaymentStatus', p.status) AS attributes FROM payment p
           WHERE p.status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED') AND p.created_at < now() - interval '60 seconds'`,
  },
  ...outgoingKinds.flatMap((kind) => kind.openRows),
  {
    workflow: 'webhook',
    sql: `SELECT d.id, jsonb_build_object('MerchantId', d.merchant_id) AS attributes FROM delivery d
           WHERE d.status IN ('pending', 'retrying') AND d.created_at < now() - interval '60 seconds'`,
  },
  {
    workflow: 'screening',
    sql: `SELECT p.id, jsonb_build_object('MerchantId', p.merchant_id) AS attributes FROM aml_due s JOIN payment p ON p.id = s.payment_id
           WHERE s.since < now() - interval '60 seconds'`,
  },
];

/** Finds what lost its workflow, and asks for it again; ends what was interrupted before it began; forgets what is kept for a time
 *  only. */
export const reconcileActivities = ({ db, running, log, config }: ReconcileDeps) => ({
  /** How many workflows had to be asked for again. A signal starts what is missing and does no harm to what runs. */
  async reconcile(): Promise<number> {
    let missing = 0;
    for (const { workflow, sql } of openRows()) {
      const rows = (await db.query(sql)) as Array<{ id: string; attributes: Record<string, string> }>;
      if (!rows.length) continue;
      const alive = await running(workflow);
      const lost = rows
        .map((row) => ({ ...row, workflow_id: workflowIds[workflow](row.id) }))
        .filter((row) => !alive.has(row.workflow_id));
      if (!lost.length) continue;
      missing += lost.length;
      log.warn({ workflow, lost: lost.length }, 'Open rows without a running workflow: asking for it again');
      await db.query(
        `SELECT request_workflow('signal', $1, lost.workflow_id, jsonb_build_array(lost.id), 'updated', lost.attributes)
           FROM jsonb_to_recordset($2) AS lost (id text, workflow_id text, attributes jsonb)
          WHERE NOT EXISTS (SELECT FROM temporal_request r WHERE r.workflow_id = lost.workflow_id)`,
        [workflow, JSON.stringify(lost)],
      );
    }
    const interrupted = await db.transaction(endInterrupted);
    if (interrupted) log.warn({ interrupted }, 'Conversions interrupted before they began: cancelled');
    await applyDueChanges(db, { config });
    await forgetOldDeliveries(db, 1000);
    return missing;
  },
});
