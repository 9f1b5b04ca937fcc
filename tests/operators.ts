import type { DataSource } from 'typeorm';
import { newId } from '../domain/ids';
import { confirmRequest, fileRequest, type Operator } from '../commands/operators/requests';
import type { OperatorRequest } from '../db/operators/requests';

/** An operator of long standing with a session, as a login leaves them. */
export async function anOperator(db: DataSource): Promise<Operator> {
  const [userId, sessionId] = [newId(), newId()];
  const name = `operator.${userId}@example.com`;
  const [user] = await db.query<Array<{ created_at: Date }>>(
    `INSERT INTO dashboard_user (id, email, display_name, role, password_hash, created_at)
     VALUES ($1, $2, $2, 'super_admin', 'none', now() - interval '2 days') RETURNING created_at`,
    [userId, name],
  );
  await db.query(
    `INSERT INTO user_session (id, user_id, session_version, ip, user_agent, expires_at)
     VALUES ($1, $2, 1, '127.0.0.1', 'test', now() + interval '1 day')`,
    [sessionId, userId],
  );
  const actor = { kind: 'user', id: userId, name, ip: '127.0.0.1', requestId: newId() } as const;
  return { userId, sessionId, createdAt: user!.created_at, actor };
}

/** An act on money as it is done: asked for by a shell, and confirmed by two operators. Throws what refuses it. */
export async function byTwoOperators(
  db: DataSource,
  kind: string,
  payload: Readonly<Record<string, string>>,
): Promise<OperatorRequest> {
  const shell = { kind: 'operator', id: null, name: 'root@host', ip: 'shell', requestId: newId() } as const;
  const { id } = await db.transaction((tx) => fileRequest(tx, shell, { kind, payload, reason: 'a test' }));
  let request: OperatorRequest | null = null;
  for (const operator of [await anOperator(db), await anOperator(db)])
    request = await db.transaction((tx) => confirmRequest(tx, operator, id));
  return request!;
}
