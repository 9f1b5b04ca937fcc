import type { EntityManager } from 'typeorm';
import { epochOf, type Epoch } from '../../domain/recovery/epoch';
import { changedRows, type Queryable } from '../query';
import { openIncident } from '../incidents';
import { restoreCalled, type CallRecord } from './lost-invoices';
import { restoreSigned, type SignatureRecord } from './lost';
import { watchFrom } from './watch';
import type { RowOf } from '../entity';
import type { recoveryEntity } from './entities';

/** What the signer keeps outside the database. `write` returns when the file is on disk; an epoch without `seeds`
 *  leaves those that it has. */
export type EpochFile = Readonly<{ read(): Epoch | null; write(epoch: Epoch): void }>;
/** What the signer has recorded outside the database. */
export type Records = Readonly<{ signatures: SignatureRecord; calls: CallRecord }>;
/** The file and the database do not fit; the message says what to do. */
export class EpochRefused extends Error {}

/** Ends the lineage in an incarnation. */
export const lineageOf = (incarnation: string): string => incarnation.slice(0, incarnation.indexOf('@'));
type Row = { epoch: number; beat: string; incarnation: string };

/** Confirms this incarnation of the database for as long as its server runs; where it is another than the signer knew,
 *  begins an epoch first. The file is written before the row is committed: a crash between them leaves the file ahead,
 *  and the next call skips an epoch, which costs nothing. Throws EpochRefused. Answers the epoch, and why it began
 *  where it is new. */
export async function settleEpoch(
  tx: EntityManager,
  file: EpochFile,
  watchCount: number,
  records: Records,
): Promise<Readonly<{ epoch: Epoch; begun: string | null }>> {
  await tx.query("SELECT pg_advisory_xact_lock(hashtext('key epoch'))");
  const [now] = await tx.query<Array<{ incarnation: string }>>('SELECT database_incarnation() AS incarnation');
  const lineage = lineageOf(now!.incarnation);
  const [row] = await tx.query<Row[]>('SELECT epoch, beat, incarnation FROM key_epoch');
  const known = row ? { epoch: row.epoch, beat: parseInt(row.beat, 10), lineage: lineageOf(row.incarnation) } : null;
  const verdict = epochOf(lineage, known, file.read());
  if (verdict.act === 'refuse') throw new EpochRefused(verdict.reason);
  const number = verdict.act === 'recover' ? verdict.epoch : (known?.epoch ?? 0);
  const epoch: Epoch = { epoch: number, beat: known?.beat ?? 0, lineage };
  if (verdict.act !== 'confirm') file.write(epoch);
  if (verdict.act === 'recover') {
    await beginEpoch(tx, known?.epoch ?? 0, verdict.epoch, verdict.reason, watchCount);
    await restoreSigned(tx, records.signatures);
    await restoreCalled(tx, records.calls);
  }
  await tx.query(
    `INSERT INTO key_epoch (epoch, beat, incarnation) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE
       SET epoch = EXCLUDED.epoch, incarnation = EXCLUDED.incarnation, confirmed_at = clock_timestamp()`,
    [epoch.epoch, epoch.beat, now!.incarnation],
  );
  return { epoch, begun: verdict.act === 'recover' ? verdict.reason : null };
}

/** A new branch for every role of every network. What payers may know of the branches that are left is watched, and no
 *  network counts as followed until it is read to its end again. */
async function beginEpoch(
  tx: EntityManager,
  from: number,
  epoch: number,
  reason: string,
  watchCount: number,
): Promise<void> {
  const keys = await tx.query<Array<{ network: string; role: string; sequence_of: string }>>(
    'SELECT network, role, sequence_of FROM extended_key',
  );
  for (let branch = from; branch < epoch; branch += 1) await watchFrom(tx, branch, watchCount);
  for (const { sequence_of: sequence, role } of keys)
    await tx.query('SELECT restart_key_index($1, $2)', [sequence, role]);
  await tx.query('SELECT skip_ids()');
  await tx.query(`UPDATE chain_cursor SET scanned_through = least(scanned_through, now() - interval '1 day')`);
  await tx.query('INSERT INTO recovery (epoch, reason) VALUES ($1, $2)', [epoch, reason]);
  for (const network of new Set(keys.map((key) => key.network)))
    await openIncident(tx, {
      kind: 'database-recovered',
      subject: { kind: 'network', id: network },
      distinction: String(epoch),
      details: { from, epoch, reason },
    });
}

/** The signer has confirmed this incarnation of the database. */
export async function isConfirmed(db: Queryable): Promise<boolean> {
  const rows = await db.query<unknown[]>('SELECT FROM key_epoch WHERE incarnation = database_incarnation()');
  return rows.length > 0;
}

/** Counts one beat of the signer; null where the incarnation is not the confirmed one. */
export async function beat(db: Queryable): Promise<Epoch | null> {
  const [row] = await changedRows<Row>(
    db,
    `UPDATE key_epoch SET beat = beat + 1 WHERE incarnation = database_incarnation()
     RETURNING epoch, beat, incarnation`,
  );
  return row ? { epoch: row.epoch, beat: parseInt(row.beat, 10), lineage: lineageOf(row.incarnation) } : null;
}

/** A network may be followed once the signer has confirmed the database, and every address that a recovery may have
 *  forgotten is watched: a block that was read before could hold what is lost. */
export async function mayFollow(db: Queryable, network: string): Promise<boolean> {
  const rows = await db.query<unknown[]>(
    `SELECT FROM key_epoch WHERE incarnation = database_incarnation()
        AND NOT EXISTS (SELECT FROM key_watch WHERE network = $1 AND next_index < until_index)`,
    [network],
  );
  return rows.length > 0;
}

type RecoveryRow = Omit<RowOf<typeof recoveryEntity>, 'workflows_ended_at'> & { unwatched: number };

/** Every recovery, newest first. `unwatched`: addresses of the branches before it that are not derived yet. */
export const recoveries = (db: Queryable): Promise<RecoveryRow[]> =>
  db.query<RecoveryRow[]>(
    `SELECT r.epoch, r.reason, r.begun_at,
            (SELECT coalesce(sum(w.until_index - w.next_index), 0)::integer FROM key_watch w
              WHERE w.branch < r.epoch AND w.next_index < w.until_index) AS unwatched
       FROM recovery r ORDER BY r.epoch DESC`,
  );

/** When the newest recovery began whose workflows have not all ended yet. */
export async function openRecovery(db: Queryable): Promise<Readonly<{ begunAt: Date; isOld: boolean }> | null> {
  const [row] = await db.query<Array<{ begunAt: Date; isOld: boolean }>>(
    `SELECT begun_at AS "begunAt", begun_at < now() - make_interval(secs => $1) AS "isOld" FROM recovery
      WHERE workflows_ended_at IS NULL ORDER BY epoch DESC LIMIT 1`,
    [visibleSeconds],
  );
  return row ?? null;
}
/** Temporal's index may be some seconds old. */
const visibleSeconds = 30;

/** No workflow runs any more that was started before a recovery. */
export const closeRecoveries = (db: Queryable): Promise<unknown> =>
  db.query('UPDATE recovery SET workflows_ended_at = now() WHERE workflows_ended_at IS NULL');
