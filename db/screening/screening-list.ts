import type { DataSource } from 'typeorm';
import { recordAct, type Actor } from '../access/audit-log';
import { changedCount } from '../query';
import type { RowOf } from '../entity';
import type { screeningListEntity } from './entities';

export type ListRow = Readonly<Omit<RowOf<typeof screeningListEntity>, 'imported_at'>>;
export type Imported = Readonly<{ rows: number; added: number; removed: number; sources: readonly string[] }>;

/** Takes rows as the whole list of each source they name: what such a source had before and does not name any more
 *  goes. Written into the audit log. */
export async function importListRows(db: DataSource, rows: readonly ListRow[], actor: Actor): Promise<Imported> {
  const sources = [...new Set(rows.map((row) => row.source))].sort();
  return db.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtext('screening_list'))`);
    await tx.query(
      `CREATE TEMP TABLE newer ON COMMIT DROP AS
         SELECT * FROM jsonb_to_recordset($1) AS r (network text, address text, category text, score integer,
           source text)`,
      [JSON.stringify(rows)],
    );
    const removed = await changedCount(
      tx,
      `DELETE FROM screening_list l WHERE source = ANY($1::text[]) AND NOT EXISTS
         (SELECT FROM newer n WHERE (n.network, n.address, n.source, n.category) = (l.network, l.address, l.source,
           l.category))`,
      [sources],
    );
    const [{ n: before }] = await tx.query<[{ n: number }]>('SELECT count(*)::int AS n FROM screening_list');
    await tx.query(
      `INSERT INTO screening_list (network, address, category, score, source)
         SELECT network, address, category, max(score), source FROM newer GROUP BY network, address, category, source
       ON CONFLICT (network, address, source, category) DO UPDATE SET score = EXCLUDED.score, imported_at = now()`,
    );
    const [{ n: after }] = await tx.query<[{ n: number }]>('SELECT count(*)::int AS n FROM screening_list');
    const imported = { rows: rows.length, added: after - before, removed, sources };
    await recordAct(tx, actor, { merchantId: null, action: 'screening_list.imported', after: imported });
    return imported;
  });
}
