import { Type } from 'typebox';
import type { Merchant, User } from '../../domain/access/access';
import { checkCallbackUrl } from '../../domain/webhooks/callback-url';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { eventTypes, isEventType } from '../../domain/webhooks/event-types';
import { endpointLimit, isEventPattern, oldSecretHours, viewEndpoint } from '../../domain/webhooks/webhook-endpoint';
import type { UsedKey } from '../../db/access/api-keys';
import { isChange, recordAct, type Actor } from '../../db/access/audit-log';
import { deliveriesOf } from '../../db/webhooks/deliveries';
import { deliveryId, replayEvents, replayLimit } from '../../db/webhooks/events';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  emitTest,
  endpointsOf,
  readEndpoint,
  rotateEndpointSecret,
} from '../../db/webhooks/webhook-endpoints';
import { actorOf } from '../access/users';
import { momentOf } from '../http/dates';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { callbackUrl, line, named, nullable, pageOf, paging, time } from '../http/schemas';
import { deliverySchema, presentDelivery } from './webhook-deliveries';

/** Where a merchant wants every event sent, beside the IPN of single payments. Contract: G4. */

const tag = 'Webhooks';
const properties = {
  id: Type.String(),
  url: Type.String(),
  enabledEvents: Type.Array(Type.String()),
  description: nullable(Type.String()),
  isActive: Type.Boolean(),
  createdAt: time,
  disabledReason: Type.Union([Type.String({ enum: ['gone', 'failing'] }), Type.Null()], {
    description: 'Why we switched it off: it answered 410 (`gone`), or every attempt failed for five days (`failing`).',
  }),
};
export const endpointSchema = named('WebhookEndpoint', properties);
const secret = Type.String({ description: '`whsec_…`, as Standard Webhooks verifiers take it; shown this once.' });
const enabledEvents = Type.Array(Type.String({ maxLength: 60 }), {
  minItems: 1,
  maxItems: 100,
  description: '`*`, an area such as `payment.*`, or exact types: see the list of event types.',
});
const description = nullable(line(200, 'For yourself.'));
const url = callbackUrl('https, port 443 or 8443, and no internal address.');
const params = Type.Object({ endpointId: Type.String({ description: '24-hex id.' }) });

function checkUrl(text: string, merchant: Merchant, { config }: ApiDeps): string {
  const rules = { allowedDomains: merchant.callbackDomains, allowInsecure: config.ALLOW_INSECURE_CALLBACKS };
  try {
    checkCallbackUrl(text, 'url', rules);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'PAYMENT_CREATION_FAILED')
      throw new DomainError('VALIDATION_ERROR', 'url: its host is not among the callbackDomains of the settings');
    throw error;
  }
  return text;
}

function checkEvents(patterns: readonly string[]): string[] {
  for (const pattern of patterns)
    if (!isEventPattern(pattern, Object.keys(eventTypes)))
      throw new DomainError('VALIDATION_ERROR', `enabledEvents: '${pattern}' is no type of event`);
  return [...new Set(patterns)];
}

/** The merchant's endpoint of this id. Throws WEBHOOK_ENDPOINT_NOT_FOUND. */
const checkId = (id: string): string => {
  if (!isId(id)) throw new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND');
  return id;
};

type From = Readonly<{ user: User | undefined; key: UsedKey | undefined; ip: string; requestId: string }>;
const actor = ({ user, key, ip, requestId }: From): Actor =>
  user
    ? actorOf(user, { ip, requestId })
    : { kind: 'key', id: key?.id ?? null, name: key ? `key ${key.id}` : 'key', ip, requestId };

export const createWebhookEndpoint = route({
  name: 'createWebhookEndpoint',
  method: 'post',
  path: '/api/v1/webhook-endpoints',
  summary: 'Add a webhook endpoint',
  description:
    'Events are posted there from now on, signed as Standard Webhooks. ' + `At most ${endpointLimit} per merchant.`,
  tag,
  envelope: 'A',
  body: Type.Object({ url, enabledEvents, description: Type.Optional(description) }),
  success: {
    status: 201,
    schema: Type.Object({ ...properties, secret }),
    description: 'Keep `secret`: it cannot be shown again.',
  },
  errors: ['CALLBACK_NOT_HTTPS', 'CALLBACK_INTERNAL', 'TOO_MANY_ENDPOINTS'],
  async answer({ body, merchant, ...from }, deps) {
    const wanted = {
      url: checkUrl(body.url, merchant, deps),
      enabledEvents: checkEvents(body.enabledEvents),
      description: body.description ?? null,
    };
    const made = await deps.db.transaction(async (tx) => {
      const { row, secret: text } = await createEndpoint(tx, deps.config.SECRETS_KEY, merchant.id, wanted);
      await recordAct(tx, actor(from), {
        merchantId: merchant.id,
        action: 'webhook_endpoint.created',
        target: row.id,
        after: wanted,
      });
      return { ...viewEndpoint(row), secret: text };
    });
    return { data: made };
  },
});

