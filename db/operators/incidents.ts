import type { EntityManager } from 'typeorm';
import type { IncidentKind } from '../incidents';
import type { Queryable } from '../query';

/** Incidents as operators read and end them. They are opened by the service alone. */

export type Incident = {
  /** bigint as text; grows with time. */
  id: string;
  kind: IncidentKind;
  subjectKind: string;
  subjectId: string;
  details: unknown;
  createdAt: Date;
  resolvedAt: Date | null;
  resolvedBy: string | null;
  resolution: string | null;
};

const columns = `id::text AS id, kind, subject_kind AS "subjectKind", subject_id AS "subjectId", details,
  created_at AS "createdAt", resolved_at AS "resolvedAt", resolved_by AS "resolvedBy", resolution`;

export type IncidentFilter = Readonly<{
  state: 'open' | 'resolved' | null;
  kind: string | null;
  cursor: string | null;
  limit: number;
}>;

/** Newest first, older than `cursor`. */
export const listIncidents = (db: Queryable, { state, kind, cursor, limit }: IncidentFilter): Promise<Incident[]> =>
  db.query<Incident[]>(
    `SELECT ${columns} FROM incident
      WHERE ($1::text IS NULL OR (resolved_at IS NULL) = ($1 = 'open')) AND ($2::text IS NULL OR kind = $2)
        AND ($3::bigint IS NULL OR incident.id < $3) ORDER BY incident.id DESC LIMIT $4`,
    [state, kind, cursor, limit],
  );

export async function findIncident(db: Queryable, id: string): Promise<Incident | null> {
  const [row] = await db.query<Incident[]>(`SELECT ${columns} FROM incident WHERE id = $1`, [id]);
  return row ?? null;
}

/** The same, locked: one person ends it. */
export async function lockIncident(tx: EntityManager, id: string): Promise<Incident | null> {
  const [row] = await tx.query<Incident[]>(`SELECT ${columns} FROM incident WHERE id = $1 FOR UPDATE`, [id]);
  return row ?? null;
}

export const endIncident = (
  tx: EntityManager,
  id: string,
  end: Readonly<{ by: string; reason: string }>,
): Promise<unknown> =>
  tx.query('UPDATE incident SET resolved_at = now(), resolved_by = $2, resolution = $3 WHERE id = $1', [
    id,
    end.by,
    end.reason,
  ]);
