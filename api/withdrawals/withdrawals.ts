import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { amountPattern } from '../../domain/money';
import {
  viewWithdrawal,
  withdrawalStatuses,
  type FeeMode,
  type WithdrawalStatus,
} from '../../domain/withdrawals/withdrawal';
import { recordAct } from '../../db/access/audit-log';
import type { Queryable } from '../../db/query';
import { listWithdrawals as list, readWithdrawal } from '../../db/withdrawals/withdrawals';
import { approvedBefore, approveWithdrawal as approve } from '../../commands/withdrawals/approve';
import { cancelledBefore, cancelWithdrawal as cancel } from '../../commands/withdrawals/cancel';
import { checkWithdrawal, knownWithdrawal, openWithdrawal } from '../../commands/withdrawals/create';
import { estimateWithdrawal as estimate } from '../../commands/withdrawals/estimate';
import { type WithdrawalAsk } from '../../commands/withdrawals/estimate';
import { failPoint } from '../../db/fail-point';
import { factorProps, requireFactor, withFactor } from '../access/step-up';
import { actorOf, approverOf } from '../access/users';
import { momentOf } from '../http/dates';
import { sendDeps, isLive } from '../http/deps';
import { route } from '../http/route';
import { exact, heldFlag, isOn, line, livemode, named, nullable, pageOf, paging, time } from '../http/schemas';
import { checkWithdrawalIp } from '../wallets/withdrawal-ips';
import { codeSent, mailCode } from '../access/mfa';

/** A merchant's own money, sent to an address of its whitelist. Contract: 4.8, G9. */

const tag = 'Withdrawals';
const status = Type.String({ enum: [...withdrawalStatuses] });
const feeMode = Type.String({
  enum: ['deduct', 'add'],
  description: 'deduct: the network fee is taken from amount; add: it comes on top.',
});

export const withdrawalSchema = named('Withdrawal', {
  _id: Type.String(),
  status,
  stateVersion: Type.Integer(),
  livemode,
  currency: Type.String(),
  feeMode,
  amount: exact('As it was asked for.'),
  networkFee: exact(
    'Estimated at creation, and charged. It may rise once, before anything is signed, by what the address takes ' +
      'above a usual transfer. With feeMode add that is charged apart, as an entry of its own.',
  ),
  netToDestination: exact('What the address gets. With feeMode deduct: amount less networkFee.'),
  address: Type.String({
    description: 'For BTC_LN a Lightning address, or the key of the node that its invoice pays.',
  }),
  destinationTag: nullable(Type.String()),
  note: nullable(Type.String()),
  txId: nullable(Type.String({ description: 'For BTC_LN the payment hash.' })),
  confirmations: Type.Integer(),
  merchantMessage: nullable(
    Type.String({ description: 'Why it has ended so, or what it waits for before it is signed, in words for you.' }),
  ),
  requestedBy: Type.String({ description: 'E-mail address.' }),
  approvedBy: nullable(Type.String({ description: 'Who approved it, where that took a second person.' })),
  createdAt: time,
  updatedAt: time,
  broadcastAt: nullable(time),
  completedAt: nullable(time),
});
const params = Type.Object({ withdrawalId: Type.String({ description: '24-hex withdrawal id.' }) });
const amount = Type.String({
  pattern: amountPattern,
  description: "With no more decimals than the currency's.",
});

