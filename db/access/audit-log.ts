import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../domain/ids';
import { inBatches } from '../batches';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { auditLogEntity } from './entities';

/** Every act that concerns security: who, what, when, from where, before and after. Never a secret. */

export type Actor = Readonly<{
  kind: 'user' | 'key' | 'operator' | 'anonymous';
  id: string | null;
  name: string;
  ip: string;
  requestId: string;
}>;

export type Act = Readonly<{
  merchantId: string | null;
  action: string;
  target?: string | null;
  before?: Readonly<Record<string, unknown>> | null;
  after?: Readonly<Record<string, unknown>> | null;
}>;

/** Whether two states of the same thing differ. A change that changes nothing is no act. */
export const isChange = (before: object, after: object): boolean => !isDeepStrictEqual(before, after);

/** Writes it in the transaction of the act. */
export const recordAct = (tx: Queryable, actor: Actor, act: Act): Promise<unknown> =>
  tx.query(
    `INSERT INTO audit_log (merchant_id, actor_kind, actor_id, actor_name, action, target, before, after, ip,
       request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      act.merchantId,
      actor.kind,
      actor.id,
      actor.name,
      act.action,
      act.target ?? null,
      act.before ?? null,
      act.after ?? null,
      actor.ip,
      actor.requestId || newId(),
    ],
  );

export type ActRow = Omit<RowOf<typeof auditLogEntity>, 'merchant_id'>;

export type ActFilter = Readonly<{ actor?: string; action?: string; from?: string; to?: string }>;

/** A merchant's acts, newest first, older than `cursor`. */
export const actsOf = (
  db: Queryable,
  merchantId: string,
  filter: ActFilter & Readonly<{ cursor?: string | undefined; limit: number }>,
): Promise<ActRow[]> =>
  db.query<ActRow[]>(
    `SELECT id::text, at, actor_kind, actor_id, actor_name, action, target, before, after, ip, request_id FROM audit_log
      WHERE merchant_id = $1 AND ($2::text IS NULL OR actor_id = $2 OR actor_name = lower($2))
        AND ($3::text IS NULL OR action = $3)
        AND ($4::timestamptz IS NULL OR at >= $4) AND ($5::timestamptz IS NULL OR at < $5)
          AND ($6::bigint IS NULL OR id < $6)
      ORDER BY audit_log.id DESC LIMIT $7`,
    [
      merchantId,
      filter.actor ?? null,
      filter.action ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.cursor ?? null,
      filter.limit,
    ],
  );

/** All that a filter finds, newest first, a batch at a time. */
export const exportActs = (db: Queryable, merchantId: string, filter: ActFilter) =>
  inBatches(actBatches, (cursor, limit) => actsOf(db, merchantId, { ...filter, cursor, limit }));

/** How acts are read into a file. */
export const actBatches = { size: 1000, from: undefined as string | undefined, cursorOf: ({ id }: ActRow) => id };
