import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import type { EventType } from '../../domain/webhooks/event-types';
import { newId } from '../../domain/ids';
import { withRaw } from '../../domain/payments/json-text';
import { endpointDisabledMail } from '../../domain/mail/mail';
import { endpointLimit, oldSecretHours, viewEndpoint, type EndpointRow } from '../../domain/webhooks/webhook-endpoint';
import { emitEvent } from './events';
import { queueMail } from '../mail/mail';
import { type Queryable, changedCount, changedRows } from '../query';
import { seal } from '../sealing';
import { adminEmails } from '../access/users';

/** Where a merchant wants events sent. Rows of an endpoint are locked after those of its deliveries and before the
 *  merchant's counter. */

const columns =
  'id, merchant_id, url, enabled_events, description, is_active, disabled_reason, created_at, version' as const;
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** A new endpoint; its secret is readable this once and sealed afterwards. Throws TOO_MANY_ENDPOINTS. */
export async function createEndpoint(
  tx: Queryable,
  secretsKey: string,
  merchantId: string,
  endpoint: Readonly<{ url: string; enabledEvents: readonly string[]; description: string | null }>,
): Promise<{ row: EndpointRow; secret: string }> {
  await tx.query('SELECT FROM merchant WHERE id = $1 FOR NO KEY UPDATE', [merchantId]); // one at a time, for the limit
  const [held] = await tx.query<Array<{ n: number }>>(
    'SELECT count(*)::int AS n FROM webhook_endpoint WHERE merchant_id = $1',
    [merchantId],
  );
  if (held!.n >= endpointLimit) throw new DomainError('TOO_MANY_ENDPOINTS');
  const secret = newSecret();
  const [row] = await tx.query<EndpointRow[]>(
    `INSERT INTO webhook_endpoint (id, merchant_id, url, enabled_events, description, secret_sealed)
       VALUES ($1, $2, $3, $4, $5, $6)
     RETURNING ${columns}`,
    [newId(), merchantId, endpoint.url, endpoint.enabledEvents, endpoint.description, seal(secretsKey, secret)],
  );
  return { row: row!, secret };
}

/** One page of a merchant's endpoints, newest first, and how many there are. */
export async function endpointsOf(
  db: Queryable,
  merchantId: string,
  { page, limit }: Readonly<{ page: number; limit: number }>,
): Promise<{ rows: EndpointRow[]; total: number }> {
  const rows = await db.query<EndpointRow[]>(
    `SELECT ${columns} FROM webhook_endpoint WHERE merchant_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`,
    [merchantId, limit, (page - 1) * limit],
  );
  const [all] = await db.query<Array<{ n: number }>>(
    'SELECT count(*)::int AS n FROM webhook_endpoint WHERE merchant_id = $1',
    [merchantId],
  );
  return { rows, total: all!.n };
}

/** The merchant's endpoint, locked where asked. Throws WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function readEndpoint(
  db: Queryable,
  merchantId: string,
  id: string,
  { lock = false } = {},
): Promise<EndpointRow> {
  const [row] = await db.query<EndpointRow[]>(
    `SELECT ${columns} FROM webhook_endpoint WHERE id = $1 AND merchant_id = $2 ${lock ? 'FOR UPDATE' : ''}`,
    [id, merchantId],
  );
  if (!row) throw new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND');
  return row;
}

/** Changes an endpoint that the caller has locked. Another address, or switching it on again, is a new start: earlier
 *  failures count no more. */
export async function changeEndpoint(
  tx: Queryable,
  id: string,
  next: Readonly<{
    url: string;
    enabledEvents: readonly string[];
    description: string | null;
    isActive: boolean;
  }>,
): Promise<EndpointRow> {
  const [row] = await changedRows<EndpointRow>(
    tx,
    `UPDATE webhook_endpoint
        SET failing_since = CASE WHEN url = $2 AND is_active THEN failing_since END,
            disabled_reason = CASE WHEN NOT $5 AND NOT is_active THEN disabled_reason END,
            url = $2, enabled_events = $3, description = $4, is_active = $5, updated_at = now()
      WHERE id = $1 RETURNING ${columns}`,
    [id, next.url, next.enabledEvents, next.description, next.isActive],
  );
  return row!;
}