export const listWebhookEndpoints = route({
  name: 'listWebhookEndpoints',
  method: 'get',
  path: '/api/v1/webhook-endpoints',
  summary: 'List webhook endpoints, newest first',
  tag,
  envelope: 'A',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(endpointSchema), total: Type.Integer() }),
    description: 'One page, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, { db }) {
    const { rows, total } = await endpointsOf(db, merchant.id, pageOf(query));
    return { data: { items: rows.map(viewEndpoint), total } };
  },
});

export const getWebhookEndpoint = route({
  name: 'getWebhookEndpoint',
  method: 'get',
  path: '/api/v1/webhook-endpoints/{endpointId}',
  summary: 'Get a webhook endpoint',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: endpointSchema, description: 'The endpoint.' },
  errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  answer: async ({ merchant, params: { endpointId } }, { db }) => ({
    data: viewEndpoint(await readEndpoint(db, merchant.id, checkId(endpointId))),
  }),
});

export const changeWebhookEndpoint = route({
  name: 'changeWebhookEndpoint',
  method: 'patch',
  path: '/api/v1/webhook-endpoints/{endpointId}',
  summary: 'Change a webhook endpoint, or switch it off and on',
  description:
    'What is left out stays as it is. While it is off nothing is sent there, and what was on its way is cancelled ' +
    'at its next attempt.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object({
    url: Type.Optional(url),
    enabledEvents: Type.Optional(enabledEvents),
    description: Type.Optional(description),
    isActive: Type.Optional(Type.Boolean()),
  }),
  success: { status: 200, schema: endpointSchema, description: 'The endpoint as it is now.' },
  errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'CALLBACK_NOT_HTTPS', 'CALLBACK_INTERNAL'],
  async answer({ params: { endpointId }, body, merchant, ...from }, deps) {
    const row = await deps.db.transaction(async (tx) => {
      const { url: was, ...before } = viewEndpoint(
        await readEndpoint(tx, merchant.id, checkId(endpointId), { lock: true }),
      );
      const next = {
        url: body.url === undefined ? was : checkUrl(body.url, merchant, deps),
        enabledEvents: body.enabledEvents ? checkEvents(body.enabledEvents) : before.enabledEvents,
        description: body.description === undefined ? before.description : body.description,
        isActive: body.isActive ?? before.isActive,
      };
      if (isChange({ ...before, url: was }, { ...before, ...next }))
        await recordAct(tx, actor(from), {
          merchantId: merchant.id,
          action: 'webhook_endpoint.changed',
          target: endpointId,
          before: { url: was, ...before },
          after: next,
        });
      return changeEndpoint(tx, endpointId, next);
    });
    return { data: viewEndpoint(row) };
  },
});

export const deleteWebhookEndpoint = route({
  name: 'deleteWebhookEndpoint',
  method: 'delete',
  path: '/api/v1/webhook-endpoints/{endpointId}',
  summary: 'Delete a webhook endpoint',
  tag,
  envelope: 'A',
  params,
  success: {
    status: 200,
    schema: Type.Object({ deleted: Type.Literal(true) }),
    description: 'What was on its way there is cancelled; its deliveries stay in the log.',
  },
  errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  async answer({ params: { endpointId }, merchant, ...from }, { db }) {
    await db.transaction(async (tx) => {
      await deleteEndpoint(tx, merchant.id, checkId(endpointId));
      await recordAct(tx, actor(from), {
        merchantId: merchant.id,
        action: 'webhook_endpoint.deleted',
        target: endpointId,
      });
    });
    return { data: { deleted: true } };
  },
});

