import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import { mayCall, type User } from '../../domain/access/access';
import { access } from '../../domain/access/access-table';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { amountPattern } from '../../domain/money';
import {
  refundStatuses,
  viewRefund,
  type RefundRow,
  type RefundStatus,
  type ShownRefund,
} from '../../domain/refunds/refund';
import type { UsedKey } from '../../db/access/api-keys';
import { recordAct } from '../../db/access/audit-log';
import type { Queryable } from '../../db/query';
import { claimUrl } from '../../commands/refunds/claim';
import { readPayment } from '../../db/payments/payment-queries';
import { listRefunds as list, readRefund } from '../../db/refunds/refunds';
import { approvedBefore, approveRefund as approve } from '../../commands/refunds/approve';
import { cancelledBefore, cancelRefund as cancel } from '../../commands/refunds/cancel';
import { findRefund, openRefund } from '../../commands/refunds/create';
import { previewRefund as preview } from '../../commands/refunds/preview';
import type { NewRefund, RefundOrder } from '../../commands/refunds/terms';
import { type RefundBy } from '../../domain/refunds/refund';
import { factorProps, requireFactor, withFactor } from '../access/step-up';
import { actorOf, approverOf } from '../access/users';
import { momentOf } from '../http/dates';
import { sendDeps, isLive, type ApiDeps } from '../http/deps';
import { idempotencyKeyOf } from '../http/idempotency';
import { route } from '../http/route';
import { exact, heldFlag, isOn, line, livemode, named, nullable, pageOf, paging, time } from '../http/schemas';
import { checkWithdrawalIp } from '../wallets/withdrawal-ips';

/** Money back to payers. A refund leaves this service, so that a user approves it with a second factor, from a place of
 *  the IP list: at its creation, or, where a key asked for it, by approving it. Contract: G3. */

const tag = 'Refunds';
const status = Type.String({ enum: [...refundStatuses] });
const type = Type.String({ enum: ['full', 'partial', 'overpaid', 'underpaid'] });
const feeBearer = Type.String({ enum: ['merchant', 'payer'] });

export const refundSchema = named('Refund', {
  _id: Type.String(),
  paymentId: Type.String(),
  status,
  stateVersion: Type.Integer(),
  livemode,
  type,
  currency: Type.String(),
  amount: exact('What counts against the payment.'),
  networkFee: exact(
    'Estimated at creation, and charged. It may rise once, before anything is signed, by what the address takes ' +
      'above a usual transfer. Of what the merchant bears that is charged apart, as an entry of its own.',
  ),
  netToDestination: exact('What the address gets.'),
  feeBearer,
  fiatAmount: Type.String({ description: 'Of amount, at the rate it was asked for.' }),
  fiatCurrency: Type.String(),
  address: nullable(Type.String({ description: 'For BTC_LN the invoice that the payer has named.' })),
  destinationTag: nullable(Type.String()),
  claimUrl: nullable(
    Type.String({
      description:
        'Where the payer names the address, while the refund waits for it: hand it to the payer and nobody else. Who ' +
        'has the link says where the money goes: of a refund that is approved already it is shown to users who may ' +
        'make one, not to keys; never in events, never in public answers.',
    }),
  ),
  reason: nullable(Type.String()),
  reference: nullable(Type.String()),
  txId: nullable(Type.String({ description: 'For BTC_LN the payment hash.' })),
  merchantMessage: nullable(Type.String()),
  createdAt: time,
  updatedAt: time,
  completedAt: nullable(time),
});
const previewSchema = named('RefundPreview', { ...refundSchema.properties, _id: Type.Null() });
/** A key must not learn how to send what a user has approved. */
const present = (row: ShownRefund, deps: ApiDeps, user: User | undefined) => {
  const mayKnow = row.approved_at === null || (user !== undefined && mayCall(user, access.approveRefund.may));
  const link = row.status === 'awaiting_address' && mayKnow ? claimUrl(deps.config, row.id) : null;
  return viewRefund(row, isLive(deps), link);
};
const presentPreview = (row: RefundRow, deps: ApiDeps) => ({ ...viewRefund(row, isLive(deps)), _id: null });

const paymentParams = Type.Object({ paymentId: Type.String({ description: '24-hex payment id.' }) });
const refundParams = Type.Object({ refundId: Type.String({ description: '24-hex refund id.' }) });
const listSchema = Type.Object({ items: Type.Array(refundSchema), total: Type.Integer() });

