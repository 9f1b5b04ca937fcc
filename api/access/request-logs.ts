import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { requestsOf, type ApiRequestRow } from '../../db/access/api-requests';
import { readRefusal } from '../../db/access/request-log';
import { momentOf } from '../http/dates';
import { creationRefusals } from '../../domain/payments/creation-refusals';
import { route } from '../http/route';
import { limit, named, nullable, pageOf, time } from '../http/schemas';

/** What a merchant's secret keys asked, and why a request was refused. Contract: G16. */

const tag = 'Diagnostics';

const requestSchema = named('LoggedRequest', {
  id: Type.String({ description: '24-hex id.' }),
  method: Type.String(),
  route: Type.String({ description: 'The path as the API reference has it.' }),
  path: Type.String({ description: 'The same with its ids, without a query.' }),
  status: Type.Integer(),
  errorCode: nullable(Type.String({ description: 'Of a refusal. For codes see the page of errors.' })),
  requestId: Type.String({ description: 'X-Request-Id of the answer. Where callers choose it, it may come twice.' }),
  apiKeyId: nullable(Type.String({ description: 'The secret key that was used.' })),
  durationMs: Type.Integer({ description: 'Until the answer began.' }),
  ip: Type.String({ description: 'From where it came.' }),
  idempotencyKeyUsed: Type.Boolean(),
  createdAt: time,
});
const present = (row: ApiRequestRow) => ({
  id: row.id,
  method: row.method,
  route: row.route,
  path: row.path,
  status: row.status,
  errorCode: row.error_code,
  requestId: row.request_id,
  apiKeyId: row.api_key_id,
  durationMs: row.duration_ms,
  ip: row.ip,
  idempotencyKeyUsed: row.has_idempotency_key,
  createdAt: row.created_at.toISOString(),
});

const id = '^[0-9a-f]{24}$';

export const listRequestLogs = route({
  name: 'listRequestLogs',
  method: 'get',
  path: '/api/v1/request-logs',
  summary: 'List requests',
  description:
    'What was asked with your secret keys, refused requests too, newest first: no bodies, no headers. A request ' +
    'appears about a second after its answer, and stays for 30 days. Reading the log is not in it.',
  tag,
  envelope: 'A',
  readsRequestLog: true,
  query: Type.Object({
    refused: Type.Optional(Type.Boolean({ description: 'true: refused ones alone; false: the others alone.' })),
    method: Type.Optional(Type.String({ enum: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'] })),
    apiKeyId: Type.Optional(Type.String({ pattern: id, description: 'With this secret key.' })),
    requestId: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9._-]{8,64}$', description: 'X-Request-Id of the answer.' }),
    ),
    since: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601: those that came then or later.' })),
    cursor: Type.Optional(Type.String({ pattern: id, description: '`nextCursor` of the page before.' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(requestSchema),
      hasMore: Type.Boolean(),
      nextCursor: nullable(Type.String()),
    }),
    description: 'One page; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ merchant, query }, { db }) {
    const { refused, since, limit, ...filter } = pageOf(query);
    const rows = await requestsOf(db, merchant.id, {
      ...filter,
      isRefused: refused,
      since: momentOf(since, 'since'),
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    return { data: { items: items.map(present), hasMore, nextCursor: hasMore ? items.at(-1)!.id : null } };
  },
});

export const getRequestLog = route({
  name: 'getRequestLog',
  method: 'get',
  path: '/api/v1/request-logs/{requestId}',
  summary: 'Why a creation was refused',
  description: 'The reason behind a generic refusal, for the merchant who sent the request. It is kept for 30 days.',
  tag,
  envelope: 'A',
  readsRequestLog: true,
  params: Type.Object({ requestId: Type.String({ description: 'X-Request-Id of the refused request.' }) }),
  success: {
    status: 200,
    schema: Type.Object({
      requestId: Type.String(),
      reason: Type.String({
        examples: Object.keys(creationRefusals),
      }),
      details: Type.Unknown(),
      createdAt: time,
    }),
    description: 'The reason.',
  },
  errors: ['NOT_FOUND'],
  async answer({ merchant, params }, { db }) {
    const isSane = /^[A-Za-z0-9._-]{8,64}$/.test(params.requestId);
    const refusal = isSane ? await readRefusal(db, merchant.id, params.requestId) : null;
    if (!refusal) throw new DomainError('NOT_FOUND');
    return { data: refusal };
  },
});