export const createWithdrawal = route({
  name: 'createWithdrawal',
  method: 'post',
  path: '/api/v1/withdrawals',
  summary: 'Withdraw to an address of the whitelist',
  description:
    'What it takes is held at once. Above a limit it waits until somebody else approves it. The same idempotencyKey ' +
    'and body return the first withdrawal (`Idempotency-Replayed: true`); the factor is wanted again, and is not used.',
  tag,
  envelope: 'A',
  body: Type.Object({
    currency: line(32, 'Ticker.'),
    amount,
    whitelistId: Type.Optional(line(24, 'Id of the whitelist entry; or address.')),
    address: Type.Optional(
      line(
        2000,
        'An address that is on the whitelist for this currency. For BTC_LN also an invoice (BOLT 11) of a node that ' +
          'is on it, whose amount is what arrives: with feeMode add, the amount.',
      ),
    ),
    destinationTag: Type.Optional(line(64, 'Where the network has tags; as on the whitelist.')),
    feeMode,
    idempotencyKey: Type.String({ minLength: 8, maxLength: 100, pattern: '^[\\x21-\\x7e]+$' }),
    note: Type.Optional(line(256, 'For your records.')),
    ...factorProps,
  }),
  marksRepeats: true,
  success: { status: 201, schema: withdrawalSchema, description: 'The withdrawal, new or the first with this key.' },
  errors: [
    'IP_NOT_WHITELISTED',
    'CURRENCY_NOT_AVAILABLE',
    'ADDRESS_NOT_WHITELISTED',
    'INVALID_ADDRESS',
    'BELOW_MINIMUM',
    'INSUFFICIENT_BALANCE',
    'EGRESS_FROZEN',
    'EGRESS_LIMIT',
    'RATE_UNAVAILABLE',
    'IDEMPOTENCY_KEY_REUSED',
  ],
  async answer({ body, user, merchant, ...from }, deps) {
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    requireFactor(body);
    const ask: WithdrawalAsk = { ...body, feeMode: body.feeMode as FeeMode };
    const known = async (db: Queryable) => {
      const row = await knownWithdrawal(db, merchant.id, body.idempotencyKey, ask);
      return row && { row, replayed: true };
    };
    const before = await known(deps.db);
    if (!before) await deps.db.transaction((tx) => checkWithdrawal(tx, sendDeps(deps), merchant.id, ask));
    const open = async (tx: EntityManager) => {
      const opened = await openWithdrawal(tx, sendDeps(deps), merchant.id, ask, user, body.idempotencyKey);
      if (!opened.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'withdrawal.requested',
          target: opened.row.id,
          after: { amount: opened.row.amount, currency: opened.row.currency, address: opened.row.address },
        });
      await failPoint('withdrawal.beforeCommit');
      return opened;
    };
    const { row, replayed } = before ?? (await withFactor(deps, user, 'withdrawal', body, open, { known }));
    if (!before) await failPoint('withdrawal.afterCommit');
    const headers: Record<string, string> = replayed ? { 'Idempotency-Replayed': 'true' } : {};
    return { data: viewWithdrawal(row, isLive(deps)), headers };
  },
});

export const estimateWithdrawal = route({
  name: 'estimateWithdrawal',
  method: 'post',
  path: '/api/v1/withdrawals/estimate',
  summary: 'What a withdrawal would cost',
  description: 'Holds and moves nothing.',
  tag,
  envelope: 'A',
  body: Type.Object({ currency: line(32, 'Ticker.'), amount, feeMode }),
  success: {
    status: 200,
    schema: Type.Object({
      currency: Type.String(),
      feeMode,
      amount: exact('As asked.'),
      networkFee: exact('At the fees of now. A new address may take more: see networkFee of a withdrawal.'),
      netToDestination: exact('What the address would get.'),
      available: exact('The balance.'),
      maxAmount: exact('The most that the balance covers; 0 where it covers nothing.'),
      covered: Type.Boolean({ description: 'Whether the balance covers it.' }),
    }),
    description: 'Figures of now.',
  },
  errors: ['CURRENCY_NOT_AVAILABLE', 'BELOW_MINIMUM', 'RATE_UNAVAILABLE'],
  async answer({ body, merchant }, deps) {
    const mode = body.feeMode as FeeMode;
    const {
      net,
      gross: _gross,
      ...figures
    } = await estimate(deps.db, sendDeps(deps), merchant.id, {
      ...body,
      feeMode: mode,
    });
    return { data: { ...figures, feeMode: mode, netToDestination: net } };
  },
});

export const listWithdrawals = route({
  name: 'listWithdrawals',
  method: 'get',
  path: '/api/v1/withdrawals',
  summary: 'List withdrawals, newest first',
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
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(withdrawalSchema), total: Type.Integer() }),
    description: 'One page, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, deps) {
    const filter = {
      status: query.status as WithdrawalStatus | undefined,
      isDelayed: isOn(query.held),
      currency: query.currency,
      dateFrom: momentOf(query.dateFrom, 'dateFrom'),
      dateTo: momentOf(query.dateTo, 'dateTo'),
    };
    const { items, total } = await list(deps.db, merchant.id, filter, pageOf(query));
    return { data: { items: items.map((row) => viewWithdrawal(row, isLive(deps))), total } };
  },
});

export const getWithdrawal = route({
  name: 'getWithdrawal',
  method: 'get',
  path: '/api/v1/withdrawals/{withdrawalId}',
  summary: 'Get a withdrawal',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: withdrawalSchema, description: 'The withdrawal.' },
  errors: ['WITHDRAWAL_NOT_FOUND'],
  async answer({ merchant, params: { withdrawalId } }, deps) {
    const row = isId(withdrawalId) ? await readWithdrawal(deps.db, merchant.id, withdrawalId) : null;
    if (!row) throw new DomainError('WITHDRAWAL_NOT_FOUND');
    return { data: viewWithdrawal(row, isLive(deps)) };
  },
});

