import type { EntityManager } from 'typeorm';

type Target = Readonly<{
  /** Workflow type. */
  workflow: string;
  workflowId: string;
  args: readonly unknown[];
  /** Search attributes by name, and `summary` for the operator's list. */
  attributes: Readonly<Record<string, string>>;
}>;

/** Asks for a workflow in the transaction that needs it; the dispatcher starts it after the commit, once. */
export const requestStart = (tx: EntityManager, target: Target): Promise<unknown> =>
  tx.query(`SELECT request_workflow('start', $1, $2, $3, NULL, $4)`, [
    target.workflow,
    target.workflowId,
    JSON.stringify(target.args),
    target.attributes,
  ]);

/** Asks for a signal to a workflow, which is started where it does not run. */
export const requestSignal = (tx: EntityManager, target: Target & { signal: string }): Promise<unknown> =>
  tx.query(`SELECT request_workflow('signal', $1, $2, $3, $4, $5)`, [
    target.workflow,
    target.workflowId,
    JSON.stringify(target.args),
    target.signal,
    target.attributes,
  ]);
