import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import type { User } from '../../domain/access/access';
import {
  findRequest,
  listRequests,
  requestStates,
  type OperatorRequest,
  type RequestState,
} from '../../db/operators/requests';
import { operatorActs } from '../../commands/operators';
import {
  cancelRequest,
  confirmRequest,
  confirmationsNeeded,
  fileRequest,
  operatorCoolingHours,
  requestHours,
  type Operator,
} from '../../commands/operators/requests';
import { factorProps, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import { route } from '../http/route';
import { limit, line, named, nullable, pageOf, time } from '../http/schemas';

/** Acts of operators on money: requests that two operators confirm. docs/operations/operator-requests.md */

const tag = 'Platform';
const requestSchema = named('OperatorRequest', {
  id: Type.String(),
  kind: Type.String({ enum: operatorActs.map((act) => act.kind) }),
  payload: Type.Record(Type.String(), Type.String()),
  summary: Type.String({ description: 'What is executed, in words.' }),
  reason: Type.String(),
  state: Type.String({ enum: [...requestStates] }),
  askedBy: Type.String({ description: 'E-mail address of a user, or user and host of a shell.' }),
  askedAt: time,
  expiresAt: time,
  confirmations: Type.Array(Type.Object({ by: Type.String(), at: time })),
  confirmationsNeeded: Type.Integer(),
  outcome: nullable(Type.String({ description: 'What came of it, or why it was cancelled.' })),
  endedAt: nullable(time),
  endedBy: nullable(Type.String()),
});

const present = (row: OperatorRequest) => ({
  id: row.id,
  kind: row.kind,
  payload: row.payload,
  summary: row.summary,
  reason: row.reason,
  state: row.state,
  askedBy: row.asked_by_name,
  askedAt: row.asked_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  confirmations: row.confirmations.map(({ name, at }) => ({ by: name, at: new Date(at).toISOString() })),
  confirmationsNeeded,
  outcome: row.outcome,
  endedAt: row.ended_at?.toISOString() ?? null,
  endedBy: row.ended_by_name,
});

const actsText = operatorActs
  .map((act) => {
    const fields = Object.entries(act.fields).map(([name, text]) => `\`${name}\` (${text})`);
    return `\`${act.kind}\`: ${act.title}. Payload: ${fields.join(', ')}`;
  })
  .join('\n\n');

/** The id of a path; one that is malformed is of no request. */
const known = (id: string): string => {
  if (!isId(id)) throw new DomainError('OPERATOR_REQUEST_NOT_FOUND');
  return id;
};

const operatorOf = (user: User, from: Readonly<{ ip: string; requestId: string }>): Operator => ({
  userId: user.id,
  sessionId: user.sessionId,
  createdAt: user.createdAt,
  actor: actorOf(user, from),
});

export const listOperatorRequests = route({
  name: 'listOperatorRequests',
  method: 'get',
  path: '/api/v1/platform/operator-requests',
  summary: 'List requests of operators',
  tag,
  envelope: 'A',
  query: Type.Object({
    state: Type.Optional(Type.String({ enum: [...requestStates] })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(requestSchema), nextCursor: nullable(Type.String()) }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const { state, cursor, limit } = pageOf(query);
    const wanted = { state: (state as RequestState | undefined) ?? null, cursor: cursor ?? null, limit: limit + 1 };
    const rows = await listRequests(db, wanted);
    const items = rows.slice(0, limit);
    return { data: { items: items.map(present), nextCursor: rows.length > limit ? items.at(-1)!.id : null } };
  },
});

const params = Type.Object({ requestId: Type.String({ description: '24-hex id.' }) });

export const getOperatorRequest = route({
  name: 'getOperatorRequest',
  method: 'get',
  path: '/api/v1/platform/operator-requests/{requestId}',
  summary: 'Get a request of operators',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: requestSchema, description: 'The request.' },
  errors: ['OPERATOR_REQUEST_NOT_FOUND'],
  async answer({ params: { requestId } }, { db }) {
    const row = await findRequest(db, known(requestId));
    if (!row) throw new DomainError('OPERATOR_REQUEST_NOT_FOUND');
    return { data: present(row) };
  },
});

export const fileOperatorRequest = route({
  name: 'fileOperatorRequest',
  method: 'post',
  path: '/api/v1/platform/operator-requests',
  summary: 'Ask for an act on money',
  description:
    `Nothing is executed, and asking confirms nothing. ${confirmationsNeeded} operators confirm the request within ` +
    `${requestHours} hours.\n\n${actsText}`,
  tag,
  envelope: 'A',
  body: Type.Object({
    kind: Type.String({ enum: operatorActs.map((act) => act.kind) }),
    payload: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 200 })),
    reason: line(500, 'Kept in the audit log.'),
    ...factorProps,
  }),
  success: { status: 201, schema: requestSchema, description: 'The request.' },
  errors: ['ACT_REFUSED', 'OPERATOR_REQUEST_OPEN'],
  async answer({ body: fields, user, ...from }, deps) {
    const { kind, payload, reason } = fields;
    const row = await withFactor(deps, user, 'platform', fields, (tx) =>
      fileRequest(tx, actorOf(user, from), { kind, payload, reason }),
    );
    return { status: 201, data: present(row) };
  },
});

export const confirmOperatorRequest = route({
  name: 'confirmOperatorRequest',
  method: 'post',
  path: '/api/v1/platform/operator-requests/{requestId}/confirm',
  summary: 'Confirm an act on money',
  description:
    `Each operator confirms once, with a factor of their own; the ${confirmationsNeeded}nd confirmation executes the ` +
    'act in the same transaction. If the act is not possible any more, the confirmation does not count. An operator ' +
    `whose account is younger than ${operatorCoolingHours} hours cannot confirm.`,
  tag,
  envelope: 'A',
  params,
  body: Type.Object({ ...factorProps }),
  success: { status: 200, schema: requestSchema, description: 'The request; `executed` after the last confirmation.' },
  errors: ['OPERATOR_REQUEST_NOT_FOUND', 'OPERATOR_REQUEST_ENDED', 'CONFIRMATION_REFUSED', 'ACT_REFUSED'],
  async answer({ params: { requestId }, body: fields, user, ...from }, deps) {
    const row = await withFactor(deps, user, 'platform', fields, (tx) =>
      confirmRequest(tx, operatorOf(user, from), known(requestId)),
    );
    return { data: present(row) };
  },
});

export const cancelOperatorRequest = route({
  name: 'cancelOperatorRequest',
  method: 'post',
  path: '/api/v1/platform/operator-requests/{requestId}/cancel',
  summary: 'Cancel a request of operators',
  tag,
  envelope: 'A',
  params,
  body: Type.Object({ reason: line(500, 'Kept in the audit log.'), ...factorProps }),
  success: { status: 200, schema: requestSchema, description: 'The request.' },
  errors: ['OPERATOR_REQUEST_NOT_FOUND', 'OPERATOR_REQUEST_ENDED'],
  async answer({ params: { requestId }, body: fields, user, ...from }, deps) {
    const row = await withFactor(deps, user, 'platform', fields, (tx) =>
      cancelRequest(tx, actorOf(user, from), known(requestId), fields.reason),
    );
    return { data: present(row) };
  },
});
