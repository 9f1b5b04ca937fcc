import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { recordAct } from '../../db/audit-log';
import { listMerchants as list, setMerchantStatus, type ListedMerchant } from '../../db/merchants';
import { isSwitchedOn, setSwitch as set, switches, touchedSwitches, type Switch } from '../../db/switches';
import { factorProps, withFactor } from '../auth/step-up';
import { actorOf } from '../auth/users';
import { route } from '../route';
import { line } from '../schemas';

/** Acts of the platform's operators, who belong to no merchant. The same exist as a command: docs/operations/platform.md. */

const tag = 'Platform';
const merchantSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.String({ enum: ['active', 'suspended'] }),
  createdAt: Type.String({ format: 'date-time' }),
});
const present = (row: ListedMerchant) => ({
  id: row.id,
  name: row.name,
  status: row.status,
  createdAt: row.created_at.toISOString(),
});

export const listMerchants = route({
  name: 'listMerchants',
  method: 'get',
  path: '/api/v1/platform/merchants',
  summary: 'List merchants',
  tag,
  envelope: 'A',
  query: Type.Object({
    cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
    limit: Type.Integer({ default: 50, minimum: 1, maximum: 100 }),
  }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(merchantSchema),
      nextCursor: Type.Union([Type.String(), Type.Null()]),
    }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const rows = await list(db, query.cursor ?? null, query.limit + 1);
    const items = rows.slice(0, query.limit);
    return { data: { items: items.map(present), nextCursor: rows.length > query.limit ? items.at(-1)!.id : null } };
  },
});

const params = Type.Object({ merchantId: Type.String() });
const body = Type.Object({ reason: line(500, 'Kept in the audit log.'), ...factorProps });

export const suspendMerchant = route({
  name: 'suspendMerchant',
  method: 'post',
  path: '/api/v1/platform/merchants/{merchantId}/suspend',
  summary: 'Suspend a merchant',
  description: 'Its users are signed out, its keys are refused. Payments already made go on to their end.',
  tag,
  envelope: 'A',
  params,
  body,
  success: { status: 200, schema: merchantSchema, description: 'The merchant.' },
  errors: ['MERCHANT_NOT_FOUND'],
  async answer({ params: { merchantId }, body: fields, user, ...from }, deps) {
    if (!isId(merchantId)) throw new DomainError('MERCHANT_NOT_FOUND');
    const row = await withFactor(deps, user, 'platform', fields, async (tx) => {
      const changed = await setMerchantStatus(tx, merchantId, 'suspended');
      if (!changed) throw new DomainError('MERCHANT_NOT_FOUND');
      await recordAct(tx, actorOf(user, from), {
        merchantId,
        action: 'merchant.suspended',
        target: merchantId,
        after: { reason: fields.reason },
      });
      return changed;
    });
    deps.sessions.forget();
    return { data: present(row) };
  },
});

export const activateMerchant = route({
  name: 'activateMerchant',
  method: 'post',
  path: '/api/v1/platform/merchants/{merchantId}/activate',
  summary: 'Lift a suspension',
  tag,
  envelope: 'A',
  params,
  body,
  success: { status: 200, schema: merchantSchema, description: 'The merchant.' },
  errors: ['MERCHANT_NOT_FOUND'],
  async answer({ params: { merchantId }, body: fields, user, ...from }, deps) {
    if (!isId(merchantId)) throw new DomainError('MERCHANT_NOT_FOUND');
    const row = await withFactor(deps, user, 'platform', fields, async (tx) => {
      const changed = await setMerchantStatus(tx, merchantId, 'active');
      if (!changed) throw new DomainError('MERCHANT_NOT_FOUND');
      await recordAct(tx, actorOf(user, from), {
        merchantId,
        action: 'merchant.activated',
        target: merchantId,
        after: { reason: fields.reason },
      });
      return changed;
    });
    return { data: present(row) };
  },
});

const switchSchema = Type.Object({
  name: Type.String({ enum: [...switches] }),
  isOn: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()]),
  changedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
});

export const listSwitches = route({
  name: 'listSwitches',
  method: 'get',
  path: '/api/v1/platform/switches',
  summary: 'List what can be turned off for everybody',
  tag,
  envelope: 'A',
  success: { status: 200, schema: Type.Array(switchSchema), description: 'Every switch.' },
  errors: [],
  async answer(_call, { db }) {
    const touched = new Map((await touchedSwitches(db)).map((row) => [row.name, row]));
    return {
      data: switches.map((name) => {
        const row = touched.get(name);
        return {
          name,
          isOn: row?.is_on ?? true,
          reason: row?.reason ?? null,
          changedAt: row?.changed_at.toISOString() ?? null,
        };
      }),
    };
  },
});

export const setSwitch = route({
  name: 'setSwitch',
  method: 'post',
  path: '/api/v1/platform/switches/{name}',
  summary: 'Turn something on or off for everybody',
  tag,
  envelope: 'A',
  params: Type.Object({ name: Type.String() }),
  body: Type.Object({ isOn: Type.Boolean(), reason: line(500, 'Kept in the audit log.'), ...factorProps }),
  success: { status: 200, schema: switchSchema, description: 'The switch.' },
  errors: ['NOT_FOUND'],
  async answer({ params: { name }, body: fields, user, ...from }, deps) {
    const known = switches.find((one) => one === name);
    if (!known) throw new DomainError('NOT_FOUND');
    const changedAt = new Date().toISOString();
    await withFactor(deps, user, 'platform', fields, (tx) =>
      flip(tx, known, fields.isOn, fields.reason, actorOf(user, from)),
    );
    return { data: { name: known, isOn: fields.isOn, reason: fields.reason, changedAt } };
  },
});

async function flip(
  tx: Parameters<typeof recordAct>[0],
  name: Switch,
  isOn: boolean,
  reason: string,
  actor: Parameters<typeof recordAct>[1],
): Promise<void> {
  const before = await isSwitchedOn(tx, name);
  await set(tx, name, isOn, reason);
  await recordAct(tx, actor, {
    merchantId: null,
    action: 'switch.set',
    target: name,
    before: { isOn: before },
    after: { isOn, reason },
  });
}
