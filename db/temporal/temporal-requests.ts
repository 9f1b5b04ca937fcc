import type { EntityManager } from 'typeorm';
import { traceparentNow } from '../../domain/tracing';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { temporalRequestEntity } from './entities';

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
  tx.query(`SELECT request_workflow_2('start', $1, $2, $3, NULL, $4, $5)`, [
    target.workflow,
    target.workflowId,
    JSON.stringify(target.args),
    target.attributes,
    traceparentNow(),
  ]);

/** Asks for a signal to a workflow, which is started where it does not run. */
export const requestSignal = (tx: EntityManager, target: Target & { signal: 'updated' }): Promise<unknown> =>
  tx.query(`SELECT request_workflow_2('signal', $1, $2, $3, $4, $5, $6)`, [
    target.workflow,
    target.workflowId,
    JSON.stringify(target.args),
    target.signal,
    target.attributes,
    traceparentNow(),
  ]);

/** A request that this dispatcher holds until `claimed_until`; another may take it then. */
export type ClaimedRequest = Pick<
  RowOf<typeof temporalRequestEntity>,
  'id' | 'kind' | 'workflow' | 'workflow_id' | 'args' | 'signal' | 'attributes' | 'tries' | 'traceparent'
> &
  Readonly<{
    /** How long its workflow sleeps unless it is told of something, in milliseconds; null: it begins at once. */
    start_delay_ms: number | null;
  }>;

/** Takes the oldest requests that nobody holds: those that wait behind all others with `isBehind`, or the others. Two
 *  dispatchers never take the same one. */
export const claimRequests = (
  db: Queryable,
  limit: number,
  holdSeconds: number,
  isBehind: boolean,
): Promise<ClaimedRequest[]> =>
  db.query<ClaimedRequest[]>(
    `WITH claimed AS (
       UPDATE temporal_request SET claimed_until = now() + make_interval(secs => $2), tries = tries + 1
        WHERE id IN (
          SELECT id FROM temporal_request WHERE is_behind = $3 AND (claimed_until IS NULL OR claimed_until < now())
            ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
        RETURNING id, kind, workflow, workflow_id, args, signal, attributes, tries, traceparent,
                  ceil(extract(epoch FROM start_at - now()) * 1000)::float8 AS start_delay_ms)
     SELECT * FROM claimed`,
    [limit, holdSeconds, isBehind],
  );

/** Temporal has acknowledged them. */
export const completeRequests = (db: Queryable, ids: readonly string[]): Promise<unknown> =>
  db.query('DELETE FROM temporal_request WHERE id = ANY($1::bigint[])', [ids]);

/** Temporal has not: they are due again after a pause that grows with their tries, a minute at the most. */
export const postponeRequest = (db: Pick<EntityManager, 'query'>, id: string, error: string): Promise<unknown> =>
  db.query(
    `UPDATE temporal_request SET claimed_until = now() + make_interval(secs => least(60,
       power(2, least(tries, 6)) / 4)), last_error = $2 WHERE id = $1`,
    [id, error],
  );