const ask = {
  type: Type.String({
    enum: ['full', 'partial', 'overpaid', 'underpaid'],
    description:
      'full: all that is left; partial: needs amount; overpaid: what came beyond the price, or amount of it; ' +
      'underpaid: what is held of a payment that failed, which goes back whole.',
  }),
  amount: Type.Optional(
    Type.String({
      pattern: amountPattern,
      description: "In the payment's currency, with no more decimals than that; with rateBasis in its fiat currency.",
    }),
  ),
  currency: Type.Optional(line(32, 'Which, where several are held without being credited.')),
  rateBasis: Type.Optional(
    Type.String({ enum: ['paid', 'current'], description: 'The rate at which a fiat amount is converted.' }),
  ),
  address: Type.Optional(
    line(
      120,
      'Where it goes; ask the payer, the address that money came from may not be theirs. Without it the payer ' +
        'names one at claimUrl; for BTC_LN always, as an invoice.',
    ),
  ),
  destinationTag: Type.Optional(line(64, 'Where the network has tags.')),
  feeBearer: Type.Optional(
    Type.String({
      enum: ['merchant', 'payer'],
      description:
        'merchant, the default: the fee is added to amount; payer: it is taken from it, as always where nothing ' +
        'was credited.',
    }),
  ),
  reason: Type.Optional(line(256, 'For your records.')),
  reference: Type.Optional(line(256, 'Your own id.')),
};
const refusals = [
  'PAYMENT_NOT_FOUND',
  'REFUND_NOT_ALLOWED',
  'REFUND_EXCEEDS_PAID',
  'BELOW_MINIMUM',
  'INVALID_ADDRESS',
  'CURRENCY_NOT_AVAILABLE',
  'RATE_UNAVAILABLE',
] as const;

const byOf = (user: User | undefined, key: UsedKey | undefined): RefundBy =>
  user ? { userId: user.id } : { keyId: key!.id, madeBy: key!.madeBy };

async function previewed(deps: ApiDeps, order: RefundOrder): Promise<{ data: object }> {
  if (!isId(order.paymentId)) throw new DomainError('PAYMENT_NOT_FOUND');
  const row = await deps.db.transaction((tx) => preview(tx, sendDeps(deps), order));
  return { data: presentPreview(row, deps) };
}
const askOf = (body: object): NewRefund => body as NewRefund;

export const createRefund = route({
  name: 'createRefund',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/refunds',
  summary: 'Refund a payment',
  description:
    'What it takes is held at once. Asked for by a user it is sent; asked for by a key it waits until a user ' +
    'approves it. The same Idempotency-Key and body return the first refund (`Idempotency-Replayed: true`); a ' +
    'session brings its factor again, which is not used then. With `preview` nothing happens, and `_id` is null.',
  tag,
  envelope: 'A',
  headers: { 'Idempotency-Key': '1 to 255 printable ASCII characters, no spaces. One per refund.' },
  params: paymentParams,
  body: Type.Object({
    ...ask,
    preview: Type.Optional(Type.Boolean()),
    idempotencyKey: Type.Optional(Type.String({ description: 'In place of the header, which comes first.' })),
    ...factorProps,
  }),
  marksRepeats: true,
  success: {
    status: 201,
    schema: Type.Object({ ...refundSchema.properties, _id: nullable(Type.String()) }),
    description: 'The refund, new or the first with this key.',
  },
  errors: [
    ...refusals,
    'INSUFFICIENT_BALANCE',
    'EGRESS_FROZEN',
    'EGRESS_LIMIT',
    'REFUND_CAP_REACHED',
    'IP_NOT_WHITELISTED',
    'IDEMPOTENCY_KEY_REUSED',
    'INVALID_IDEMPOTENCY_KEY',
    'RESERVED_IDEMPOTENCY_KEY',
  ],
  async answer({ params: { paymentId }, body, user, key: used, merchant, header, ...from }, deps) {
    const by = byOf(user, used);
    const order = { merchantId: merchant.id, paymentId, ask: askOf(body), by };
    if (body.preview) return previewed(deps, order);
    if (!isId(paymentId)) throw new DomainError('PAYMENT_NOT_FOUND');
    // What a key asks for waits for a user, who is asked then.
    if (user) {
      await checkWithdrawalIp(deps.db, merchant.id, from.ip);
      requireFactor(body);
    }
    const key = idempotencyKeyOf(header('idempotency-key'), body.idempotencyKey);
    const call = { ...order, idempotencyKey: key };
    const open = (tx: EntityManager) => openRefund(tx, sendDeps(deps), call);
    const known = (db: Queryable) => findRefund(db, call);
    const byUser = async (tx: EntityManager, asker: User) => {
      const opened = await open(tx);
      if (!opened.replayed)
        await recordAct(tx, actorOf(asker, from), {
          merchantId: merchant.id,
          action: 'refund.created',
          target: opened.row.id,
          after: { amount: opened.row.amount, currency: opened.row.currency, address: opened.row.address },
        });
      return opened;
    };
    const { row, replayed } = user
      ? await withFactor(deps, user, 'refund', body, (tx) => byUser(tx, user), { known })
      : await deps.db.transaction(open);
    const headers: Record<string, string> = replayed ? { 'Idempotency-Replayed': 'true' } : {};
    return { data: present(row, deps, user), headers };
  },
});

