import type { EntityManager } from 'typeorm';
import { coinsOf } from '../../domain/ledger/lightning';
import { lightningCurrency } from '../../domain/lightning/currency';
import { openIncident, resolveIncidents } from '../incidents';
import { changedRows, type Queryable } from '../query';

/** What our Lightning node took or paid and no row is for: a recovery has lost the row, its owner did it, or somebody
 *  who should not. */

export type UnknownKind = 'invoice' | 'payment';
type Unknown = Readonly<{ hash: string; state: 'open' | 'done'; msat: bigint; memo: string }>;

/** SQL: whether operators have still to look into `u`. Of one hash the node may have taken and paid. */
export const isOpenIncident = `EXISTS (
  SELECT FROM incident o WHERE o.kind = 'lightning-unknown' AND o.resolved_at IS NULL AND o.details->>'hash' = u.hash
     AND o.details->>'what' = CASE u.kind WHEN 'invoice' THEN 'taken' ELSE 'paid' END)`;

/** SQL: whether a row is for `u`. A row names its hash before the node hears of it. */
export const hasRow = `CASE u.kind WHEN 'invoice' THEN EXISTS (SELECT FROM lightning_invoice i WHERE i.hash = u.hash)
  ELSE EXISTS (SELECT FROM lightning_payment l WHERE l.hash = u.hash) END`;

const incidentOf = (kind: UnknownKind, hash: string) =>
  ({
    kind: 'lightning-unknown',
    subject: { kind: 'asset', id: lightningCurrency },
    distinction: `${kind}/${hash}`,
  }) as const;

const tell = (tx: EntityManager, kind: UnknownKind, { hash, msat, memo }: Omit<Unknown, 'state'>): Promise<unknown> =>
  openIncident(tx, {
    ...incidentOf(kind, hash),
    details: { what: kind === 'invoice' ? 'taken' : 'paid', hash, amount: coinsOf(msat), ...(memo ? { memo } : {}) },
  });

/** How far the node's list of a kind was read; null: never. */
export async function markOf(db: Queryable, kind: UnknownKind): Promise<number | null> {
  const [row] = await db.query<Array<{ through: string }>>(
    'SELECT through::text AS through FROM lightning_mark WHERE kind = $1',
    [kind],
  );
  return row ? parseInt(row.through, 10) : null;
}

/** Lists are read on from here, wherever they were before. */
export const setMark = (db: Queryable, kind: UnknownKind, through: number): Promise<unknown> =>
  db.query(
    `INSERT INTO lightning_mark (kind, through) VALUES ($1, $2)
     ON CONFLICT (kind) DO UPDATE SET through = EXCLUDED.through`,
    [kind, through],
  );

/** A list was read as far as this, unless another look has read it further. */
export const moveMark = (db: Queryable, kind: UnknownKind, through: number): Promise<unknown> =>
  db.query('UPDATE lightning_mark SET through = greatest(through, $2) WHERE kind = $1', [kind, through]);

/** Writes down what of this no row is for, and tells operators of what has moved money. Safe to repeat. */
export async function noteUnknown(tx: EntityManager, kind: UnknownKind, all: readonly Unknown[]): Promise<void> {
  if (!all.length) return;
  const noted = await tx.query<Array<{ hash: string }>>(
    `INSERT INTO lightning_unknown (kind, hash, state, msat, memo)
       SELECT u.kind, u.hash, u.state, u.msat, u.memo
         FROM jsonb_to_recordset($1::jsonb) AS u (kind text, hash text, state text, msat bigint, memo text)
        WHERE NOT (${hasRow})
     ON CONFLICT DO NOTHING RETURNING hash`,
    [JSON.stringify(all.map((one) => ({ ...one, kind, msat: one.msat.toString() })))],
  );
  const isNew = new Set(noted.map(({ hash }) => hash));
  for (const one of all) if (one.state === 'done' && isNew.has(one.hash)) await tell(tx, kind, one);
}

/** Those that may still bring or cost something, by lot: many that stay open keep none out of each look. */
export const openUnknown = (db: Queryable, kind: UnknownKind): Promise<Array<{ hash: string; memo: string }>> =>
  db.query<Array<{ hash: string; memo: string }>>(
    `SELECT hash, memo FROM lightning_unknown WHERE kind = $1 AND state = 'open' ORDER BY random() LIMIT 200`,
    [kind],
  );

/** One of them has moved money after all. */
export async function endUnknown(tx: EntityManager, kind: UnknownKind, ended: Omit<Unknown, 'state'>): Promise<void> {
  const rows = await changedRows<{ hash: string }>(
    tx,
    `UPDATE lightning_unknown SET state = 'done', msat = $3 WHERE kind = $1 AND hash = $2 AND state = 'open'
     RETURNING hash`,
    [kind, ended.hash, ended.msat.toString()],
  );
  if (rows.length) await tell(tx, kind, ended);
}

/** One of them will never move any. */
export const forgetUnknown = (db: Queryable, kind: UnknownKind, hash: string): Promise<unknown> =>
  db.query(`DELETE FROM lightning_unknown WHERE kind = $1 AND hash = $2 AND state = 'open'`, [kind, hash]);

/** A row is for it by now: a recovery has given it back, or two operators have given the money away. */
export async function forgetKnown(tx: EntityManager): Promise<void> {
  const rows = await changedRows<{ kind: UnknownKind; hash: string }>(
    tx,
    `DELETE FROM lightning_unknown u WHERE ${hasRow} RETURNING u.kind, u.hash`,
    [],
  );
  await resolveIncidents(
    tx,
    rows.map(({ kind, hash }) => incidentOf(kind, hash)),
  );
}

/** Operators have said whose it is. */
export const resolveUnknown = (tx: EntityManager, kind: UnknownKind, hash: string): Promise<unknown> =>
  resolveIncidents(tx, [incidentOf(kind, hash)]);
