import { firstIdOf } from '../../domain/ids';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { apiRequestEntity } from './entities';

/** The request log of a merchant: what their secret keys asked, and how it was answered. */

export type ApiRequest = Readonly<{
  merchantId: string;
  /** Orders the log: made when the request was answered. */
  id: string;
  method: string;
  /** The path of the route's declaration. */
  route: string;
  /** The same with its ids. */
  path: string;
  status: number;
  /** Of a refusal: the code that was told. */
  errorCode: string | null;
  requestId: string;
  apiKeyId: string | null;
  durationMs: number;
  ip: string;
  hasIdempotencyKey: boolean;
  /** When the request came. */
  createdAt: Date;
}>;

/** Stores rows of any merchants by one statement. Safe to repeat. */
export const storeRequests = (db: Queryable, rows: readonly ApiRequest[]): Promise<unknown> =>
  db.query(
    `INSERT INTO api_request (merchant_id, id, method, route, path, status, error_code, request_id, api_key_id,
            duration_ms, ip, has_idempotency_key, created_at)
     SELECT r."merchantId", r.id, r.method, r.route, r.path, r.status, r."errorCode", r."requestId", r."apiKeyId",
            r."durationMs", r.ip, r."hasIdempotencyKey", r."createdAt"
       FROM jsonb_to_recordset($1) AS r ("merchantId" text, id text, method text, route text, path text,
            status smallint, "errorCode" text, "requestId" text, "apiKeyId" text, "durationMs" integer, ip text,
            "hasIdempotencyKey" boolean, "createdAt" timestamptz)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );

export type ApiRequestRow = Omit<RowOf<typeof apiRequestEntity>, 'merchant_id'>;

export type ApiRequestFilter = Readonly<{
  /** true: refused ones alone; false: the others alone. */
  isRefused?: boolean | undefined;
  method?: string | undefined;
  apiKeyId?: string | undefined;
  requestId?: string | undefined;
  /** Those that came at this moment or later. */
  since?: Date | undefined;
}>;

/** A merchant's requests, newest first, older than `cursor`. */
export const requestsOf = (
  db: Queryable,
  merchantId: string,
  filter: ApiRequestFilter & Readonly<{ cursor?: string | undefined; limit: number }>,
): Promise<ApiRequestRow[]> =>
  db.query<ApiRequestRow[]>(
    `SELECT id, method, route, path, status, error_code, request_id, api_key_id, duration_ms, ip,
            has_idempotency_key, created_at FROM api_request
      WHERE merchant_id = $1
        AND ($2::boolean IS NULL OR (status >= 400) = $2)
        AND ($3::text IS NULL OR method = $3)
        AND ($4::text IS NULL OR api_key_id = $4)
        AND ($5::text IS NULL OR request_id = $5)
        AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::text IS NULL OR id >= $7::char(24))
        AND ($8::text IS NULL OR id < $8::char(24))
      ORDER BY id DESC LIMIT $9`,
    [
      merchantId,
      filter.isRefused ?? null,
      filter.method ?? null,
      filter.apiKeyId ?? null,
      filter.requestId ?? null,
      filter.since ?? null,
      // Every request is answered after it came: the ids of earlier seconds need not be looked at.
      filter.since ? firstIdOf(filter.since.getTime()) : null,
      filter.cursor ?? null,
      filter.limit,
    ],
  );
