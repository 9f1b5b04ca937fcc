import type { RowOf } from '../../../db/entity';
import type { instanceEntity } from '../../../db/platform-entities';
import { changedCount, changedRows, type Queryable } from '../../../db/query';

/** Statements that are wrong, each in one way: the checker must say which. Nothing runs them. */

const columns = ['id', 'nme'];

export const unknownColumn = (db: Queryable): Promise<Array<{ id: string; nme: string }>> =>
  db.query<Array<{ id: string; nme: string }>>(`SELECT ${columns.join(', ')} FROM merchant`);
export const missing = (db: Queryable): Promise<Array<{ id: string; name: string }>> =>
  db.query<Array<{ id: string; name: string }>>('SELECT id FROM merchant');
export const surplus = (db: Queryable): Promise<Array<{ id: string }>> =>
  db.query<Array<{ id: string }>>('SELECT id, name FROM merchant');
export const wrongType = (db: Queryable): Promise<Array<{ amount: number }>> =>
  db.query<Array<{ amount: number }>>('SELECT amount FROM deposit');
export const wrongList = (db: Queryable): Promise<Array<{ amounts: string[] }>> =>
  db.query<Array<{ amounts: string[] }>>('SELECT array_agg(amount) AS amounts FROM deposit');
export const neverNull = (db: Queryable): Promise<Array<{ block_hash: string }>> =>
  db.query<Array<{ block_hash: string }>>('SELECT block_hash FROM deposit');
export const ofEntity = (db: Queryable): Promise<Array<RowOf<typeof instanceEntity>>> =>
  db.query<Array<RowOf<typeof instanceEntity>>>('SELECT id, mode FROM instance');
export const twice = (db: Queryable): Promise<Array<{ id: string }>> =>
  db.query<Array<{ id: string }>>('SELECT p.id, m.id FROM payment p JOIN merchant m ON m.id = p.merchant_id');
export const tooFew = (db: Queryable, id: string): Promise<unknown> =>
  db.query('UPDATE merchant SET name = $2 WHERE id = $1', [id]);
export const asRows = (db: Queryable): Promise<Array<{ id: string }>> =>
  db.query<Array<{ id: string }>>(`WITH one AS (SELECT 1) UPDATE merchant SET name = '' RETURNING id`);
export const asChange = (db: Queryable): Promise<Array<{ id: string }>> =>
  changedRows<{ id: string }>(db, 'SELECT id FROM merchant');
export const onOneBranch = (db: Queryable, isNamed: boolean): Promise<number> =>
  changedCount(db, `DELETE FROM merchant WHERE ${isNamed ? 'nme' : 'id'} = ''`);
export const untyped = (db: Queryable): Promise<number> =>
  db.query('SELECT id FROM merchant').then((rows: unknown[]) => rows.length);
export const opaque = (db: Queryable, table: string): Promise<unknown> => db.query(`SELECT FROM ${table}`);