export const previewRefund = route({
  name: 'previewRefund',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/refunds/preview',
  summary: 'What a refund would be',
  description: 'Holds and moves nothing.',
  tag,
  envelope: 'A',
  params: paymentParams,
  body: Type.Object(ask),
  success: { status: 200, schema: previewSchema, description: 'The refund that this would make, without an id.' },
  errors: refusals,
  answer: ({ params, body, user, key, merchant }, deps) =>
    previewed(deps, { merchantId: merchant.id, paymentId: params.paymentId, ask: askOf(body), by: byOf(user, key) }),
});

export const listPaymentRefunds = route({
  name: 'listPaymentRefunds',
  method: 'get',
  path: '/api/v1/payments/{paymentId}/refunds',
  summary: 'Refunds of a payment, newest first',
  tag,
  envelope: 'A',
  params: paymentParams,
  query: Type.Object(paging),
  success: { status: 200, schema: listSchema, description: 'One page, and how many there are in all.' },
  errors: ['PAYMENT_NOT_FOUND'],
  async answer({ merchant, user, params: { paymentId }, query }, deps) {
    const { db } = deps;
    if (!isId(paymentId) || !(await readPayment(db, merchant.id, paymentId)))
      throw new DomainError('PAYMENT_NOT_FOUND');
    const { items, total } = await list(db, merchant.id, { paymentId }, pageOf(query));
    return { data: { items: items.map((row) => present(row, deps, user)), total } };
  },
});

export const listRefunds = route({
  name: 'listRefunds',
  method: 'get',
  path: '/api/v1/refunds',
  summary: 'List refunds, newest first',
  tag,
  envelope: 'A',
  query: Type.Object({
    status: Type.Optional(status),
    held: heldFlag,
    currency: Type.Optional(line(32, 'Ticker.')),
    dateFrom: Type.Optional(Type.String({ description: 'Created at or after.' })),
    dateTo: Type.Optional(Type.String({ description: 'Created before.' })),
    ...paging,
  }),
  success: { status: 200, schema: listSchema, description: 'One page, and how many there are in all.' },
  errors: [],
  async answer({ merchant, user, query }, deps) {
    const filter = {
      status: query.status as RefundStatus | undefined,
      isDelayed: isOn(query.held),
      currency: query.currency,
      dateFrom: momentOf(query.dateFrom, 'dateFrom'),
      dateTo: momentOf(query.dateTo, 'dateTo'),
    };
    const { items, total } = await list(deps.db, merchant.id, filter, pageOf(query));
    return { data: { items: items.map((row) => present(row, deps, user)), total } };
  },
});

export const getRefund = route({
  name: 'getRefund',
  method: 'get',
  path: '/api/v1/refunds/{refundId}',
  summary: 'Get a refund',
  tag,
  envelope: 'A',
  params: refundParams,
  success: { status: 200, schema: refundSchema, description: 'The refund.' },
  errors: ['REFUND_NOT_FOUND'],
  async answer({ merchant, user, params: { refundId } }, deps) {
    const row = isId(refundId) ? await readRefund(deps.db, merchant.id, refundId) : null;
    if (!row) throw new DomainError('REFUND_NOT_FOUND');
    return { data: present(row, deps, user) };
  },
});

