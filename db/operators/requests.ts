import type { EntityManager } from 'typeorm';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { operatorRequestEntity } from './entities';

/** Requests of operators, and who has confirmed them. A trigger refuses an execution without two confirmations. */

/** `expired` is an open one whose time is over. */
export const requestStates = ['open', 'executed', 'cancelled', 'expired'] as const;
export type RequestState = (typeof requestStates)[number];

export type OperatorRequest = Readonly<
  Omit<RowOf<typeof operatorRequestEntity>, 'state' | 'asked_by'> & {
    state: RequestState;
    /** In the order in which they came. */
    confirmations: ReadonlyArray<Readonly<{ userId: string; sessionId: string; name: string; at: string }>>;
  }
>;

const columns = `r.id, r.kind, r.payload, r.summary, r.reason, r.asked_by_name, r.asked_at, r.expires_at, r.outcome,
  r.ended_at, r.ended_by_name,
  CASE WHEN r.state = 'open' AND clock_timestamp() >= r.expires_at THEN 'expired' ELSE r.state END AS state,
  coalesce((SELECT jsonb_agg(jsonb_build_object('userId', c.user_id, 'sessionId', c.session_id, 'name', c.user_name,
      'at', c.confirmed_at) ORDER BY c.confirmed_at, c.user_id)
    FROM operator_confirmation c WHERE c.request_id = r.id), '[]') AS confirmations`;

/** Newest first, older than `cursor`. */
export const listRequests = (
  db: Queryable,
  { state, cursor, limit }: Readonly<{ state: RequestState | null; cursor: string | null; limit: number }>,
): Promise<OperatorRequest[]> =>
  db.query<OperatorRequest[]>(
    `SELECT * FROM (SELECT ${columns} FROM operator_request r WHERE $1::text IS NULL OR r.id < $1) one
      WHERE $2::text IS NULL OR one.state = $2 ORDER BY one.id DESC LIMIT $3`,
    [cursor, state, limit],
  );

export async function findRequest(db: Queryable, id: string): Promise<OperatorRequest | null> {
  const [row] = await db.query<OperatorRequest[]>(`SELECT ${columns} FROM operator_request r WHERE r.id = $1`, [id]);
  return row ?? null;
}

/** The request, held until the transaction ends: confirmations of one request take turns. */
export async function lockRequest(tx: EntityManager, id: string): Promise<OperatorRequest | null> {
  await tx.query('SELECT FROM operator_request WHERE id = $1 FOR UPDATE', [id]);
  return findRequest(tx, id);
}

/** Another open request that asks for exactly the same. */
export async function sameOpenRequest(tx: Queryable, kind: string, payload: object): Promise<string | null> {
  const [row] = await tx.query<Array<{ id: string }>>(
    `SELECT id FROM operator_request
      WHERE state = 'open' AND expires_at > clock_timestamp() AND kind = $1 AND payload = $2 LIMIT 1`,
    [kind, JSON.stringify(payload)],
  );
  return row?.id ?? null;
}

export type NewRequest = Pick<OperatorRequest, 'id' | 'kind' | 'payload' | 'summary' | 'reason'> &
  Readonly<{ askedBy: string | null; askedByName: string; hours: number }>;

export const insertRequest = (tx: Queryable, request: NewRequest): Promise<unknown> =>
  tx.query(
    `INSERT INTO operator_request (id, kind, payload, summary, reason, asked_by, asked_by_name, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(hours => $8))`,
    [
      request.id,
      request.kind,
      JSON.stringify(request.payload),
      request.summary,
      request.reason,
      request.askedBy,
      request.askedByName,
      request.hours,
    ],
  );

export const insertConfirmation = (
  tx: Queryable,
  requestId: string,
  by: Readonly<{ userId: string; sessionId: string; name: string }>,
): Promise<unknown> =>
  tx.query('INSERT INTO operator_confirmation (request_id, user_id, session_id, user_name) VALUES ($1, $2, $3, $4)', [
    requestId,
    by.userId,
    by.sessionId,
    by.name,
  ]);

export const endRequest = (
  tx: Queryable,
  id: string,
  end: Readonly<{ state: 'executed' | 'cancelled'; outcome: string; by: string }>,
): Promise<unknown> =>
  tx.query(
    `UPDATE operator_request SET state = $2, outcome = $3, ended_by_name = $4, ended_at = clock_timestamp()
      WHERE id = $1`,
    [id, end.state, end.outcome, end.by],
  );
