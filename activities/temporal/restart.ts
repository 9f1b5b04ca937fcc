import type { DataSource } from 'typeorm';
import { applyDueChanges, type SettlementDeps } from '../../commands/wallets/settlement';
import { endInterrupted } from '../../commands/conversions/claim';
import { forgetOldRequests } from '../../db/access/request-retention';
import { forgetOldDeciders } from '../../db/payments/deciders';
import { expirePayers } from '../../db/payments/expire-payers';
import { forgetOldDeliveries } from '../../db/webhooks/deliveries';
import { deliveryAttributes } from '../../db/webhooks/delivery-queue';
import { workflowIds } from '../../domain/workflow-ids';
import { closeRecoveries, openRecovery } from '../../db/recovery/epoch';
import { lostToBook } from '../../db/recovery/lost';
import { bookIntent } from '../../txmanager/book';
import { outgoingKinds } from '../../txmanager/kinds';
import type { OpenRows } from '../../txmanager/kinds/kind';

/** Of these ids of workflows, those that run now, by Temporal's own index, which may be some seconds old. */
export type RunningWorkflows = (workflowIds: readonly string[]) => Promise<ReadonlySet<string>>;
/** Ends what runs of a type and was started before a moment; answers how many there were. */
export type EndWorkflows = (workflowType: string, before: Date, reason: string) => Promise<number>;
type OpenRow = Readonly<{ id: string; attributes: Record<string, string> }>;
export type ReconcileDeps = Readonly<{
  db: DataSource;
  running: RunningWorkflows;
  /** A test may have no Temporal. */
  endWorkflows?: EndWorkflows;
  config: SettlementDeps['config'] & Readonly<{ PAYER_DATA_DAYS: number }>;
  log: { warn(fields: object, text: string): void };
  /** So many payments that nobody has paid are looked at in one look, and ten times as many after a look that has found
   *  one that was lost; those after them in the next. */
  waitingInOneLook?: number;
}>;

const paymentSql = `SELECT p.id, jsonb_build_object('MerchantId', p.merchant_id, 'PaymentStatus', p.status,
    'PaymentId', p.id) AS attributes
  FROM payment p WHERE p.created_at < now() - interval '60 seconds'`;

/** Open rows, each with the workflow that it must have: payments with money, outgoing money, and others. Rows younger
 *  than a minute are the dispatcher's. Invariants: I13. */
const openRows = (): readonly OpenRows[] => [
  {
    workflow: 'payment',
    sql: `${paymentSql}
      AND p.status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED', 'WAITING', 'AWAITING_CURRENCY')`,
  },
  ...outgoingKinds.flatMap((kind) => kind.openRows),
  {
    workflow: 'webhook',
    // The first attempt of a round needs none, and the second asks for it before it is due.
    sql: `SELECT d.id, ${deliveryAttributes} AS attributes FROM delivery d JOIN event e ON e.id = d.event_id
           WHERE d.status IN ('pending', 'retrying') AND d.created_at < now() - interval '60 seconds'
             AND NOT EXISTS (SELECT FROM delivery_queue q WHERE q.delivery_id = d.id)
             AND NOT EXISTS (SELECT FROM temporal_request r WHERE r.workflow_id = 'webhook/' || d.id)`,
  },
  {
    workflow: 'screening',
    sql: `SELECT p.id, jsonb_build_object('MerchantId', p.merchant_id, 'PaymentId', p.id) AS attributes
      FROM aml_due s JOIN payment p ON p.id = s.payment_id
           WHERE s.since < now() - interval '60 seconds'`,
  },
];

/** Parameters: the id after which to go on, and how many. */
const waitingSql = `${paymentSql} AND p.status IN ('WAITING', 'AWAITING_CURRENCY') AND p.id > $1
  ORDER BY p.id LIMIT $2`;

