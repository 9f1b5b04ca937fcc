import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { viewBatch, viewRow, type SubmitReason } from '../../domain/payouts/payout';
import { recordAct } from '../../db/access/audit-log';
import type { Queryable } from '../../db/query';
import { checkLimits } from '../../commands/limits/outbound-check';
import { countLines } from '../../db/payouts/payouts';
import { cancelBatch } from '../../commands/payouts/cancel';
import { approveBatch, approvedBefore } from '../../commands/payouts/approve';
import { queueBatch } from '../../commands/payouts/queue';
import { findQueued } from '../../commands/payouts/queue';
import { validateRows } from '../../commands/payouts/validate';
import { failPoint } from '../../db/fail-point';
import { factorProps, requireFactor, withFactor } from '../access/step-up';
import { actorOf, approverOf } from '../access/users';
import { sendDeps, isLive, type ApiDeps } from '../http/deps';
import { batchBytes } from '../http/body';
import { publicName } from '../http/errors';
import { route } from '../http/route';
import { line } from '../http/schemas';
import { checkWithdrawalIp } from '../wallets/withdrawal-ips';
import { codeSent, mailCode } from '../access/mfa';
import { batchProperties, batchSchema, count, validatedRow, params, perCurrency, rows, tag } from './schemas';

/** Many payments at once, out of the balance, to addresses on the whitelist. People alone send them.
 *  Contract: 4.7, G10. */

/** Why totals by currency would not be let out now, for a caller from `ip`. */
async function whyNotNow(
  deps: ApiDeps,
  merchantId: string,
  ip: string,
  totals: Readonly<Record<string, string>>,
): Promise<SubmitReason[]> {
  const { rateMaxAgeSeconds } = sendDeps(deps);
  const amounts = Object.entries(totals).map(([currency, amount]) => ({ currency, amount }));
  try {
    await checkWithdrawalIp(deps.db, merchantId, ip);
    await checkLimits(deps.db, { merchantId, amounts, rateMaxAgeSeconds });
    return [];
  } catch (error) {
    if (error instanceof DomainError) return [{ code: publicName(error.code), message: error.message }];
    throw error;
  }
}

export const validatePayouts = route({
  name: 'validatePayouts',
  method: 'post',
  path: '/api/v1/mass-payouts/validate',
  summary: 'Check the rows of a mass payout',
  description: 'Holds and moves nothing. The figures by currency are of the rows that are valid.',
  tag,
  envelope: 'A',
  maxBytes: batchBytes,
  body: Type.Object({ rows: rows(0) }),
  success: {
    status: 200,
    schema: Type.Object({
      rows: Type.Array(validatedRow),
      totalsByCurrency: perCurrency('Gross totals, compared against the balance.'),
      feeByCurrency: perCurrency('Network fees within the totals.'),
      balanceByCurrency: perCurrency('What can be spent.'),
      canSubmit: Type.Boolean({
        description:
          'Whether it would be queued as it is, from where this call comes: rows, balance, limits, freezes and the ' +
          'list of networks.',
      }),
      reasons: Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
        description:
          'Why it would not be queued: `NO_ROWS`, `TOO_MANY_ROWS`, `INVALID_ROWS`, or the code of the refusal.',
      }),
      overBalanceCurrencies: Type.Array(Type.String()),
    }),
    description: 'Row by row, and all together.',
  },
  errors: [],
  async answer({ merchant, body, ip }, deps) {
    const {
      rows: validated,
      lines: _lines,
      ...figures
    } = await validateRows(deps.db, sendDeps(deps), merchant.id, body.rows);
    const reasons = figures.reasons.length
      ? figures.reasons
      : await whyNotNow(deps, merchant.id, ip, figures.totalsByCurrency);
    return { data: { rows: validated.map(viewRow), ...figures, reasons, canSubmit: reasons.length === 0 } };
  },
});

const replayedHeader: Record<string, string> = { 'Idempotency-Replayed': 'true' };

