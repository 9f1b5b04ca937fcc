import type { EntityManager } from 'typeorm';

/** A delivery with the event it carries. */
export type DueDelivery = {
  id: string;
  status: 'pending' | 'succeeded' | 'retrying' | 'failed' | 'cancelled';
  attempts: number;
  url: string;
  event_id: string;
  type: string;
  merchant_id: string;
  /** JSON text, as it was stored. */
  data: string;
  previous: string;
  seq: string;
  created_at: Date;
  ipn_secret_sealed: string;
  ipn_enabled: boolean;
};

/** The delivery with its attempt number raised, so that a repeat after a crash is an attempt of its own; null once it is over. */
export async function beginAttempt(db: Pick<EntityManager, 'query'>, id: string): Promise<DueDelivery | null> {
  const [rows] = (await db.query(
    `UPDATE delivery d SET attempts = d.attempts + 1, updated_at = now() FROM event e, merchant m
      WHERE d.id = $1 AND d.status IN ('pending', 'retrying') AND e.id = d.event_id AND m.id = d.merchant_id
      RETURNING d.id, d.status, d.attempts, d.url, e.id AS event_id, e.type, e.merchant_id, e.data::text AS data, e.previous::text AS previous,
                e.seq::text AS seq, e.created_at, m.ipn_secret_sealed, m.ipn_enabled`,
    [id],
  )) as [DueDelivery[], number];
  return rows[0] ?? null;
}

export type AttemptResult = Readonly<{
  status: DueDelivery['status'];
  at: Date;
  durationMs: number;
  statusCode: number | null;
  responseBody: string;
  error: string | null;
  nextInMs: number | null;
}>;

/** Writes what an attempt came to, in the delivery log and on the delivery. */
export async function finishAttempt(tx: EntityManager, id: string, n: number, result: AttemptResult): Promise<void> {
  await tx.query(
    `INSERT INTO delivery_attempt (delivery_id, n, at, duration_ms, status_code, response_body, error) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT DO NOTHING`,
    [id, n, result.at, result.durationMs, result.statusCode, result.responseBody, result.error],
  );
  await tx.query(
    `UPDATE delivery SET status = $2, next_attempt_at = now() + make_interval(secs => $3::float8 / 1000), updated_at = now()
      WHERE id = $1 AND status IN ('pending', 'retrying')`,
    [id, result.status, result.nextInMs],
  );
}