/** Types of workflows that process rows. */
const rowWorkflows = (Object.keys(workflowIds) as Array<keyof typeof workflowIds>).filter(
  (name) => typeof workflowIds[name] === 'function' && !['chain', 'mail', 'askedScreening'].includes(name),
);

/** Finds what lost its workflow, and asks for it again; ends what was interrupted before it began; forgets what is kept
 *  for a time only. */
export const restartActivities = ({
  db,
  running,
  endWorkflows,
  log,
  config,
  waitingInOneLook = 1000,
}: ReconcileDeps) => {
  /** The last unpaid payment that was looked at. */
  let lookedAtUpTo = '';
  let wasOneLost = false;

  /** Of the payments that nobody has paid, those that are next. None needs its workflow before its deadline: news
   *  starts one. */
  async function lookAtWaiting(): Promise<number> {
    const most = wasOneLost ? 10 * waitingInOneLook : waitingInOneLook;
    const waiting = (await db.query(waitingSql, [lookedAtUpTo, most])) as OpenRow[];
    const lost = await askAgain('payment', waiting);
    wasOneLost = lost > 0;
    lookedAtUpTo = waiting.length < most ? '' : waiting.at(-1)!.id;
    return lost;
  }

  /** Of these rows those without a workflow that runs; asks for it again. */
  async function askAgain(workflow: OpenRows['workflow'], rows: readonly OpenRow[]): Promise<number> {
    if (!rows.length) return 0;
    const wanted = rows.map((row) => ({ ...row, workflow_id: workflowIds[workflow](row.id) }));
    const alive = await running(wanted.map((row) => row.workflow_id));
    const lost = wanted.filter((row) => !alive.has(row.workflow_id));
    if (!lost.length) return 0;
    log.warn({ workflow, lost: lost.length }, 'Open rows without a running workflow: asking for it again');
    await db.query(
      `SELECT request_workflow_2('signal', $1, lost.workflow_id, jsonb_build_array(lost.id), 'updated',
                lost.attributes, NULL)
         FROM jsonb_to_recordset($2) AS lost (id text, workflow_id text, attributes jsonb)
        WHERE NOT EXISTS (SELECT FROM temporal_request r WHERE r.workflow_id = lost.workflow_id)`,
      [workflow, JSON.stringify(lost)],
    );
    return lost.length;
  }

  return {
    /** How many workflows had to be asked for again. A signal starts what is missing and does no harm to what runs. */
    async reconcile(): Promise<number> {
      await endForgotten({ db, log, ...(endWorkflows ? { endWorkflows } : {}) });
      for (const id of await lostToBook(db)) await db.transaction((tx) => bookIntent(tx, id));
      let missing = 0;
      for (const { workflow, sql } of openRows())
        missing += await askAgain(workflow, (await db.query(sql)) as OpenRow[]);
      missing += await lookAtWaiting();
      const interrupted = await db.transaction(endInterrupted);
      if (interrupted) log.warn({ interrupted }, 'Conversions interrupted before they began: cancelled');
      await applyDueChanges(db, { config });
      await forgetOldDeliveries(db, 1000);
      await expirePayers(db, config.PAYER_DATA_DAYS, 1000);
      await forgetOldRequests(db);
      await forgetOldDeciders(db);
      return missing;
    },
  };
};

/** A recovery has forgotten rows, and given others back an earlier state: workflows that were started before know what
 *  is no more. They end, and open rows get new ones. */
async function endForgotten({
  db,
  endWorkflows,
  log,
}: Pick<ReconcileDeps, 'db' | 'log' | 'endWorkflows'>): Promise<void> {
  const recovery = await openRecovery(db);
  if (!recovery || !endWorkflows) return;
  let ended = 0;
  for (const workflow of rowWorkflows)
    ended += await endWorkflows(workflow, recovery.begunAt, 'The database was recovered');
  if (ended) log.warn({ ended }, 'Workflows from before a recovery were ended');
  else if (recovery.isOld) await closeRecoveries(db);
}