export const queuePayouts = route({
  name: 'queuePayouts',
  method: 'post',
  path: '/api/v1/mass-payouts',
  summary: 'Queue a mass payout',
  description:
    'Every row or none; the whole total is reserved at once. Rows of `BATCH_INVALID` are in `error.rows`, as ' +
    'validate shows them. The same idempotencyKey and rows return the first batch (`Idempotency-Replayed: true`); ' +
    'the factor is wanted again, and is not used.',
  tag,
  envelope: 'A',
  maxBytes: batchBytes,
  body: Type.Object({
    rows: rows(1),
    label: Type.Optional(line(100, 'How you call it.')),
    idempotencyKey: Type.Optional(
      Type.String({ minLength: 8, maxLength: 100, pattern: '^[^\\u0000-\\u001f\\ud800-\\udfff]*$' }),
    ),
    ...factorProps,
  }),
  marksRepeats: true,
  success: { status: 201, schema: batchSchema, description: 'Queued, now or the first time with this key.' },
  refusalData: { BATCH_INVALID: { rows: Type.Array(validatedRow) } },
  errors: [
    'BATCH_INVALID',
    'INSUFFICIENT_BALANCE',
    'IP_NOT_WHITELISTED',
    'IDEMPOTENCY_KEY_REUSED',
    'EGRESS_FROZEN',
    'EGRESS_LIMIT',
    'RATE_UNAVAILABLE',
  ],
  async answer({ body, user, merchant, ...from }, deps) {
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    requireFactor(body);
    const known = async (db: Queryable) => {
      const row = await findQueued(db, merchant.id, body);
      return row && { row, counts: await countLines(db, row.id), replayed: true };
    };
    const queue = async (tx: EntityManager) => {
      const queued = await queueBatch(tx, sendDeps(deps), merchant.id, user, body);
      if (!queued.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'mass_payout.queued',
          target: queued.row.id,
          after: { rowCount: queued.row.row_count, totals: queued.row.totals, label: queued.row.label },
        });
      await failPoint('payout.beforeCommit');
      return queued;
    };
    const before = await known(deps.db);
    const { row, counts, replayed } = before ?? (await withFactor(deps, user, 'mass_payout', body, queue, { known }));
    if (!before) await failPoint('payout.afterCommit');
    return { headers: replayed ? replayedHeader : {}, data: viewBatch(row, counts, isLive(deps)) };
  },
});

export const approvePayout = route({
  name: 'approvePayout',
  method: 'post',
  path: '/api/v1/mass-payouts/{id}/approve',
  summary: 'Approve a mass payout that another has queued',
  description:
    'Above the sum that the limits of what leaves name, a second person decides, who has held the right to ' +
    'for the cooling-off, a day at least. Cancelling it refuses it. A repeat by the same person answers the same, ' +
    'whatever the factor.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object(factorProps),
  success: { status: 200, schema: batchSchema, description: 'On its way.' },
  errors: ['BATCH_NOT_FOUND', 'BATCH_STATE', 'SECOND_PERSON', 'APPROVER_TOO_NEW', 'IP_NOT_WHITELISTED'],
  async answer({ params: { id }, body, user, merchant, ...from }, deps) {
    if (!isId(id)) throw new DomainError('BATCH_NOT_FOUND');
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    const known = (tx: Queryable) => approvedBefore(tx, merchant.id, id, user);
    const release = async (tx: EntityManager) => {
      const approved = await approveBatch(tx, merchant.id, id, approverOf(user, deps));
      if (!approved.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'mass_payout.approved',
          target: id,
          after: { totals: approved.row.totals },
        });
      return approved;
    };
    const { row, counts } = await withFactor(deps, user, 'mass_payout', body, release, { known });
    return { data: viewBatch(row, counts, isLive(deps)) };
  },
});

export const cancelPayout = route({
  name: 'cancelPayout',
  method: 'post',
  path: '/api/v1/mass-payouts/{id}/cancel',
  summary: 'Cancel what is not signed',
  description: 'What those payments held is back in the balance. What is signed goes on.',
  tag,
  envelope: 'A',
  params,
  success: {
    status: 200,
    schema: Type.Object({
      _id: Type.String(),
      status: batchProperties.status,
      refundedLegs: count,
      refundedByCurrency: perCurrency('Back in the balance.'),
      sentLegs: count,
    }),
    description: 'What came back, and how much goes on.',
  },
  errors: ['BATCH_NOT_FOUND', 'BATCH_NOT_CANCELLABLE'],
  async answer({ params: { id }, user, merchant, ...from }, { db }) {
    if (!isId(id)) throw new DomainError('BATCH_NOT_FOUND');
    const { row, refundedLegs, refundedByCurrency, sentLegs } = await db.transaction(async (tx) => {
      const cancelled = await cancelBatch(tx, merchant.id, id);
      if (!cancelled.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'mass_payout.cancelled',
          target: id,
          after: { refundedLegs: cancelled.refundedLegs, refundedByCurrency: cancelled.refundedByCurrency },
        });
      return cancelled;
    });
    return { data: { _id: row.id, status: row.status, refundedLegs, refundedByCurrency, sentLegs } };
  },
});

export const sendPayoutCode = route({
  name: 'sendPayoutCode',
  method: 'post',
  path: '/api/v1/mass-payouts/send-email-code',
  summary: 'Mail a code that confirms a mass payout',
  tag,
  envelope: 'A',
  success: { status: 200, schema: codeSent, description: 'The newest code is the only one that counts.' },
  errors: [],
  answer: async ({ user }, deps) => ({ data: await mailCode(deps, user, 'mass_payout') }),
});
