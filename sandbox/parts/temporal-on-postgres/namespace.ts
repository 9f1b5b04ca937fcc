import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { registerSearchAttributes } from '../../../workers/search-attributes';

const namespace = 'default';
/** The namespace of the development server keeps a history so long after its end. */
const retention = '24h';
/** Temporal's code of what is not there. */
const notFound = 5;

/** Whether each service of the server does what clients ask of it: the frontend knows the namespace, history and
 *  matching look for what is not there, visibility searches by an attribute of ours. A namespace that is missing is
 *  made, with its search attributes. Throws where the server is not so far yet. */
export async function isServing(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2000 });
  try {
    return await connection.withDeadline(Date.now() + 5000, async () => {
      await ensureNamespace(connection);
      await registerSearchAttributes(connection, namespace);
      await askEach(connection);
      return true;
    });
  } finally {
    await connection.close();
  }
}

async function ensureNamespace({ workflowService }: Connection): Promise<void> {
  try {
    await workflowService.describeNamespace({ namespace });
  } catch (error) {
    if ((error as { code?: number }).code !== notFound) throw error;
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(retention) });
  }
}

async function askEach({ workflowService }: Connection): Promise<void> {
  await workflowService.describeTaskQueue({ namespace, taskQueue: { name: 'nobody' } });
  await workflowService.countWorkflowExecutions({ namespace, query: `Kind = 'nothing'` });
  const looked = workflowService.describeWorkflowExecution({ namespace, execution: { workflowId: 'nobody' } });
  await looked.catch((error: Error) => {
    // That the namespace is not found has the same code, and is another matter.
    if (!/workflow not found/i.test(error.message)) throw error;
  });
}
