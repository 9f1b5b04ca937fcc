import type pg from 'pg';
import { DataSource, QueryFailedError, type EntityManager } from 'typeorm';

/** The ways to ask the database. TypeORM's `query<Row[]>` gives the rows of a SELECT and of an INSERT; for an UPDATE
 *  and a DELETE it gives a pair of rows and count instead, which the two functions here take apart. */

/** Anything that queries: a DataSource, or the manager of a transaction. */
export type Queryable = Pick<EntityManager, 'query'>;

/** The rows that an UPDATE or DELETE names in its RETURNING. */
export async function changedRows<Row>(db: Queryable, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const [rows] = await db.query<[Row[], number]>(sql, [...values]);
  return rows;
}

/** How many rows an UPDATE or DELETE has changed. */
export async function changedCount(db: Queryable, sql: string, values: readonly unknown[] = []): Promise<number> {
  const [, count] = await db.query<[unknown[], number]>(sql, [...values]);
  return count;
}

/** The pool of connections itself. */
export const poolOf = (db: DataSource): pg.Pool => (db.driver as unknown as { master: pg.Pool }).master;

/** Asks one statement on a path that every payment takes: PostgreSQL parses and plans it once for each connection, and
 *  TypeORM's runner is left out. `name`: of this text and no other, which names its columns: a plan of `SELECT *` fails
 *  once a migration has added one. In the transaction of an EntityManager, where it is of one. Throws what TypeORM's
 *  runner does. */
export const prepared = (db: DataSource | EntityManager, name: string): Queryable => ({
  query: async <Rows>(text: string, values: unknown[] = []): Promise<Rows> => {
    const connection = await connectionOf(db);
    try {
      return (await connection.query({ name, text, values })).rows as Rows;
    } catch (error) {
      throw error instanceof Error ? new QueryFailedError(text, values, error) : error;
    }
  },
});

async function connectionOf(db: DataSource | EntityManager): Promise<pg.Pool | pg.PoolClient> {
  if (db instanceof DataSource) return poolOf(db);
  return db.queryRunner ? ((await db.queryRunner.connect()) as pg.PoolClient) : poolOf(db.connection);
}
