import { Type } from 'typebox';
import { feeBpsRange } from '../../domain/pricing/quote';
import { makeInviteCode, revokeInviteCode as revoke } from '../../commands/operators/registrations';
import { listInviteCodes as list, type InviteCodeRow } from '../../db/access/invite-codes';
import { factorProps, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import { route } from '../http/route';
import { limit, line, named, nullable, pageOf, time } from '../http/schemas';

/** Codes that open the registration to whom an operator has given one. */

const tag = 'Platform';
const fields = {
  id: Type.String(),
  last4: Type.String({ description: 'How the code ends.' }),
  label: Type.String({ description: 'Whom it is for.' }),
  skipsApproval: Type.Boolean({ description: 'A registration by it waits for no operator.' }),
  feeBps: nullable(
    Type.Integer({
      description: 'Commission of merchants who come by it, in hundredths of a percent; null: the usual.',
    }),
  ),
  mostUses: Type.Integer(),
  uses: Type.Integer({ description: 'Registrations that were tried with it.' }),
  state: Type.String({ enum: ['open', 'used', 'expired', 'revoked'], description: '`open`: it serves.' }),
  createdBy: Type.String(),
  createdAt: time,
  expiresAt: time,
  revokedAt: nullable(time),
  revokedBy: nullable(Type.String()),
};
const codeSchema = named('InviteCode', fields);

function stateOf(row: InviteCodeRow): 'open' | 'used' | 'expired' | 'revoked' {
  if (row.revoked_at) return 'revoked';
  if (row.uses >= row.most_uses) return 'used';
  return row.expires_at <= new Date() ? 'expired' : 'open';
}
const present = (row: InviteCodeRow) => ({
  id: row.id,
  last4: row.last4,
  label: row.label,
  skipsApproval: row.skips_approval,
  feeBps: row.fee_bps,
  mostUses: row.most_uses,
  uses: row.uses,
  state: stateOf(row),
  createdBy: row.created_by,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  revokedAt: row.revoked_at?.toISOString() ?? null,
  revokedBy: row.revoked_by,
});

export const listInviteCodes = route({
  name: 'listInviteCodes',
  method: 'get',
  path: '/api/v1/platform/invite-codes',
  summary: 'List invitation codes',
  tag,
  envelope: 'A',
  query: Type.Object({ cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })), limit }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(codeSchema), nextCursor: nullable(Type.String()) }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const { cursor, limit } = pageOf(query);
    const rows = await list(db, { cursor: cursor ?? null, limit: limit + 1 });
    const items = rows.slice(0, limit);
    return { data: { items: items.map(present), nextCursor: rows.length > limit ? items.at(-1)!.id : null } };
  },
});

export const createInviteCode = route({
  name: 'createInviteCode',
  method: 'post',
  path: '/api/v1/platform/invite-codes',
  summary: 'Make an invitation code',
  description: 'Who has it registers while the registration is off. The code is shown this once.',
  tag,
  envelope: 'A',
  body: Type.Object({
    label: Type.String({
      maxLength: 100,
      pattern: '^(?=.*[^\\s])[^\\u0000-\\u001f\\ud800-\\udfff]*$',
      description: 'Whom it is for.',
    }),
    skipsApproval: Type.Optional(
      Type.Boolean({ default: false, description: 'A registration by it waits for no operator.' }),
    ),
    feeBps: Type.Optional(
      nullable(Type.Integer({ ...feeBpsRange, description: 'Commission of merchants who come by it.' })),
    ),
    mostUses: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1 })),
    validDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
    ...factorProps,
  }),
  success: {
    status: 201,
    schema: named('NewInviteCode', { ...fields, code: Type.String({ description: 'Shown this once.' }) }),
    description: 'The code.',
  },
  errors: [],
  async answer({ body: wanted, user, ...from }, deps) {
    const { label, skipsApproval = false, feeBps = null, mostUses = 1, validDays = 30 } = wanted;
    const { row, code } = await withFactor(deps, user, 'platform', wanted, (tx) =>
      makeInviteCode(tx, deps, actorOf(user, from), { label, skipsApproval, feeBps, mostUses, validDays }),
    );
    return { status: 201, data: { ...present(row), code } };
  },
});

export const revokeInviteCode = route({
  name: 'revokeInviteCode',
  method: 'post',
  path: '/api/v1/platform/invite-codes/{codeId}/revoke',
  summary: 'Revoke an invitation code',
  description: 'Merchants who came by it stay.',
  tag,
  envelope: 'A',
  params: Type.Object({ codeId: Type.String() }),
  body: Type.Object({ reason: line(500, 'Kept in the audit log.'), ...factorProps }),
  success: { status: 200, schema: codeSchema, description: 'The code.' },
  errors: ['INVITE_CODE_NOT_FOUND', 'ACT_REFUSED'],
  async answer({ params: { codeId }, body, user, ...from }, deps) {
    const row = await withFactor(deps, user, 'platform', body, (tx) =>
      revoke(tx, actorOf(user, from), codeId, body.reason),
    );
    return { data: present(row) };
  },
});
