import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { actsOf } from '../../db/access/audit-log';
import { route } from '../http/route';
import { limit, nullable, pageOf, time } from '../http/schemas';

const day = Type.String({ maxLength: 40, description: 'ISO 8601.' });
const checkDate = (text: string | undefined, property: string): string | undefined => {
  if (text === undefined) return undefined;
  const at = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at.getTime()))
    throw new DomainError('VALIDATION_ERROR', `${property} must be an ISO 8601 date`);
  return at.toISOString();
};

export const listAuditLog = route({
  name: 'listAuditLog',
  method: 'get',
  path: '/api/v1/audit-log',
  summary: 'Who did what, when, from where',
  tag: 'Team',
  envelope: 'A',
  query: Type.Object({
    actor: Type.Optional(
      Type.String({ maxLength: 254, pattern: '^[^\\u0000\\ud800-\\udfff]*$', description: 'Id or e-mail address.' }),
    ),
    action: Type.Optional(Type.String({ maxLength: 60, pattern: '^[a-z_.]*$' })),
    dateFrom: Type.Optional(day),
    dateTo: Type.Optional(day),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Type.String(),
          at: time,
          actor: Type.Object({
            kind: Type.String({ enum: ['user', 'key', 'operator', 'anonymous'] }),
            id: nullable(Type.String()),
            name: Type.String(),
          }),
          action: Type.String(),
          target: nullable(Type.String()),
          before: Type.Unknown(),
          after: Type.Unknown(),
          ip: Type.String(),
          requestId: Type.String(),
        }),
      ),
      hasMore: Type.Boolean(),
      nextCursor: nullable(Type.String()),
    }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query, merchant }, { db }) {
    const { limit } = pageOf(query);
    const rows = await actsOf(db, merchant.id, {
      actor: query.actor,
      action: query.action,
      from: checkDate(query.dateFrom, 'dateFrom'),
      to: checkDate(query.dateTo, 'dateTo'),
      cursor: query.cursor,
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    return {
      data: {
        items: items.map((row) => ({
          id: row.id,
          at: row.at.toISOString(),
          actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
          action: row.action,
          target: row.target,
          before: row.before,
          after: row.after,
          ip: row.ip,
          requestId: row.request_id,
        })),
        hasMore,
        nextCursor: hasMore ? items.at(-1)!.id : null,
      },
    };
  },
});
