import { Type } from 'typebox';
import { decideRegistration } from '../../commands/operators/registrations';
import {
  approvals,
  listRegistrations as list,
  type Approval,
  type Registration,
} from '../../db/operators/registrations';
import { factorProps, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { limit, line, named, nullable, pageOf, time } from '../http/schemas';
import type { User } from '../../domain/access/access';

/** Merchants that have registered. Where the switch `unapproved-registration` is off, an operator decides about each
 *  of them. */

const tag = 'Platform';
const text = Type.String();
const registrationSchema = named('Registration', {
  merchant: Type.Object({ id: text, name: text }),
  state: Type.String({
    enum: [...approvals],
    description: '`waiting`: nobody of it signs in before an operator decides.',
  }),
  email: nullable(Type.String({ description: 'Of the admin who registered it.' })),
  displayName: nullable(text),
  isVerified: Type.Boolean({ description: 'The admin has confirmed the e-mail address.' }),
  registeredAt: time,
  inviteCode: nullable(Type.Object({ id: text, label: text }, { description: 'The invitation code it came by.' })),
});
const present = (row: Registration) => ({
  merchant: { id: row.merchant_id, name: row.merchant_name },
  state: row.approval,
  email: row.email,
  displayName: row.display_name,
  isVerified: row.is_verified,
  registeredAt: row.created_at.toISOString(),
  inviteCode: row.invite_code_id === null ? null : { id: row.invite_code_id, label: row.invite_label ?? '' },
});

export const listRegistrations = route({
  name: 'listRegistrations',
  method: 'get',
  path: '/api/v1/platform/registrations',
  summary: 'List registrations of merchants',
  tag,
  envelope: 'A',
  query: Type.Object({
    state: Type.Optional(Type.String({ enum: [...approvals] })),
    inviteCodeId: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{24}$', description: 'Those that came by this code.' }),
    ),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(registrationSchema), nextCursor: nullable(Type.String()) }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const { state, inviteCodeId, cursor, limit } = pageOf(query);
    const rows = await list(db, {
      approval: (state as Approval | undefined) ?? null,
      inviteCodeId: inviteCodeId ?? null,
      cursor: cursor ?? null,
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    return {
      data: { items: items.map(present), nextCursor: rows.length > limit ? items.at(-1)!.merchant_id : null },
    };
  },
});

const params = Type.Object({ merchantId: Type.String() });
const body = Type.Object({ reason: line(500, 'Kept in the audit log.'), ...factorProps });
const success = { status: 200, schema: registrationSchema, description: 'The registration.' };

type Asked = Readonly<{
  params: { merchantId: string };
  body: { reason: string } & Parameters<typeof withFactor>[3];
  user: User;
  ip: string;
  requestId: string;
}>;
async function decide({ params, body, user, ...from }: Asked, deps: ApiDeps, decision: 'approved' | 'refused') {
  const row = await withFactor(deps, user, 'platform', body, (tx) =>
    decideRegistration(tx, deps, actorOf(user, from), params.merchantId, decision, body.reason),
  );
  return { data: present(row) };
}

export const approveRegistration = route({
  name: 'approveRegistration',
  method: 'post',
  path: '/api/v1/platform/registrations/{merchantId}/approve',
  summary: 'Let a merchant in that has registered',
  description: 'Its admin is told by mail, and signs in from then on. A refusal can be taken back so.',
  tag,
  envelope: 'A',
  params,
  body,
  success,
  errors: ['MERCHANT_NOT_FOUND', 'ACT_REFUSED'],
  answer: (call, deps) => decide(call, deps, 'approved'),
});

export const refuseRegistration = route({
  name: 'refuseRegistration',
  method: 'post',
  path: '/api/v1/platform/registrations/{merchantId}/refuse',
  summary: 'Refuse a merchant that has registered',
  description: 'Its admin is told by mail, without the reason.',
  tag,
  envelope: 'A',
  params,
  body,
  success,
  errors: ['MERCHANT_NOT_FOUND', 'ACT_REFUSED'],
  answer: (call, deps) => decide(call, deps, 'refused'),
});
