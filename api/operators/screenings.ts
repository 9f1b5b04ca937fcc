import { Type } from 'typebox';
import { riskBands, screenStatuses, type RiskBand, type Screen } from '../../domain/screening/screening';
import { listScreens, type ListedScreen } from '../../db/operators/screenings';
import { route } from '../http/route';
import { limit, named, nullable, pageOf, statusSchema, time } from '../http/schemas';

/** What screenings have found on the whole platform, with the evidence that merchants are not shown. */

const texts = Type.Array(Type.String());
const band = Type.String({ enum: [...riskBands] });
const screeningSchema = named('Screening', {
  id: Type.String({ description: 'Decimal number.' }),
  payment: Type.Object({ id: Type.String(), status: statusSchema }),
  merchant: Type.Object({ id: Type.String(), name: Type.String() }),
  cause: Type.String({ enum: ['credit', 'merchant'], description: 'The credit of the payment, or its merchant.' }),
  status: Type.String({ enum: [...screenStatuses] }),
  riskScore: nullable(Type.Integer()),
  riskBand: nullable(band),
  severity: nullable(band),
  categories: texts,
  reason: nullable(Type.String()),
  skipCause: nullable(Type.String()),
  checkedAt: time,
  providers: texts,
  txIds: texts,
  matches: Type.Unknown({ description: 'Which address was known to which provider, and for what.' }),
  isNewest: Type.Boolean({ description: 'The payment was not screened again since.' }),
});
const present = (row: ListedScreen) => ({
  id: row.id,
  payment: { id: row.payment_id, status: row.payment_status },
  merchant: { id: row.merchant_id, name: row.merchant_name },
  cause: row.cause,
  status: row.status,
  riskScore: row.risk_score,
  riskBand: row.risk_band,
  severity: row.severity,
  categories: row.categories ?? [],
  reason: row.reason,
  skipCause: row.skip_cause,
  checkedAt: row.checked_at.toISOString(),
  providers: row.providers,
  txIds: row.tx_ids,
  matches: row.matches,
  isNewest: row.is_newest,
});

export const listScreenings = route({
  name: 'listScreenings',
  method: 'get',
  path: '/api/v1/platform/screenings',
  summary: 'List screenings of payments with their evidence',
  tag: 'Platform',
  envelope: 'A',
  query: Type.Object({
    status: Type.Optional(Type.String({ enum: [...screenStatuses] })),
    severity: Type.Optional(band),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(screeningSchema), nextCursor: nullable(Type.String()) }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const { status, severity, cursor, limit } = pageOf(query);
    const rows = await listScreens(db, {
      status: (status as Screen['status'] | undefined) ?? null,
      severity: (severity as RiskBand | undefined) ?? null,
      cursor: cursor ?? null,
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    return { data: { items: items.map(present), nextCursor: rows.length > limit ? items.at(-1)!.id : null } };
  },
});