export const rotateWebhookSecret = route({
  name: 'rotateWebhookSecret',
  method: 'post',
  path: '/api/v1/webhook-endpoints/{endpointId}/rotate-secret',
  summary: 'Replace the secret of a webhook endpoint',
  description:
    `The old one signs too for another ${oldSecretHours} hours: ` +
    '`webhook-signature` then holds two, separated by a space.',
  tag,
  envelope: 'A',
  params,
  success: {
    status: 200,
    schema: Type.Object({ ...properties, secret, previousValidUntil: time }),
    description: 'Keep `secret`: it cannot be shown again.',
  },
  errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  async answer({ params: { endpointId }, merchant, ...from }, { db, config }) {
    const rotated = await db.transaction(async (tx) => {
      const next = await rotateEndpointSecret(tx, config.SECRETS_KEY, merchant.id, checkId(endpointId));
      await recordAct(tx, actor(from), {
        merchantId: merchant.id,
        action: 'webhook_endpoint.secret_rotated',
        target: endpointId,
      });
      return next;
    });
    return {
      data: {
        ...viewEndpoint(rotated.row),
        secret: rotated.secret,
        previousValidUntil: rotated.previousValidUntil.toISOString(),
      },
    };
  },
});

export const testWebhookEndpoint = route({
  name: 'testWebhookEndpoint',
  method: 'post',
  path: '/api/v1/webhook-endpoints/{endpointId}/test',
  summary: 'Send a `webhook.test` event to a webhook endpoint',
  description:
    'To this endpoint alone, whatever its `enabledEvents`. With `type`, its data has as `example` what your newest ' +
    'event of that type had.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object({ type: Type.Optional(line(60, 'A type of event.')) }),
  success: { status: 202, schema: deliverySchema, description: 'The delivery; read it again to see what came of it.' },
  errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_ENDPOINT_INACTIVE'],
  async answer({ params: { endpointId }, body, merchant }, { db }) {
    if (body.type !== undefined && !isEventType(body.type))
      throw new DomainError('VALIDATION_ERROR', 'type is no type of event');
    const [delivery] = await db.transaction(async (tx) => {
      const endpoint = await readEndpoint(tx, merchant.id, checkId(endpointId), { lock: true });
      if (!endpoint.is_active) throw new DomainError('WEBHOOK_ENDPOINT_INACTIVE');
      const event = await emitTest(tx, endpoint, body.type ?? null);
      return deliveriesOf(tx, merchant.id, { id: deliveryId(event, endpointId) }, 1);
    });
    return { data: presentDelivery(delivery!) };
  },
});

const moment = Type.String({ maxLength: 40, description: 'ISO 8601; a bare date is the start of a UTC day.' });

export const replayWebhookEndpoint = route({
  name: 'replayWebhookEndpoint',
  method: 'post',
  path: '/api/v1/webhook-endpoints/{endpointId}/replay',
  summary: 'Send the events of a span of time to a webhook endpoint, again or for the first time',
  description:
    'From `since` to before `until`, delivered ones too, with the same `webhook-id`; ' +
    `at most ${replayLimit} at a time. What is on its way there already goes on.`,
  tag,
  envelope: 'A',
  params,
  body: Type.Object({
    since: moment,
    until: moment,
    types: Type.Optional({ ...enabledEvents, description: 'As `enabledEvents`, which counts where this is left out.' }),
  }),
  success: {
    status: 202,
    schema: Type.Object({ deliveries: Type.Integer({ description: 'How many are sent now.' }) }),
    description: 'They are on their way.',
  },
  errors: ['WEBHOOK_ENDPOINT_NOT_FOUND', 'WEBHOOK_ENDPOINT_INACTIVE'],
  async answer({ params: { endpointId }, body, merchant, ...from }, { db }) {
    const [since, until] = [momentOf(body.since, 'since')!, momentOf(body.until, 'until')!];
    if (since >= until) throw new DomainError('VALIDATION_ERROR', 'since must be before until');
    const types = body.types && checkEvents(body.types);
    const deliveries = await db.transaction(async (tx) => {
      const endpoint = await readEndpoint(tx, merchant.id, checkId(endpointId));
      if (!endpoint.is_active) throw new DomainError('WEBHOOK_ENDPOINT_INACTIVE');
      const count = await replayEvents(
        tx,
        { id: endpointId, merchantId: merchant.id, url: endpoint.url },
        { since, until, types: types ?? endpoint.enabled_events },
      );
      if (count === null)
        throw new DomainError('VALIDATION_ERROR', `More than ${replayLimit} events: name a shorter span of time`);
      await recordAct(tx, actor(from), {
        merchantId: merchant.id,
        action: 'webhook_endpoint.replayed',
        target: endpointId,
        after: { since, until, types: types ?? null, deliveries: count },
      });
      return count;
    });
    return { data: { deliveries } };
  },
});
