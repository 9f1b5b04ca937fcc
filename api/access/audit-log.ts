import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { actsOf, exportActs, type ActFilter, type ActRow } from '../../db/access/audit-log';
import { sendCsv } from '../http/csv';
import type { MerchantFileCall } from '../http/file';
import type { ApiDeps } from '../http/deps';
import { route, type Answer } from '../http/route';
import { limit, nullable, oldFormat, pageOf, time } from '../http/schemas';

const day = Type.String({ maxLength: 40, description: 'ISO 8601.' });
const checkDate = (text: string | undefined, property: string): string | undefined => {
  if (text === undefined) return undefined;
  const at = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at.getTime()))
    throw new DomainError('VALIDATION_ERROR', `${property} must be an ISO 8601 date`);
  return at.toISOString();
};

export const actColumns = [
  'at',
  'actorKind',
  'actorId',
  'actor',
  'action',
  'target',
  'ip',
  'requestId',
  'before',
  'after',
];
const jsonOf = (value: unknown): string => (value === null || value === undefined ? '' : JSON.stringify(value));
export const actLine = (row: ActRow): string[] => [
  ...[row.at.toISOString(), row.actor_kind, row.actor_id ?? '', row.actor_name, row.action, row.target ?? ''],
  ...[row.ip, row.request_id, jsonOf(row.before), jsonOf(row.after)],
];

/** What acts can be asked for. */
export const actFilter = {
  actor: Type.Optional(
    Type.String({ maxLength: 254, pattern: '^[^\\u0000\\ud800-\\udfff]*$', description: 'Id or e-mail address.' }),
  ),
  action: Type.Optional(Type.String({ maxLength: 60, pattern: '^[a-z_.]*$' })),
  dateFrom: Type.Optional(day),
  dateTo: Type.Optional(day),
};
/** The same of a list that goes by pages. */
export const actQuery = {
  ...actFilter,
  format: oldFormat('csv'),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$' })),
};
type Asked = Readonly<{ actor?: string; action?: string; dateFrom?: string; dateTo?: string }>;
/** The filter of a query. Throws VALIDATION_ERROR. */
export const readActFilter = ({ actor, action, dateFrom, dateTo }: Asked): ActFilter => ({
  actor,
  action,
  from: checkDate(dateFrom, 'dateFrom'),
  to: checkDate(dateTo, 'dateTo'),
});

export const actFields = {
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
};
export const presentAct = (row: ActRow) => ({
  id: row.id,
  at: row.at.toISOString(),
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
  action: row.action,
  target: row.target,
  before: row.before,
  after: row.after,
  ip: row.ip,
  requestId: row.request_id,
});

const actsFile = (call: MerchantFileCall, deps: ApiDeps, filter: ActFilter): Promise<Answer> =>
  sendCsv(call, deps, {
    name: 'audit-log',
    head: actColumns,
    async *batches() {
      for await (const rows of exportActs(deps.db, call.merchant.id, filter)) yield rows.map(actLine);
    },
  });

export const exportAuditLog = route({
  name: 'exportAuditLog',
  method: 'get',
  path: '/api/v1/audit-log.csv',
  summary: 'Who did what, when, from where, as a file',
  description: 'All that the filter finds, newest first.',
  tag: 'Team',
  envelope: 'A',
  query: Type.Object(actFilter),
  success: { status: 200, type: 'text/csv', headers: ['Content-Disposition'], description: 'One line per act.' },
  errors: [],
  answer: (call, deps) => actsFile(call, deps, readActFilter(call.query)),
});

export const listAuditLog = route({
  name: 'listAuditLog',
  method: 'get',
  path: '/api/v1/audit-log',
  summary: 'Who did what, when, from where',
  description: 'The same as a file: `/api/v1/audit-log.csv`.',
  tag: 'Team',
  envelope: 'A',
  query: Type.Object({
    ...actQuery,
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(Type.Object(actFields)),
      hasMore: Type.Boolean(),
      nextCursor: nullable(Type.String()),
    }),
    orElse: ['text/csv'],
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer(call, deps) {
    const { query, merchant } = call;
    const { db } = deps;
    const { limit } = pageOf(query);
    const filter = readActFilter(query);
    if (query.format === 'csv') return actsFile(call, deps, filter);
    const rows = await actsOf(db, merchant.id, { ...filter, cursor: query.cursor, limit: limit + 1 });
    const items = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    return {
      data: {
        items: items.map(presentAct),
        hasMore,
        nextCursor: hasMore ? items.at(-1)!.id : null,
      },
    };
  },
});
