import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { createPaymentActivities } from '../activities';
import type { EndWorkflows, RunningWorkflows } from '../activities/temporal/restart';
import { ServerPlaces } from '../activities/webhooks/server-places';
import { createAdapter, createCodecs } from '../chains/adapters';
import { lightningReader } from '../chains/lightning/node';
import { createMailer } from '../commands/mail/mailer';
import type { Config } from '../domain/config';
import { logOf } from '../domain/log';
import { taskQueues } from '../workflows/messages';
import { startOptions, type WorkflowType } from '../workflows/start-options';
import { DeliveryPool } from './deliveries/pool';
import { Dispatcher } from './dispatcher';
import { logFindings } from './doctor/at-start';
import { readingsOf } from './readings';
import { runProcess, workflowSource, type Process } from './worker';
import { workflowIds } from '../domain/workflow-ids';

/** So many ids are asked for in one query. */
const idsInOneQuery = 200;

/** Those of the workflows that run, by Temporal's index. Ids are ours: no quotation mark is in them. */
const runningIn =
  (client: Client): RunningWorkflows =>
  async (workflowIds) => {
    const alive = new Set<string>();
    for (let n = 0; n < workflowIds.length; n += idsInOneQuery) {
      const ids = workflowIds.slice(n, n + idsInOneQuery).map((id) => `'${id}'`);
      const query = `WorkflowId IN (${ids.join(', ')}) AND ExecutionStatus = 'Running'`;
      for await (const { workflowId } of client.workflow.list({ query, pageSize: idsInOneQuery }))
        alive.add(workflowId);
    }
    return alive;
  };

/** Ends the workflows of a type that were started before a moment. One that has ended meanwhile is no fault. */
const endIn =
  (client: Client): EndWorkflows =>
  async (workflowType, before, reason) => {
    const query =
      `WorkflowType = '${workflowType}' AND ExecutionStatus = 'Running'` + ` AND StartTime < '${before.toISOString()}'`;
    let ended = 0;
    for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: 1000 })) {
      await client.workflow
        .getHandle(workflowId, runId)
        .terminate(reason)
        .catch((error: unknown) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
      ended += 1;
    }
    return ended;
  };

/** What must run once, whatever else runs: started by every payments worker, kept by Temporal. */
async function startSingletons(
  client: Client,
  { networks, SWAP_PROVIDER: swaps, LIGHTNING_URL: lightning, LIGHTNING_WITHDRAWALS: paysByLightning }: Config,
): Promise<void> {
  const wanted: Array<[type: WorkflowType, workflowId: string, args: string[], summary?: string]> = [
    ['keepRates', workflowIds.rates, []],
    ...(swaps ? [['keepSwapRates', workflowIds.swapRates, []] satisfies [WorkflowType, string, string[]]] : []),
    ['keepAudit', workflowIds.audit, []],
    ['keepReconciled', workflowIds.reconcile, []],
    ['keepReconciliation', workflowIds.reconciliation, []],
    ['keepTreasury', workflowIds.treasury, []],
    ...(lightning ? [['followLightning', workflowIds.lightning, []] satisfies [WorkflowType, string, string[]]] : []),
    ...(paysByLightning
      ? [['payLightning', workflowIds.lightningPayments, []] satisfies [WorkflowType, string, string[]]]
      : []),
    ...networks.map((network): (typeof wanted)[number] => [
      'followChain',
      workflowIds.chain(network),
      [network],
      `Follower of ${network}`,
    ]),
  ];
  for (const [type, workflowId, args, summary] of wanted) {
    try {
      await client.workflow.start(type, {
        ...startOptions(type, summary === undefined ? {} : { summary }),
        workflowId,
        args,
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
}

/** First attempts and repeats of deliveries share the places at a server. */
const places = new ServerPlaces();

const assemble = async ({ config, db, log, client, onStop, onMetrics }: Process): Promise<WorkerOptions[]> => {
  onMetrics(readingsOf(config, log));
  const dispatcher = new Dispatcher(db, config.DATABASE_URL, client, log);
  const lightning = lightningReader(config);
  await startSingletons(client, config);
  dispatcher.start();
  onStop(() => dispatcher.stop());
  void logFindings(config, log);
  const mailer = createMailer(config);
  onStop(() => mailer.close());
  const adapters = config.networks.map((network) => createAdapter(network, config));
  const work = {
    activities: createPaymentActivities({
      db,
      config,
      log,
      deliveryLog: logOf(log, 'deliveries', config.LOG_LEVELS),
      codecs: createCodecs(config.chain),
      adapters,
      lightning,
      running: runningIn(client),
      endWorkflows: endIn(client),
      mailer,
      places,
    }),
  };
  return [
    {
      taskQueue: taskQueues.payments,
      ...workflowSource(),
      ...work,
      maxConcurrentActivityTaskExecutions: 40,
      maxCachedWorkflows: config.NODE_ENV === 'production' ? 500 : 50,
    },
    { taskQueue: taskQueues.webhooks, ...work, maxConcurrentActivityTaskExecutions: 100 },
  ];
};

void runProcess('payments', assemble, ({ config, db, log, onStop }) => {
  const pool = new DeliveryPool(db, config, places, logOf(log, 'deliveries', config.LOG_LEVELS));
  pool.start();
  onStop(() => pool.stop());
});
