import { Type } from 'typebox';
import { payableAsset } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { pairModes, type PairMode } from '../../domain/conversions/conversion';
import { amountPattern, fit, isPositive } from '../../domain/money';
import { everyCurrency, freezes } from '../../db/limits/outbound';
import { limitPosition, readExposure, setPair } from '../../db/conversions/exposure';
import { switches, touchedSwitches } from '../../db/access/switches';
import { flipSwitch, freezeCurrency } from '../../commands/operators/switches';
import { factorProps, requireFactor, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import { currencyOf } from '../../domain/conversions/ask';
import { route } from '../http/route';
import { line, named, nullable, time } from '../http/schemas';

/** Acts of the platform's operators, who belong to no merchant. The same exist as a command:
 *  docs/operations/platform.md. */

const tag = 'Platform';
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
    requireFactor(fields);
    const known = switches.find((one) => one === name);
    if (!known) throw new DomainError('NOT_FOUND');
    const changedAt = new Date().toISOString();
    await withFactor(deps, user, 'platform', fields, (tx) =>
      flipSwitch(tx, actorOf(user, from), { name: known, isOn: fields.isOn, reason: fields.reason }),
    );
    return { data: { name: known, isOn: fields.isOn, reason: fields.reason, changedAt } };
  },
});

const usd = Type.String({ pattern: amountPattern, description: 'Dollars.' });
const beyond = Type.String({
  enum: ['external', 'off'],
  description: 'What becomes of pairs that would enlarge a position beyond its limit.',
});
const pairMode = Type.String({ enum: [...pairModes] });
export const exposureSchema = named('Exposure', {
  assets: Type.Array(
    Type.Object({
      currency: Type.String(),
      position: Type.String({ description: 'Taken in by converting less what was given; either sign.' }),
      positionUsd: nullable(Type.String()),
      limitUsd: nullable(Type.String()),
      beyond,
      treasury: Type.String({ description: 'What the treasury holds; of `BTC_LN` what is in the channels.' }),
      owed: Type.String({ description: 'What merchants are owed.' }),
      free: Type.String({
        description:
          'What can be given by converting; of a frozen asset nothing. Of `BTC_LN` what its owner may take out.',
      }),
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
const exposureSuccess = {
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
  success: exposureSuccess,
  errors: [],
  answer: async (_call, { db, config }) => ({ data: await readExposure(db, config.networks) }),
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
  success: exposureSuccess,
  errors: [],
  async answer({ params, body: fields, user, ...from }, deps) {
    requireFactor(fields);
    const limit = {
      currency: currencyOf(params.currency, 'currency', true),
      limitUsd: cents(fields.limitUsd),
      beyond: fields.beyond as 'external' | 'off',
      reason: fields.reason,
    };
    await withFactor(deps, user, 'platform', fields, (tx) => limitPosition(tx, actorOf(user, from), limit));
    return { data: await readExposure(deps.db, deps.config.networks) };
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
  success: exposureSuccess,
  errors: ['SAME_CURRENCY'],
  async answer({ body: fields, user, ...from }, deps) {
    requireFactor(fields);
    const pair = {
      fromCurrency: currencyOf(fields.fromCurrency, 'fromCurrency', true),
      toCurrency: currencyOf(fields.toCurrency, 'toCurrency'),
      mode: fields.mode as PairMode,
      maximumUsd: cents(fields.maximumUsd),
      reason: fields.reason,
    };
    if (pair.fromCurrency === pair.toCurrency) throw new DomainError('SAME_CURRENCY');
    if (pair.maximumUsd !== null && !isPositive(pair.maximumUsd))
      throw new DomainError('VALIDATION_ERROR', 'maximumUsd must be at least a cent');
    await withFactor(deps, user, 'platform', fields, (tx) => setPair(tx, actorOf(user, from), pair));
    return { data: await readExposure(deps.db, deps.config.networks) };
  },
});

const freezeSchema = named('EgressFreeze', {
  currency: Type.String({ description: 'Ticker; * for everything.' }),
  reason: Type.String(),
  frozenAt: time,
});
const isFreezable = (currency: string): boolean =>
  currency === everyCurrency || payableAsset(currency, true) !== undefined;

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
    requireFactor(fields);
    const { currency, reason } = fields;
    if (!isFreezable(currency)) throw new DomainError('CURRENCY_NOT_AVAILABLE');
    await withFactor(deps, user, 'platform', fields, (tx) => freezeCurrency(tx, actorOf(user, from), currency, reason));
    return { data: { frozen: true as const } };
  },
});
