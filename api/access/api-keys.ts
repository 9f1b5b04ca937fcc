import { Type } from 'typebox';
import { scopes as allScopes, type Holder, type Scope } from '../../domain/access/access';
import { couldCall } from '../../domain/access/access-table';
import { DomainError } from '../../domain/errors';
import { secretKeyPrefixes } from '../../domain/mode';
import type { Config } from '../../domain/config';
import { isId } from '../../domain/ids';
import { isWithinRange, normaliseRange } from '../../domain/access/ip-range';
import {
  apiKeysOf,
  changeApiKey as change,
  createApiKey as create,
  lockApiKey,
  revokeApiKey as revoke,
  type ApiKeyRow,
} from '../../db/access/api-keys';
import { isChange, recordAct } from '../../db/access/audit-log';
import { publishableKeyOf, rotatePublishableKey as rotate } from '../../db/access/merchants';
import { factorProps, requireFactor, withFactor } from './step-up';
import { actorOf } from './users';
import { route } from '../http/route';
import { line, named, nullable, pageOf, paging, time } from '../http/schemas';

/** Secret keys, shown once, and the publishable key, which is no secret. Contract: 4.3, 5.1, G12. */

const tag = 'API keys';
const scopesSchema = Type.Array(Type.String({ enum: [...allScopes] }), { minItems: 1, maxItems: 50 });
const allowedIpsSchema = Type.Array(Type.String({ maxLength: 50 }), {
  maxItems: 50,
  description: 'Addresses or CIDR ranges that may use it; empty: any.',
});
const limitsSchema = Type.Object({
  dailyUsd: Type.Optional(
    Type.String({
      pattern: '^\\d{1,12}(\\.\\d{1,2})?$',
      description: 'US dollars that it may convert within any 24 hours, as a decimal string. Left out: no limit.',
    }),
  ),
});
const keySchema = named('ApiKey', {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ enum: Object.values(secretKeyPrefixes) }),
  last4: Type.String(),
  scopes: Type.Array(Type.String()),
  allowedIps: Type.Array(Type.String()),
  limits: limitsSchema,
  createdAt: time,
  createdBy: nullable(
    Type.String({ description: 'E-mail address of its maker, where known; the name of one who has left.' }),
  ),
  expiresAt: nullable(time),
  revokedAt: nullable(time),
  lastUsedAt: nullable(time),
  lastUsedIp: nullable(Type.String()),
});
const present = (row: ApiKeyRow, { MODE }: Pick<Config, 'MODE'>) => ({
  id: row.id,
  name: row.name,
  prefix: secretKeyPrefixes[MODE],
  last4: row.last4,
  scopes: row.scopes,
  allowedIps: row.allowed_ips,
  limits: row.daily_usd === null ? {} : { dailyUsd: row.daily_usd },
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by_email,
  expiresAt: row.expires_at?.toISOString() ?? null,
  revokedAt: row.revoked_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  lastUsedIp: row.last_used_ip,
});

function checkIps(entries: readonly string[]): string[] {
  const ranges = entries.map((entry) => {
    const range = normaliseRange(entry);
    if (range === null)
      throw new DomainError('VALIDATION_ERROR', `allowedIps: '${entry}' is neither an address nor a CIDR range`);
    return range;
  });
  return [...new Set(ranges)];
}

function checkExpiry(expiresAt: string | undefined): Date | null {
  if (expiresAt === undefined) return null;
  const at = new Date(expiresAt);
  if (Number.isNaN(at.getTime()) || at <= new Date())
    throw new DomainError('VALIDATION_ERROR', 'expiresAt must be a date in the future');
  return at;
}
/** A key opens nothing that its maker could not call. */
function checkScopes(maker: Holder, wanted: readonly Scope[]): void {
  if (!wanted.every((scope) => couldCall(maker, scope))) throw new DomainError('GRANT_REFUSED');
}
const expiresAtSchema = Type.String({ maxLength: 40, description: 'ISO 8601; after it the key is void.' });

export const createApiKey = route({
  name: 'createApiKey',
  method: 'post',
  path: '/api/v1/api-keys',
  summary: 'Create a secret key',
  description: 'A scope is given by whoever has the permissions that open the same routes to a session.',
  tag,
  envelope: 'A',
  body: Type.Object({
    name: line(60, 'How you call it.'),
    scopes: scopesSchema,
    expiresAt: Type.Optional(expiresAtSchema),
    allowedIps: Type.Optional(allowedIpsSchema),
    limits: Type.Optional(limitsSchema),
    ...factorProps,
  }),
  success: {
    status: 201,
    schema: Type.Object({
      ...keySchema.properties,
      apiKey: Type.String({ description: 'The key; shown this once.' }),
    }),
    description: 'Keep `apiKey`: it cannot be shown again.',
  },
  errors: ['GRANT_REFUSED'],
  async answer({ body, user, merchant, ...from }, deps) {
    requireFactor(body);
    const name = body.name.trim();
    if (!name) throw new DomainError('VALIDATION_ERROR', 'name must not be blank');
    const allowedIps = checkIps(body.allowedIps ?? []);
    const expiresAt = checkExpiry(body.expiresAt);
    const scopes = [...new Set(body.scopes)] as Scope[];
    const { dailyUsd } = body.limits ?? {};
    checkScopes(user, scopes);
    const made = await withFactor(deps, user, 'api_key', body, async (tx, maker) => {
      checkScopes(maker, scopes); // the session may be a second old
      const { apiKey, row } = await create(tx, merchant.id, {
        secretsKey: deps.config.SECRETS_KEY,
        name,
        createdBy: maker.id,
        scopes,
        allowedIps,
        expiresAt,
        dailyUsd,
      });
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'api_key.created',
        target: row.id,
        after: { name, scopes, allowedIps, expiresAt, dailyUsd },
      });
      return { apiKey, row };
    });
    return { data: { ...present(made.row, deps.config), apiKey: made.apiKey } };
  },
});

