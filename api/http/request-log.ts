import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import type { KeyHolder } from '../../db/access/api-keys';
import { storeRequests, type ApiRequest } from '../../db/access/api-requests';
import { newId } from '../../domain/ids';
import type { Metrics } from './metrics';
import { WriteBehind } from './write-behind';

/** The request log that merchants read: one row for each request with a secret key that is known, refused or not. */

export type RequestLog = WriteBehind<ApiRequest>;

/** What is lost of the log is counted, and told where PostgreSQL refused it. No request waits for the log. */
export const createRequestLog = (db: DataSource, metrics: Metrics, logger: Logger): RequestLog =>
  new WriteBehind({
    write: (rows) => storeRequests(db, rows),
    onLost: (count, reason, error) => {
      metrics.lostRequests.inc({ reason }, count);
      if (error !== undefined) logger.warn({ err: error, count }, 'Requests are missing in the request log');
    },
  });

/** What of a route's declaration matters here. */
type Logged = Readonly<{ path: string; readsRequestLog?: true }>;

/** What the log needs to know of a request, from the moment when its key is found. */
export type Keyed = {
  readonly holder: KeyHolder;
  readonly route: Logged;
  readonly params: Readonly<Record<string, string>>;
  hasIdempotencyKey: boolean;
};

type Answered = Readonly<{
  method: string;
  status: number;
  errorCode: string | null;
  requestId: string;
  ip: string;
  startedAt: Date;
  seconds: number;
}>;

/** The row of a request; none where one has only looked into the log, found or not. */
export function requestRow({ holder, route, params, hasIdempotencyKey }: Keyed, answered: Answered): ApiRequest | null {
  if (route.readsRequestLog && (answered.status < 400 || answered.status === 404)) return null;
  return {
    merchantId: holder.merchant.id,
    id: newId(),
    method: answered.method,
    route: route.path,
    path: pathOf(route, params),
    status: answered.status,
    errorCode: answered.errorCode,
    requestId: answered.requestId,
    apiKeyId: holder.key.id,
    durationMs: Math.round(answered.seconds * 1000),
    ip: answered.ip,
    hasIdempotencyKey,
    createdAt: answered.startedAt,
  };
}

/** Secrets have no place in a path; one that was put there by mistake is not kept. */
const isHarmless = (value: string): boolean =>
  /^[A-Za-z0-9._:~-]{1,100}$/.test(value) && !/^((svc|pk|whsec|inv)_|eyJ)/.test(value);

/** The route's path with the ids that were asked for. */
const pathOf = ({ path }: Logged, params: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (name, param: string) => {
    const value = params[param] ?? '';
    return isHarmless(value) ? value : name;
  });