/** Forgets an endpoint; what was on its way there is cancelled, and stays in the log. Throws
 *  WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function deleteEndpoint(tx: Queryable, merchantId: string, id: string): Promise<void> {
  await tx.query(
    `UPDATE delivery SET status = 'cancelled', next_attempt_at = NULL, updated_at = now()
      WHERE merchant_id = $1 AND endpoint = $2 AND status IN ('pending', 'retrying')`,
    [merchantId, id],
  );
  const count = await changedCount(tx, 'DELETE FROM webhook_endpoint WHERE id = $1 AND merchant_id = $2', [
    id,
    merchantId,
  ]);
  if (!count) throw new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND');
}

/** A new secret; the one before signs too for another day, the one before that no more. Throws
 *  WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function rotateEndpointSecret(
  tx: Queryable,
  secretsKey: string,
  merchantId: string,
  id: string,
): Promise<{ row: EndpointRow; secret: string; previousValidUntil: Date }> {
  const secret = newSecret();
  const [row] = await changedRows<EndpointRow & { previous_secret_until: Date }>(
    tx,
    `UPDATE webhook_endpoint SET previous_secret_sealed = secret_sealed,
       previous_secret_until = now() + make_interval(hours => $4),
       secret_sealed = $3, updated_at = now()
      WHERE id = $1 AND merchant_id = $2 RETURNING ${columns}, previous_secret_until`,
    [id, merchantId, seal(secretsKey, secret), oldSecretHours],
  );
  if (!row) throw new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND');
  return { row, secret, previousValidUntil: row.previous_secret_until };
}

/** An event about the endpoint, each a version further. Its row stays locked until the end of the transaction. */
async function emitAbout(
  tx: EntityManager,
  id: string,
  type: EventType,
  json: (row: EndpointRow) => string,
): Promise<string> {
  const [row] = await changedRows<EndpointRow>(
    tx,
    `UPDATE webhook_endpoint SET version = version + 1, updated_at = now() WHERE id = $1 RETURNING ${columns}`,
    [id],
  );
  return emitEvent(tx, {
    merchantId: row!.merchant_id,
    type,
    entityId: id,
    stateVersion: row!.version,
    data: json(row!),
    previous: {},
    ipnUrl: null,
    openDelta: 0,
  });
}

/** `webhook.test`, for this endpoint alone; its event id. `type`: what a receiver of such events wants to see an
 *  example of. The example is the newest such event's data, where there is one among the last thousand. */
export async function emitTest(tx: EntityManager, endpoint: EndpointRow, type: string | null): Promise<string> {
  const [example] = type
    ? await tx.query<Array<{ data: string }>>(
        `SELECT data::text FROM (SELECT type, data, seq FROM event WHERE merchant_id = $1
           ORDER BY seq DESC LIMIT 1000) newest
          WHERE type = $2 ORDER BY seq DESC LIMIT 1`,
        [endpoint.merchant_id, type],
      )
    : [];
  return emitAbout(tx, endpoint.id, 'webhook.test', (row) =>
    withRaw({ endpoint: viewEndpoint(row), type }, 'example', example?.data ?? 'null'),
  );
}

/** Notes that an attempt succeeded: the failures before it count no more. Writes only where there were any. */
export const noteSuccess = (tx: Queryable, id: string): Promise<unknown> =>
  tx.query('UPDATE webhook_endpoint SET failing_since = NULL WHERE id = $1 AND failing_since IS NOT NULL', [id]);

/** Notes that an attempt at `url` failed, and switches the endpoint off where that was one too many: at once where it
 *  says that it is gone, else after `limitMs` of failures. Admins get mail, the merchant's other endpoints an event. */
export async function noteFailure(
  tx: EntityManager,
  secretsKey: string,
  id: string,
  { url, at, isGone, limitMs }: Readonly<{ url: string; at: Date; isGone: boolean; limitMs: number }>,
): Promise<void> {
  await tx.query(
    'UPDATE webhook_endpoint SET failing_since = $3 WHERE id = $1 AND url = $2 AND is_active AND failing_since IS NULL',
    [id, url, at],
  );
  const [row] = await changedRows<EndpointRow>(
    tx,
    `UPDATE webhook_endpoint SET is_active = false, disabled_reason = CASE WHEN $3 THEN 'gone' ELSE 'failing' END,
       updated_at = now()
      WHERE id = $1 AND url = $2 AND is_active
        AND ($3 OR failing_since < now() - make_interval(secs => $4::float8 / 1000))
      RETURNING ${columns}`,
    [id, url, isGone, limitMs],
  );
  if (!row) return;
  const [merchant] = await tx.query<Array<{ name: string }>>('SELECT name FROM merchant WHERE id = $1', [
    row.merchant_id,
  ]);
  for (const to of await adminEmails(tx, row.merchant_id))
    await queueMail(tx, secretsKey, endpointDisabledMail(to, { merchantName: merchant!.name, url, isGone }));
  await emitAbout(tx, id, 'webhook_endpoint.disabled', (now) => JSON.stringify(viewEndpoint(now)));
}