export const cancelRefund = route({
  name: 'cancelRefund',
  method: 'post',
  path: '/api/v1/refunds/{refundId}/cancel',
  summary: 'Call a refund back',
  description: 'Until its transaction is signed. What it held is back in the balance.',
  tag,
  envelope: 'A',
  params: refundParams,
  success: { status: 200, schema: refundSchema, description: 'Cancelled.' },
  errors: ['REFUND_NOT_FOUND', 'REFUND_STATE'],
  async answer({ params: { refundId }, merchant, user, key, ...from }, deps) {
    if (!isId(refundId)) throw new DomainError('REFUND_NOT_FOUND');
    const { row } = await deps.db.transaction(async (tx) => {
      const cancelled = await cancel(tx, merchant.id, refundId);
      const { ip, requestId } = from;
      const actor = user
        ? actorOf(user, from)
        : { kind: 'key' as const, id: key!.id, name: `key ${key!.id}`, ip, requestId };
      if (!cancelled.replayed)
        await recordAct(tx, actor, {
          merchantId: merchant.id,
          action: 'refund.cancelled',
          target: refundId,
        });
      return cancelled;
    });
    return { data: viewRefund(row, isLive(deps)) };
  },
});

export const approveRefund = route({
  name: 'approveRefund',
  method: 'post',
  path: '/api/v1/refunds/{refundId}/approve',
  summary: 'Approve a refund that a key, or somebody else, has asked for',
  description:
    'Above `approvalUsd` two people approve it: the one who asked, or who made the key that asked, and another one. ' +
    'Where nobody is known to have asked (a policy; a key from before keys knew their makers), the first approval ' +
    'leaves it `awaiting_approval`, and somebody else gives the second. Each of them has held the right to approve ' +
    'for the cooling-off, a day at least. A repeat by who approved it answers the same, whatever the factor.',
  tag,
  envelope: 'A',
  params: refundParams,
  body: Type.Object(factorProps),
  success: { status: 200, schema: refundSchema, description: 'On its way, or waiting for the second of two.' },
  errors: ['REFUND_NOT_FOUND', 'REFUND_STATE', 'SECOND_PERSON', 'APPROVER_TOO_NEW', 'IP_NOT_WHITELISTED'],
  async answer({ params: { refundId }, body, user, merchant, ...from }, deps) {
    if (!isId(refundId)) throw new DomainError('REFUND_NOT_FOUND');
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    const known = (tx: Queryable) => approvedBefore(tx, merchant.id, refundId, user);
    const approveIt = async (tx: EntityManager) => {
      const approved = await approve(tx, merchant.id, refundId, approverOf(user, deps));
      if (!approved.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'refund.approved',
          target: refundId,
          after: {
            status: approved.row.status,
            amount: approved.row.amount,
            currency: approved.row.currency,
            address: approved.row.address,
          },
        });
      return approved;
    };
    const { row } = await withFactor(deps, user, 'refund', body, approveIt, { known });
    return { data: viewRefund(row, isLive(deps)) };
  },
});

export const rejectRefund = route({
  name: 'rejectRefund',
  method: 'post',
  path: '/api/v1/refunds/{refundId}/reject',
  summary: 'Refuse a refund that a key has asked for',
  tag,
  envelope: 'A',
  params: refundParams,
  body: Type.Object(factorProps),
  success: { status: 200, schema: refundSchema, description: 'Cancelled; what it held is back in the balance.' },
  errors: ['REFUND_NOT_FOUND', 'REFUND_STATE'],
  async answer({ params: { refundId }, body, user, merchant, ...from }, deps) {
    if (!isId(refundId)) throw new DomainError('REFUND_NOT_FOUND');
    const known = (tx: Queryable) => cancelledBefore(tx, merchant.id, refundId);
    const refuse = async (tx: EntityManager) => {
      const rejected = await cancel(tx, merchant.id, refundId, ['awaiting_approval']);
      if (!rejected.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'refund.rejected',
          target: refundId,
        });
      return rejected;
    };
    const { row } = await withFactor(deps, user, 'refund', body, refuse, { known });
    return { data: viewRefund(row, isLive(deps)) };
  },
});
