import type { Queryable } from '../query';

/** Why a request was refused in general words: told to its own merchant alone, by request id. Contract: G16. */

/** Keeps the reason. `details.reason` is its name. */
export async function noteRefusal(
  db: Queryable,
  refusal: Readonly<{ requestId: string; merchantId: string; details: Readonly<Record<string, unknown>> }>,
): Promise<void> {
  const { reason, ...details } = refusal.details;
  await db.query(
    `INSERT INTO request_log AS l (request_id, merchant_id, reason, details) VALUES ($1, $2, $3, $4)
     ON CONFLICT (request_id) DO UPDATE SET reason = EXCLUDED.reason, details = EXCLUDED.details, created_at = now()
      WHERE l.merchant_id = EXCLUDED.merchant_id`,
    [refusal.requestId, refusal.merchantId, typeof reason === 'string' ? reason : 'UNKNOWN', details],
  );
}

export type Refusal = Readonly<{ requestId: string; reason: string; details: unknown; createdAt: string }>;

/** The reason kept for a request of this merchant, or null. */
export async function readRefusal(db: Queryable, merchantId: string, requestId: string): Promise<Refusal | null> {
  const [row] = await db.query<Array<{ reason: string; details: unknown; created_at: Date }>>(
    'SELECT reason, details, created_at FROM request_log WHERE request_id = $1 AND merchant_id = $2',
    [requestId, merchantId],
  );
  return row ? { requestId, reason: row.reason, details: row.details, createdAt: row.created_at.toISOString() } : null;
}
