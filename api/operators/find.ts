import { Type } from 'typebox';
import { find, type Found, type RecordStory } from '../../commands/operators/find';
import type { FoundDelivery, FoundDeposit, FoundIncident, FoundIntent } from '../../db/operators/find';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { exact, named, nullable, time } from '../http/schemas';
import { merchantSchema, presentMerchant } from './merchants';
import { workflowUrl } from './workflow-url';

/** One search over everything. docs/operations/platform.md */

const text = Type.String();
const workflowSchema = Type.Object({
  id: text,
  url: nullable(Type.String({ description: 'In the Temporal UI.' })),
});
const depositSchema = Type.Object({
  id: text,
  network: text,
  txId: text,
  index: Type.Integer(),
  address: text,
  currency: nullable(text),
  amount: exact('What came.'),
  status: text,
  height: nullable(text),
  allocation: nullable(Type.String({ description: 'The ledger account that has it.' })),
  firstSeenAt: time,
  confirmedAt: nullable(time),
});
const intentSchema = named('FoundIntent', {
  id: text,
  kind: text,
  network: text,
  currency: text,
  status: text,
  fromAddress: text,
  booked: Type.Boolean({ description: 'Its end is in the ledger.' }),
  createdAt: time,
  workflow: nullable(workflowSchema),
  attempts: Type.Array(
    Type.Object({
      n: Type.Integer(),
      txId: text,
      status: text,
      nonce: nullable(Type.Integer()),
      height: nullable(text),
      success: nullable(Type.Boolean()),
      createdAt: time,
      sentAt: nullable(time),
    }),
  ),
});
const journalSchema = Type.Object({
  id: text,
  key: text,
  entryType: nullable(Type.String({ description: 'What it is in the merchant’s statement.' })),
  reverses: nullable(Type.String({ description: 'The journal that it takes back.' })),
  createdAt: time,
  postings: Type.Array(Type.Object({ debit: text, credit: text, asset: text, amount: exact('Always positive.') })),
});
const deliverySchema = Type.Object({
  id: text,
  eventId: text,
  type: text,
  endpointId: Type.String({ description: '`ipn`, or the id of the webhook endpoint.' }),
  host: nullable(Type.String({ description: 'Where it goes. The address itself may hold a secret of the merchant.' })),
  status: text,
  attempts: Type.Integer(),
  nextAttemptAt: nullable(time),
  createdAt: time,
});
const incidentSchema = Type.Object({
  id: text,
  kind: text,
  subject: Type.Object({ kind: text, id: text }),
  createdAt: time,
  resolvedAt: nullable(time),
});
const recordSchema = named('FoundRecord', {
  kind: Type.String({ enum: ['payment', 'withdrawal', 'refund', 'conversion', 'payout'] }),
  id: text,
  merchant: Type.Object({ id: text, name: text }),
  status: text,
  currency: nullable(text),
  amount: nullable(exact('As it was asked for.')),
  slug: nullable(text),
  orderId: nullable(text),
  address: nullable(text),
  createdAt: time,
  workflows: Type.Array(workflowSchema, { description: 'The one that leads it, and those that send for it.' }),
  deposits: Type.Array(depositSchema),
  intents: Type.Array(intentSchema),
  journals: Type.Array(journalSchema),
  deliveries: Type.Array(deliverySchema),
  incidents: Type.Array(incidentSchema),
});
const foundSchema = named('Found', {
  records: Type.Array(recordSchema, { description: 'Newest first.' }),
  isCut: Type.Boolean({ description: 'More records than these fit.' }),
  intents: Type.Array(intentSchema, { description: 'Of this transaction or number, whatever they are for.' }),
  addresses: Type.Array(
    Type.Object({
      network: text,
      address: text,
      role: Type.String({ enum: ['deposit', 'treasury', 'gas'] }),
      currency: nullable(text),
      merchantId: nullable(text),
      paymentId: nullable(text),
      conversionId: nullable(text),
    }),
    { description: 'Addresses of ours.' },
  ),
  merchants: Type.Array(merchantSchema),
  users: Type.Array(
    Type.Object({
      id: text,
      email: text,
      displayName: text,
      role: text,
      isActive: Type.Boolean(),
      merchantId: nullable(text),
      merchantName: nullable(text),
      lastLoginAt: nullable(time),
    }),
  ),
});

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;
const presentDeposit = ({ firstSeenAt, confirmedAt, ...deposit }: FoundDeposit) => ({
  ...deposit,
  firstSeenAt: firstSeenAt.toISOString(),
  confirmedAt: iso(confirmedAt),
});
const presentIntent = (deps: Pick<ApiDeps, 'config'>, { intent, workflowId }: Found['intents'][number]) => ({
  id: intent.id,
  kind: intent.kind,
  network: intent.network,
  currency: intent.currency,
  status: intent.status,
  fromAddress: intent.fromAddress,
  booked: intent.booked,
  createdAt: intent.createdAt.toISOString(),
  workflow: workflowId === null ? null : { id: workflowId, url: workflowUrl(deps, workflowId) },
  attempts: intent.attempts.map(presentAttempt),
});
const presentAttempt = ({ n, txId, status, nonce, height, success, createdAt, sentAt }: Attempt) => ({
  ...{ n, txId, status, nonce, height, success },
  createdAt: new Date(createdAt).toISOString(),
  sentAt: sentAt === null ? null : new Date(sentAt).toISOString(),
});
type Attempt = FoundIntent['attempts'][number];
const presentDelivery = ({ url, endpoint, nextAttemptAt, createdAt, ...delivery }: FoundDelivery) => ({
  ...delivery,
  endpointId: endpoint.trim(),
  host: URL.parse(url)?.host ?? null,
  nextAttemptAt: iso(nextAttemptAt),
  createdAt: createdAt.toISOString(),
});
const presentIncident = (one: FoundIncident) => ({
  id: one.id,
  kind: one.kind,
  subject: { kind: one.subjectKind, id: one.subjectId },
  createdAt: one.createdAt.toISOString(),
  resolvedAt: iso(one.resolvedAt),
});
const presentRecord = (deps: Pick<ApiDeps, 'config'>, { record, ...story }: RecordStory) => ({
  kind: record.kind,
  id: record.id,
  merchant: { id: record.merchant_id, name: record.merchant_name },
  status: record.status,
  currency: record.currency,
  amount: record.amount,
  slug: record.slug,
  orderId: record.order_id,
  address: record.address,
  createdAt: record.created_at.toISOString(),
  workflows: story.workflowIds.map((id) => ({ id, url: workflowUrl(deps, id) })),
  deposits: story.deposits.map(presentDeposit),
  intents: story.intents.map((one) => presentIntent(deps, one)),
  journals: story.journals.map((one) => ({ ...one, createdAt: one.createdAt.toISOString() })),
  deliveries: story.deliveries.map(presentDelivery),
  incidents: story.incidents.map(presentIncident),
});

