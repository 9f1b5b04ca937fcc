import { Type } from 'typebox';
import { findAsset } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { pairModes, type PairMode } from '../../domain/conversions/conversion';
import { amountPattern, fit, isPositive } from '../../domain/money';
import { recordAct } from '../../db/access/audit-log';
import { everyCurrency, freeze, freezes } from '../../db/limits/egress';
import { limitPosition, readExposure, setPair } from '../../db/conversions/exposure';
import { listMerchants as list, setMerchantStatus, type ListedMerchant } from '../../db/access/merchants';
import { isSwitchedOn, setSwitch as set, switches, touchedSwitches, type Switch } from '../../db/access/switches';
import { factorProps, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import { currencyOf } from '../../domain/conversions/ask';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { limit, line, named, nullable, pageOf, time } from '../http/schemas';

/** Acts of the platform's operators, who belong to no merchant. The same exist as a command: docs/operations/platform.md. */

const tag = 'Platform';
const merchantSchema = named('Merchant', {
  id: Type.String(),
  name: Type.String(),
  status: Type.String({ enum: ['active', 'suspended'] }),
  outgoingHeld: nullable(Type.String({ description: 'Why nothing of it is signed; null: its money may leave.' })),
  createdAt: time,
});
const present = (row: ListedMerchant) => ({
  id: row.id,
  name: row.name,
  status: row.status,
  outgoingHeld: row.held_because,
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
    const { cursor, limit } = pageOf(query);
    const rows = await list(db, cursor ?? null, limit + 1);
    const items = rows.slice(0, limit);
    return { data: { items: items.map(present), nextCursor: rows.length > limit ? items.at(-1)!.id : null } };
  },
});

const params = Type.Object({ merchantId: Type.String() });
const body = Type.Object({ reason: line(500, 'Kept in the audit log.'), ...factorProps });

/** Behind a factor, with a line in the audit log. Throws MERCHANT_NOT_FOUND. */
async function setStanding(
  deps: ApiDeps,
  user: Parameters<typeof withFactor>[1] & Parameters<typeof actorOf>[0],
  from: Parameters<typeof actorOf>[1],
  merchantId: string,
  status: 'suspended' | 'active',
  fields: { reason: string } & Parameters<typeof withFactor>[3],
) {
  if (!isId(merchantId)) throw new DomainError('MERCHANT_NOT_FOUND');
  const row = await withFactor(deps, user, 'platform', fields, async (tx) => {
    const changed = await setMerchantStatus(tx, merchantId, status, fields.reason);
    if (!changed) throw new DomainError('MERCHANT_NOT_FOUND');
    await recordAct(tx, actorOf(user, from), {
      merchantId,
      action: status === 'suspended' ? 'merchant.suspended' : 'merchant.activated',
      target: merchantId,
      after: { reason: fields.reason },
    });
    return changed;
  });
  return { data: present(row) };
}

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
    const answer = await setStanding(deps, user, from, merchantId, 'suspended', fields);
    deps.sessions.forget();
    return answer;
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
  errors: ['MERCHANT_NOT_FOUND'],
  answer: ({ params: { merchantId }, body: fields, user, ...from }, deps) =>
    setStanding(deps, user, from, merchantId, 'active', fields),
});

