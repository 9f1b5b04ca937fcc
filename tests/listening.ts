import type { DataSource, EntityManager } from 'typeorm';

/** A statement, how much was sent with it, how many rows came back, and how long it took. */
export type Statement = Readonly<{ sql: string; sent: number; rows: number; ms: number }>;

type Query = (sql: string, values?: readonly unknown[]) => Promise<unknown>;

/** The same database, and what is said to it. */
export function listening(db: DataSource): { db: DataSource; said: Statement[] } {
  const said: Statement[] = [];
  const heard =
    (query: Query): Query =>
    async (sql, values = []) => {
      const start = performance.now();
      const rows = await query(sql, values);
      const ms = performance.now() - start;
      said.push({ sql, sent: JSON.stringify(values).length, rows: Array.isArray(rows) ? rows.length : 0, ms });
      return rows;
    };
  const managed = (manager: EntityManager): EntityManager =>
    new Proxy(manager, {
      get: (target, key) =>
        key === 'query' ? heard((sql, values) => target.query(sql, [...(values ?? [])])) : Reflect.get(target, key),
    });
  const heardDb = new Proxy(db, {
    get(target, key) {
      if (key === 'manager') return managed(target.manager);
      if (key === 'query') return heard((sql, values) => target.query(sql, [...(values ?? [])]));
      if (key === 'transaction')
        return (act: (tx: EntityManager) => Promise<unknown>) => target.transaction((tx) => act(managed(tx)));
      return Reflect.get(target, key);
    },
  });
  return { db: heardDb, said };
}