export const findAnything = route({
  name: 'findAnything',
  method: 'get',
  path: '/api/v1/platform/find',
  summary: 'Find everything about whatever an id, an address or a transaction names',
  description:
    'The id of a payment, withdrawal, refund, conversion, mass payout or one of its lines, event, delivery, merchant ' +
    'or user; the slug of an invoice; a transaction; an address of ours, or one that was paid; an order id; a number ' +
    'of an intent; or the e-mail address of a dashboard user. A search by e-mail address is in the audit log.',
  tag: 'Platform',
  envelope: 'A',
  query: Type.Object({
    q: Type.String({
      maxLength: 256,
      pattern: '^(?=.*[^\\s])[^\\u0000-\\u001f\\ud800-\\udfff]*$',
      description: 'What to look for; all of it, not a part.',
    }),
  }),
  success: { status: 200, schema: foundSchema, description: 'Everything that it names; empty lists where nothing.' },
  errors: [],
  async answer({ query: { q }, user, ...from }, deps) {
    const found = await find(deps.db, deps.codecs, q, actorOf(user, from));
    return {
      data: {
        records: found.records.map((one) => presentRecord(deps, one)),
        isCut: found.isCut,
        intents: found.intents.map((one) => presentIntent(deps, one)),
        addresses: found.addresses,
        merchants: found.merchants.map(presentMerchant),
        users: found.users.map((one) => ({ ...one, lastLoginAt: iso(one.lastLoginAt) })),
      },
    };
  },
});