const switchSchema = named('Switch', {
  name: Type.String({ enum: [...switches] }),
  isOn: Type.Boolean(),
  reason: nullable(Type.String()),
  changedAt: nullable(time),
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

const usd = Type.String({ pattern: amountPattern, description: 'Dollars.' });
const beyond = Type.String({
  enum: ['external', 'off'],
  description: 'What becomes of pairs that would enlarge a position beyond its limit.',
});
const pairMode = Type.String({ enum: [...pairModes] });
const exposureSchema = named('Exposure', {
  assets: Type.Array(
    Type.Object({
      currency: Type.String(),
      position: Type.String({ description: 'Taken in by converting less what was given; either sign.' }),
      positionUsd: nullable(Type.String()),
      limitUsd: nullable(Type.String()),
      beyond,
      treasury: Type.String({ description: 'What the treasury holds.' }),
      owed: Type.String({ description: 'What merchants are owed.' }),
      free: Type.String({ description: 'What can be given by converting; of a frozen asset nothing.' }),
      freeUsd: nullable(Type.String()),
    }),
  ),
  pairs: Type.Array(
    Type.Object({
      fromCurrency: Type.String(),
      toCurrency: Type.String(),
      mode: pairMode,
      maximumUsd: nullable(Type.String()),
    }),
    { description: 'Pairs with a setting of their own; all others are internal.' },
  ),
});
const exposureTold = {
  status: 200,
  schema: exposureSchema,
  description: 'Every asset, and every pair with a setting.',
};
const reason = line(500, 'Kept in the audit log.');
const cents = (amount: string | null | undefined): string | null => (amount ? fit(amount, 2, 'down') : null);

export const getExposure = route({
  name: 'getExposure',
  method: 'get',
  path: '/api/v1/platform/exposure',
  summary: 'What the platform holds by converting',
  tag,
  envelope: 'A',
  success: exposureTold,
  errors: [],
  answer: async (_call, { db }) => ({ data: await readExposure(db) }),
});

export const limitExposure = route({
  name: 'limitExposure',
  method: 'post',
  path: '/api/v1/platform/exposure/{currency}',
  summary: 'Bound what the platform holds of an asset by converting',
  tag,
  envelope: 'A',
  params: Type.Object({ currency: Type.String() }),
  body: Type.Object({ limitUsd: nullable(usd), beyond, reason, ...factorProps }),
  success: exposureTold,
  errors: [],
  async answer({ params, body: fields, user, ...from }, deps) {
    const limit = {
      currency: currencyOf(params.currency, 'currency'),
      limitUsd: cents(fields.limitUsd),
      beyond: fields.beyond as 'external' | 'off',
      reason: fields.reason,
    };
    await withFactor(deps, user, 'platform', fields, (tx) => limitPosition(tx, actorOf(user, from), limit));
    return { data: await readExposure(deps.db) };
  },
});

export const setConversionPair = route({
  name: 'setConversionPair',
  method: 'post',
  path: '/api/v1/platform/conversion-pairs',
  summary: 'Say how a pair is converted',
  tag,
  envelope: 'A',
  body: Type.Object({
    fromCurrency: Type.String(),
    toCurrency: Type.String(),
    mode: pairMode,
    maximumUsd: Type.Optional(nullable(usd)),
    reason,
    ...factorProps,
  }),
  success: exposureTold,
  errors: ['SAME_CURRENCY'],
  async answer({ body: fields, user, ...from }, deps) {
    const pair = {
      fromCurrency: currencyOf(fields.fromCurrency, 'fromCurrency'),
      toCurrency: currencyOf(fields.toCurrency, 'toCurrency'),
      mode: fields.mode as PairMode,
      maximumUsd: cents(fields.maximumUsd),
      reason: fields.reason,
    };
    if (pair.fromCurrency === pair.toCurrency) throw new DomainError('SAME_CURRENCY');
    if (pair.maximumUsd !== null && !isPositive(pair.maximumUsd))
      throw new DomainError('VALIDATION_ERROR', 'maximumUsd must be at least a cent');
    await withFactor(deps, user, 'platform', fields, (tx) => setPair(tx, actorOf(user, from), pair));
    return { data: await readExposure(deps.db) };
  },
});

const freezeSchema = named('EgressFreeze', {
  currency: Type.String({ description: 'Ticker; * for everything.' }),
  reason: Type.String(),
  frozenAt: time,
});
const isFreezable = (currency: string): boolean => currency === everyCurrency || findAsset(currency) !== undefined;

export const listFreezes = route({
  name: 'listFreezes',
  method: 'get',
  path: '/api/v1/platform/egress-freezes',
  summary: 'List what is stopped from leaving',
  tag,
  envelope: 'A',
  success: { status: 200, schema: Type.Array(freezeSchema), description: 'Every stop.' },
  errors: [],
  async answer(_call, { db }) {
    const rows = await freezes(db);
    return {
      data: rows.map((row) => ({ currency: row.currency, reason: row.reason, frozenAt: row.frozen_at.toISOString() })),
    };
  },
});

export const freezeEgress = route({
  name: 'freezeEgress',
  method: 'post',
  path: '/api/v1/platform/egress-freezes',
  summary: 'Stop a currency, or everything, from leaving',
  description:
    'Nothing new is taken and nothing is signed; what is signed goes on. Two operators lift it: request `unfreeze`.',
  tag,
  envelope: 'A',
  body: Type.Object({
    currency: line(32, 'Ticker; * for everything.'),
    reason: line(500, 'Kept in the audit log.'),
    ...factorProps,
  }),
  success: { status: 200, schema: Type.Object({ frozen: Type.Literal(true) }), description: 'It is stopped.' },
  errors: ['CURRENCY_NOT_AVAILABLE'],
  async answer({ body: fields, user, ...from }, deps) {
    const { currency, reason } = fields;
    if (!isFreezable(currency)) throw new DomainError('CURRENCY_NOT_AVAILABLE');
    await withFactor(deps, user, 'platform', fields, async (tx) => {
      await freeze(tx, currency, reason);
      await recordAct(tx, actorOf(user, from), {
        merchantId: null,
        action: 'egress.frozen',
        target: currency,
        after: { reason },
      });
    });
    return { data: { frozen: true as const } };
  },
});
