import type { EntityManager } from 'typeorm';
import { newId } from '../../domain/ids';
import type { Actor } from '../access/audit-log';
import { changedRows, type Queryable } from '../query';
import type { RowOf } from '../entity';
import type { paymentDeciderEntity } from './entities';

/** Who decides about a payment by its workflow: kept from the request until the decision, because payloads of workflows
 *  name rows by their ids and hold nothing of a person. */

/** Returns the id by which the workflow's activity finds them. */
export async function keepDecider(db: Queryable, paymentId: string, actor: Actor): Promise<string> {
  const id = newId();
  await db.query(
    `INSERT INTO payment_decider (id, payment_id, actor_kind, actor_id, actor_name, ip, request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, paymentId, actor.kind, actor.id, actor.name, actor.ip, actor.requestId],
  );
  return id;
}

type Row = Pick<RowOf<typeof paymentDeciderEntity>, 'actor_kind' | 'actor_id' | 'actor_name' | 'ip' | 'request_id'>;

/** Who it was, once: a repeat finds nobody, and neither does a workflow that an older release has asked. */
export async function takeDecider(tx: EntityManager, paymentId: string, id?: string): Promise<Actor | null> {
  if (id === undefined) return null;
  const [row] = await changedRows<Row>(
    tx,
    `DELETE FROM payment_decider WHERE id = $1 AND payment_id = $2
     RETURNING actor_kind, actor_id, actor_name, ip, request_id`,
    [id, paymentId],
  );
  if (!row) return null;
  return { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, ip: row.ip, requestId: row.request_id };
}

/** Forgets who asked for what no workflow has taken up. */
export const forgetOldDeciders = (db: Queryable): Promise<unknown> =>
  db.query(`DELETE FROM payment_decider WHERE created_at < now() - interval '1 day'`);
