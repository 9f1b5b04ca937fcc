import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { feeBpsRange } from '../../domain/pricing/quote';
import {
  listMerchants as list,
  merchantPage,
  type ListedMerchant,
  type MerchantFilter,
} from '../../db/access/merchants';
import { approvals } from '../../db/operators/registrations';
import { membersOf } from '../../db/operators/members';
import { balancesOf } from '../../db/ledger/balances';
import { changeFee, changeStatus } from '../../commands/operators/merchant-status';
import { factorProps, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { exact, limit, line, named, nullable, pageOf, time } from '../http/schemas';

/** Merchants, as operators see them and what they set for them. */

const tag = 'Platform';
const text = Type.String();
const shown = {
  id: Type.String(),
  name: Type.String(),
  status: Type.String({ enum: ['active', 'suspended'] }),
  outgoingHeld: nullable(Type.String({ description: 'Why nothing of it is signed; null: its money may leave.' })),
  registration: Type.String({
    enum: [...approvals],
    description: 'While it waits or is refused, the merchant is suspended, and approving it is what lifts that.',
  }),
  createdAt: time,
};
export const merchantSchema = named('Merchant', shown);
export const presentMerchant = (row: ListedMerchant) => ({
  id: row.id,
  name: row.name,
  status: row.status,
  outgoingHeld: row.held_because,
  registration: row.approval,
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
    name: Type.Optional(line(200, 'The beginning of the name, in whatever case.')),
    status: Type.Optional(Type.String({ enum: ['active', 'suspended'] })),
    registration: Type.Optional(Type.String({ enum: [...approvals] })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(merchantSchema),
      nextCursor: nullable(Type.String()),
    }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const { name, status, registration, cursor, limit } = pageOf(query);
    const rows = await list(db, {
      name: name ?? null,
      status: (status as MerchantFilter['status'] | undefined) ?? null,
      approval: (registration as MerchantFilter['approval'] | undefined) ?? null,
      cursor: cursor ?? null,
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    return {
      data: { items: items.map(presentMerchant), nextCursor: rows.length > limit ? items.at(-1)!.id : null },
    };
  },
});

const params = Type.Object({ merchantId: Type.String() });
const reason = line(500, 'Kept in the audit log.');
const body = Type.Object({ reason, ...factorProps });

const pageSchema = named('MerchantPage', {
  ...shown,
  displayCurrency: text,
  feeBearer: Type.String({ enum: ['customer', 'merchant'] }),
  feeBps: Type.Integer({ description: 'Commission in hundredths of a percent.' }),
  openPayments: Type.Integer(),
  balances: Type.Array(
    Type.Object({
      currency: text,
      available: exact('May be spent.'),
      reserved: exact('On its way out.'),
      pending: exact('Confirmed and not settled.'),
    }),
  ),
  users: Type.Array(
    Type.Object({
      id: text,
      email: text,
      displayName: text,
      role: text,
      isActive: Type.Boolean(),
      lastLoginAt: nullable(time),
    }),
  ),
});

/** Throws MERCHANT_NOT_FOUND. */
async function readPage(db: ApiDeps['db'], id: string) {
  const row = isId(id) ? await merchantPage(db, id) : null;
  if (!row) throw new DomainError('MERCHANT_NOT_FOUND');
  const users = await membersOf(db, id);
  return {
    ...presentMerchant(row),
    displayCurrency: row.display_currency,
    feeBearer: row.fee_bearer,
    feeBps: row.fee_bps,
    openPayments: row.open_payments,
    balances: (await balancesOf(db, id)).map(({ currency, available, reserved, pending }) => ({
      currency,
      available,
      reserved,
      pending,
    })),
    users: users.map((user) => ({ ...user, lastLoginAt: user.lastLoginAt?.toISOString() ?? null })),
  };
}

export const getMerchant = route({
  name: 'getMerchant',
  method: 'get',
  path: '/api/v1/platform/merchants/{merchantId}',
  summary: 'Get a merchant with its balances and its users',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: pageSchema, description: 'The merchant.' },
  errors: ['MERCHANT_NOT_FOUND'],
  answer: async ({ params: { merchantId } }, { db }) => ({ data: await readPage(db, merchantId) }),
});

export const setMerchantFee = route({
  name: 'setMerchantFee',
  method: 'post',
  path: '/api/v1/platform/merchants/{merchantId}/fee',
  summary: 'Set the commission of a merchant',
  description: 'Payments that are made already keep the commission that they were made with.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object({
    feeBps: Type.Integer({ ...feeBpsRange, description: 'Hundredths of a percent.' }),
    reason,
    ...factorProps,
  }),
  success: { status: 200, schema: pageSchema, description: 'The merchant.' },
  errors: ['MERCHANT_NOT_FOUND'],
  async answer({ params: { merchantId }, body: fields, user, ...from }, deps) {
    await withFactor(deps, user, 'platform', fields, (tx) =>
      changeFee(tx, actorOf(user, from), merchantId, fields.feeBps, fields.reason),
    );
    return { data: await readPage(deps.db, merchantId) };
  },
});

export const suspendMerchant = route({
  name: 'suspendMerchant',
  method: 'post',
  path: '/api/v1/platform/merchants/{merchantId}/suspend',
  summary: 'Suspend a merchant',
  description:
    'Its users are signed out, its keys are refused, and nothing of its outgoing money is signed any more. Payments ' +
    'already made go on to their end.',
  tag,
  envelope: 'A',
  params,
  body,
  success: { status: 200, schema: merchantSchema, description: 'The merchant.' },
  errors: ['MERCHANT_NOT_FOUND'],
  async answer({ params: { merchantId }, body: fields, user, ...from }, deps) {
    const row = await withFactor(deps, user, 'platform', fields, (tx) =>
      changeStatus(tx, actorOf(user, from), merchantId, 'suspended', fields.reason),
    );
    deps.sessions.forget();
    return { data: presentMerchant(row) };
  },
});

export const activateMerchant = route({
  name: 'activateMerchant',
  method: 'post',
  path: '/api/v1/platform/merchants/{merchantId}/activate',
  summary: 'Lift a suspension',
  description:
    'Its users and keys come in again. Its outgoing money stays held until two operators lift it: `lift-hold`.',
  tag,
  envelope: 'A',
  params,
  body,
  success: { status: 200, schema: merchantSchema, description: 'The merchant.' },
  errors: ['MERCHANT_NOT_FOUND', 'ACT_REFUSED'],
  async answer({ params: { merchantId }, body: fields, user, ...from }, deps) {
    const row = await withFactor(deps, user, 'platform', fields, (tx) =>
      changeStatus(tx, actorOf(user, from), merchantId, 'active', fields.reason),
    );
    return { data: presentMerchant(row) };
  },
});
