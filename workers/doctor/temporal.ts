import { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { Config } from '../../domain/config';
import { fault, good, warning, type Finding } from '../../domain/finding';
import { taskQueues } from '../../workflows/messages';
import { attributeTypes } from '../search-attributes';

/** Temporal's code of what is not there. */
const notFound = 5;
const day = 86_400;
/** A worker asks for tasks once a minute at least; Temporal remembers who asked for five. */
const seenSeconds = 90;

/** The namespace, its search attributes and how long it keeps histories; with `isRunning`, who works on each queue. */
export async function checkTemporal(config: Config, isRunning: boolean): Promise<Finding[]> {
  const connection = await Connection.connect({
    address: config.TEMPORAL_ADDRESS,
    tls: config.TEMPORAL_TLS || undefined,
    apiKey: config.TEMPORAL_API_KEY || undefined,
    connectTimeout: 5000,
  });
  try {
    const found = await namespace(connection, config.TEMPORAL_NAMESPACE);
    const isThere = found.some(({ state }) => state === 'good');
    return isRunning && isThere ? [...found, ...(await workers(connection, config))] : found;
  } finally {
    await connection.close();
  }
}

async function namespace(connection: Connection, name: string): Promise<Finding[]> {
  let kept: number;
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace: name });
    kept = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  } catch (error) {
    if ((error as { code?: number }).code !== notFound) throw error;
    return [
      fault(
        `Temporal has no namespace '${name}'`,
        `Create it (temporal operator namespace create -n ${name} --retention 30d), or set TEMPORAL_NAMESPACE`,
      ),
    ];
  }
  const known = await connection.operatorService.listSearchAttributes({ namespace: name });
  const custom = known.customAttributes ?? {};
  const missing = attributeTypes.filter((one) => !(one.name in custom)).map((one) => one.name);
  const other = attributeTypes.filter((one) => one.name in custom && custom[one.name] !== one.type);
  return [
    good(`Temporal answers; namespace ${name}`),
    kept < day
      ? warning(
          `Histories are thrown away ${Math.round(kept / 3600)} hours after their end`,
          'Keep them for a day at least, better for 30: temporal operator namespace update --retention 30d',
        )
      : good(`Histories are kept for ${Math.round(kept / 3600)} hours`),
    missing.length
      ? fault(`The search attributes ${missing.join(', ')} are missing`, 'A worker adds them when it starts: start one')
      : good('The search attributes are there'),
    ...other.map(({ name: attribute, word }) =>
      fault(
        `The search attribute ${attribute} is no ${word}: Temporal refuses what workflows write to it`,
        `Take it out of the namespace (temporal operator search-attribute remove --name ${attribute}); ` +
          'a worker adds it when it starts',
      ),
    ),
  ];
}

async function workers(connection: Connection, config: Config): Promise<Finding[]> {
  const { TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;
  const queues: ReadonlyArray<readonly [queue: string, process: string]> = [
    [taskQueues.payments, 'worker-payments'],
    [taskQueues.webhooks, 'worker-payments'],
    [taskQueues.signer, 'the signer'],
    ...(config.LIGHTNING_URL ? [[taskQueues.lightning, 'worker-chain for bitcoin'] as const] : []),
    ...config.networks.map((network) => [taskQueues.chain(network), `worker-chain for ${network}`] as const),
  ];
  return Promise.all(
    queues.map(async ([name, process]): Promise<Finding> => {
      const { pollers } = await connection.workflowService.describeTaskQueue({
        namespace: config.TEMPORAL_NAMESPACE,
        taskQueue: { name },
        taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
      });
      const since = Date.now() / 1000 - seenSeconds;
      const alive = (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > since);
      return alive.length
        ? good(`${alive.length} at work on the queue ${name}`)
        : fault(`Nobody works on the queue ${name}`, `Start ${process}, and read its log if it runs`);
    }),
  );
}