export const listApiKeys = route({
  name: 'listApiKeys',
  method: 'get',
  path: '/api/v1/api-keys',
  summary: 'List secret keys, revoked ones included',
  tag,
  envelope: 'A',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(keySchema), total: Type.Integer() }),
    description: 'One page, newest first, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, { db, config }) {
    const { items, total } = await apiKeysOf(db, merchant.id, pageOf(query));
    return { data: { items: items.map((row) => present(row, config)), total } };
  },
});

const params = Type.Object({ keyId: Type.String() });

export const changeApiKey = route({
  name: 'changeApiKey',
  method: 'patch',
  path: '/api/v1/api-keys/{keyId}',
  summary: 'Rename or narrow a secret key',
  description:
    'A key never gains: scopes can only be taken away, the addresses only be fewer or narrower, its end only sooner.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object({
    name: Type.Optional(line(60, 'How you call it.')),
    scopes: Type.Optional(scopesSchema),
    allowedIps: Type.Optional(allowedIpsSchema),
    expiresAt: Type.Optional(expiresAtSchema),
  }),
  success: { status: 200, schema: keySchema, description: 'The key.' },
  errors: ['API_KEY_NOT_FOUND'],
  async answer({ params: { keyId }, body, user, merchant, ...from }, { db, config }) {
    if (!isId(keyId)) throw new DomainError('API_KEY_NOT_FOUND');
    const row = await db.transaction(async (tx) => {
      const key = await lockApiKey(tx, merchant.id, keyId);
      if (!key) throw new DomainError('API_KEY_NOT_FOUND');
      const next = {
        name: body.name?.trim() || key.name,
        scopes: body.scopes ? [...new Set(body.scopes)] : key.scopes,
        allowedIps: body.allowedIps ? checkIps(body.allowedIps) : key.allowed_ips,
        expiresAt: checkExpiry(body.expiresAt) ?? key.expires_at,
      };
      if (next.scopes.some((scope) => !key.scopes.includes(scope)))
        throw new DomainError('VALIDATION_ERROR', 'scopes can only be taken away; create another key instead');
      const isInside = (entry: string): boolean => key.allowed_ips.some((range) => isWithinRange(entry, range));
      const isWider = key.allowed_ips.length > 0 && (next.allowedIps.length === 0 || !next.allowedIps.every(isInside));
      if (isWider) throw new DomainError('VALIDATION_ERROR', 'allowedIps can only become fewer or narrower');
      if (key.expires_at && next.expiresAt! > key.expires_at)
        throw new DomainError('VALIDATION_ERROR', 'expiresAt can only become sooner');
      const before = { name: key.name, scopes: key.scopes, allowedIps: key.allowed_ips, expiresAt: key.expires_at };
      if (isChange(before, next))
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'api_key.changed',
          target: key.id,
          before,
          after: next,
        });
      return change(tx, key.id, next);
    });
    return { data: present(row, config) };
  },
});

export const revokeApiKey = route({
  name: 'revokeApiKey',
  method: 'delete',
  path: '/api/v1/api-keys/{keyId}',
  summary: 'Revoke a secret key',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: keySchema, description: 'Void within a second.' },
  errors: ['API_KEY_NOT_FOUND'],
  async answer({ params: { keyId }, user, merchant, ...from }, { db, config }) {
    const row =
      isId(keyId) &&
      (await db.transaction(async (tx) => {
        const revoked = await revoke(tx, merchant.id, keyId);
        if (revoked)
          await recordAct(tx, actorOf(user, from), {
            merchantId: merchant.id,
            action: 'api_key.revoked',
            target: revoked.id,
          });
        return revoked;
      }));
    if (!row) throw new DomainError('API_KEY_NOT_FOUND');
    return { data: present(row, config) };
  },
});

export const getPublishableKey = route({
  name: 'getPublishableKey',
  method: 'get',
  path: '/api/v1/api-keys/publishable',
  summary: 'Read the publishable key',
  description: 'Not secret: it can only create widget payments.',
  tag,
  envelope: 'B',
  refusals: 'A',
  success: { status: 200, schema: Type.Object({ publishableKey: Type.String() }), description: 'The key in force.' },
  errors: [],
  answer: async ({ merchant }, { db }) => ({ data: { publishableKey: await publishableKeyOf(db, merchant.id) } }),
});

export const rotatePublishableKey = route({
  name: 'rotatePublishableKey',
  method: 'post',
  path: '/api/v1/api-keys/publishable/rotate',
  summary: 'Replace the publishable key',
  description: 'The old one serves for another 24 hours.',
  tag,
  envelope: 'B',
  refusals: 'A',
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: Type.Object({ publishableKey: Type.String(), previousValidUntil: time }),
    description: 'The new key.',
  },
  errors: [],
  async answer({ body, user, merchant, ...from }, deps) {
    const rotated = await withFactor(deps, user, 'publishable_key', body, async (tx) => {
      const next = await rotate(tx, merchant.id);
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'publishable_key.rotated',
        after: { publishableKey: next.publishableKey },
      });
      return next;
    });
    return {
      data: {
        publishableKey: rotated.publishableKey,
        previousValidUntil: rotated.previousValidUntil.toISOString(),
      },
    };
  },
});