export const cancelWithdrawal = route({
  name: 'cancelWithdrawal',
  method: 'post',
  path: '/api/v1/withdrawals/{withdrawalId}/cancel',
  summary: 'Call a withdrawal back',
  description: 'Until its transaction is signed. What it held is back in the balance.',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: withdrawalSchema, description: 'Cancelled.' },
  errors: ['WITHDRAWAL_NOT_FOUND', 'WITHDRAWAL_STATE'],
  async answer({ params: { withdrawalId }, merchant, user, ...from }, deps) {
    if (!isId(withdrawalId)) throw new DomainError('WITHDRAWAL_NOT_FOUND');
    const { row } = await deps.db.transaction(async (tx) => {
      const cancelled = await cancel(tx, merchant.id, withdrawalId);
      if (!cancelled.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'withdrawal.cancelled',
          target: withdrawalId,
        });
      return cancelled;
    });
    return { data: viewWithdrawal(row, isLive(deps)) };
  },
});

export const approveWithdrawal = route({
  name: 'approveWithdrawal',
  method: 'post',
  path: '/api/v1/withdrawals/{withdrawalId}/approve',
  summary: 'Approve a withdrawal that somebody else has asked for',
  description:
    'The second person has held the right to approve for the cooling-off, a day at least. A repeat by the same ' +
    'person answers the same, whatever the factor.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object(factorProps),
  success: { status: 200, schema: withdrawalSchema, description: 'On its way.' },
  errors: [
    'IP_NOT_WHITELISTED',
    'WITHDRAWAL_NOT_FOUND',
    'WITHDRAWAL_STATE',
    'SECOND_PERSON',
    'APPROVER_TOO_NEW',
    'ADDRESS_NOT_WHITELISTED',
  ],
  async answer({ params: { withdrawalId }, body, user, merchant, ...from }, deps) {
    if (!isId(withdrawalId)) throw new DomainError('WITHDRAWAL_NOT_FOUND');
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    const known = (tx: Queryable) => approvedBefore(tx, merchant.id, withdrawalId, user);
    const approveIt = async (tx: EntityManager) => {
      const approved = await approve(tx, merchant.id, withdrawalId, approverOf(user, deps));
      if (!approved.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'withdrawal.approved',
          target: withdrawalId,
          after: { amount: approved.row.amount, currency: approved.row.currency, address: approved.row.address },
        });
      return approved;
    };
    const { row } = await withFactor(deps, user, 'withdrawal', body, approveIt, { known });
    return { data: viewWithdrawal(row, isLive(deps)) };
  },
});

export const rejectWithdrawal = route({
  name: 'rejectWithdrawal',
  method: 'post',
  path: '/api/v1/withdrawals/{withdrawalId}/reject',
  summary: 'Refuse a withdrawal that waits for approval',
  tag,
  envelope: 'A',
  params,
  body: Type.Object(factorProps),
  success: { status: 200, schema: withdrawalSchema, description: 'Cancelled; what it held is back in the balance.' },
  errors: ['WITHDRAWAL_NOT_FOUND', 'WITHDRAWAL_STATE'],
  async answer({ params: { withdrawalId }, body, user, merchant, ...from }, deps) {
    if (!isId(withdrawalId)) throw new DomainError('WITHDRAWAL_NOT_FOUND');
    const known = (tx: Queryable) => cancelledBefore(tx, merchant.id, withdrawalId);
    const refuse = async (tx: EntityManager) => {
      const rejected = await cancel(tx, merchant.id, withdrawalId, ['awaiting_approval']);
      if (!rejected.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'withdrawal.rejected',
          target: withdrawalId,
        });
      return rejected;
    };
    const { row } = await withFactor(deps, user, 'withdrawal', body, refuse, { known });
    return { data: viewWithdrawal(row, isLive(deps)) };
  },
});

export const sendWithdrawalCode = route({
  name: 'sendWithdrawalCode',
  method: 'post',
  path: '/api/v1/withdrawals/send-email-code',
  summary: 'Mail a code that confirms a withdrawal',
  tag,
  envelope: 'A',
  success: { status: 200, schema: codeSent, description: 'The newest code is the only one that counts.' },
  errors: [],
  answer: async ({ user }, deps) => ({ data: await mailCode(deps, user, 'withdrawal') }),
});
