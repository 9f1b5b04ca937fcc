import { Type } from 'typebox';
import type { DataSource } from 'typeorm';
import { allActs, exportAllActs, type PlatformActRow } from '../../db/operators/acts';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { normalEmail } from '../../db/access/users';
import { actColumns, actFields, actFilter, actLine, actQuery, presentAct, readActFilter } from '../access/audit-log';
import { actorOf } from '../access/users';
import { sendCsv } from '../http/csv';
import type { ApiDeps } from '../http/deps';
import type { FileCall } from '../http/file';
import { route, type Answer } from '../http/route';
import { limit, named, nullable, pageOf } from '../http/schemas';

/** Who did what on the whole platform. */

const merchant = Type.Object({ id: Type.String(), name: nullable(Type.String()) });
const present = (row: PlatformActRow) => ({
  ...presentAct(row),
  merchant: row.merchant_id === null ? null : { id: row.merchant_id, name: row.merchant_name },
});

/** A look at what one person did is an act itself, and so is a copy of the log. */
async function noteLook(db: DataSource, actor: Actor, looked: Readonly<{ at?: string; isCopy: boolean }>) {
  const { at, isCopy } = looked;
  const email = at?.includes('@') ? normalEmail(at) : undefined;
  if (email !== undefined)
    await recordAct(db.manager, actor, { merchantId: null, action: 'platform.searched', target: email });
  if (isCopy) await recordAct(db.manager, actor, { merchantId: null, action: 'audit_log.exported' });
}

const merchantId = Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$', description: 'Acts about one merchant.' }));
type Filter = Parameters<typeof exportAllActs>[1];

const actsFile = (call: FileCall, deps: ApiDeps, filter: Filter): Promise<Answer> =>
  sendCsv(call, deps, {
    name: 'platform-audit-log',
    head: [...actColumns, 'merchantId', 'merchant'],
    async *batches() {
      for await (const rows of exportAllActs(deps.db, filter))
        yield rows.map((row) => [...actLine(row), row.merchant_id ?? '', row.merchant_name ?? '']);
    },
  });

export const exportPlatformAuditLog = route({
  name: 'exportPlatformAuditLog',
  method: 'get',
  path: '/api/v1/platform/audit-log.csv',
  summary: 'Who did what, when, from where, on the whole platform, as a file',
  description: 'All that the filter finds, newest first. The log itself says who took a file.',
  tag: 'Platform',
  envelope: 'A',
  query: Type.Object({ ...actFilter, merchantId }),
  success: { status: 200, type: 'text/csv', headers: ['Content-Disposition'], description: 'One line per act.' },
  errors: [],
  async answer(call, deps) {
    const filter = { ...readActFilter(call.query), merchantId: call.query.merchantId };
    await noteLook(deps.db, actorOf(call.user, call), { at: call.query.actor, isCopy: true });
    return actsFile(call, deps, filter);
  },
});

export const listPlatformAuditLog = route({
  name: 'listPlatformAuditLog',
  method: 'get',
  path: '/api/v1/platform/audit-log',
  summary: 'Who did what, when, from where, on the whole platform',
  description: 'A search by e-mail address is in the log itself. The same as a file: `/api/v1/platform/audit-log.csv`.',
  tag: 'Platform',
  envelope: 'A',
  query: Type.Object({ ...actQuery, merchantId, limit }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(named('PlatformAct', { ...actFields, merchant: nullable(merchant) })),
      nextCursor: nullable(Type.String()),
    }),
    orElse: ['text/csv'],
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer(call, deps) {
    const { query, user } = call;
    const { limit } = pageOf(query);
    const filter = { ...readActFilter(query), merchantId: query.merchantId };
    const isCopy = query.format === 'csv';
    await noteLook(deps.db, actorOf(user, call), { at: query.actor, isCopy });
    if (isCopy) return actsFile(call, deps, filter);
    const rows = await allActs(deps.db, { ...filter, cursor: query.cursor, limit: limit + 1 });
    const items = rows.slice(0, limit);
    return { data: { items: items.map(present), nextCursor: rows.length > limit ? items.at(-1)!.id : null } };
  },
});
