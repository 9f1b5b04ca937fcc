import { parse } from 'csv-parse/sync';
import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { amountPattern } from '../../domain/money';
import {
  batchStatuses,
  legStatuses,
  maxPayoutRows,
  viewBatch,
  viewLeg,
  viewRow,
  type BatchRow,
  type BatchStatus,
  type LegStatus,
  type PayoutRow,
} from '../../domain/payouts/payout';
import { recordAct } from '../../db/access/audit-log';
import { checkLimits } from '../../commands/limits/admission';
import { countLegs, legsOf, listBatches, pageOfLegs, readBatch } from '../../db/payouts/payouts';
import { cancelBatch } from '../../commands/payouts/cancel';
import { approveBatch } from '../../commands/payouts/approve';
import { queueBatch } from '../../commands/payouts/queue';
import { findQueued } from '../../commands/payouts/queue';
import { validateRows } from '../../commands/payouts/validate';
import type { Queryable } from '../../db/pricing/pricing';
import { failPoint } from '../../db/fail-point';
import { factorProps, onceByFactor, withFactor } from '../access/step-up';
import { actorOf, approverOf } from '../access/users';
import { sendCsv } from '../http/csv';
import { momentOf } from '../http/dates';
import { egressDeps, type ApiDeps } from '../http/deps';
import { batchBytes } from '../http/body';
import { route } from '../http/route';
import { exact, line, nullable, pageOf, paging, time } from '../http/schemas';
import { checkWithdrawalIp } from '../wallets/withdrawal-ips';
import { codeSent, mailCode } from '../access/account';

/** Many payments at once, out of the balance, to addresses on the whitelist. People alone send them.
 *  Contract: 4.7, G10. */

const tag = 'Mass payouts';
const perCurrency = (description: string) =>
  Type.Record(Type.String(), Type.String(), { description: `${description} Exact decimal strings by ticker.` });

const rows = (minItems: number) =>
  Type.Array(
    Type.Object({
      currency: line(32, 'Ticker.'),
      address: line(200, 'On the withdrawal whitelist for this currency.'),
      amount: line(100, `What leaves the balance: ${amountPattern}. Digits that the chain cannot carry are cut.`),
      destinationTag: Type.Optional(line(64, 'For currencies that have tags.')),
    }),
    { minItems, maxItems: maxPayoutRows },
  );

const judgedRow = Type.Object({
  rowIndex: Type.Integer({ description: 'Of the row as submitted, from zero.' }),
  currency: Type.String(),
  address: Type.String(),
  amount: Type.Number({ description: 'Rounded down to what the chain can carry; for display.' }),
  networkFee: nullable(Type.Number()),
  netToDestination: nullable(Type.Number()),
  valid: Type.Boolean(),
  error: Type.Optional(Type.String({ description: 'Why it would not be accepted.' })),
});

const count = Type.Integer();
const batchProperties = {
  _id: Type.String(),
  status: Type.String({ enum: [...batchStatuses] }),
  stateVersion: Type.Integer(),
  label: nullable(Type.String()),
  rowCount: count,
  totalsByCurrency: perCurrency('What leaves the balance.'),
  feeByCurrency: perCurrency('Network fees within it.'),
  counts: Type.Object(
    Object.fromEntries(legStatuses.map((status) => [status, count])) as Record<LegStatus, typeof count>,
    { description: 'failed: returned; refunded: called back before it was signed.' },
  ),
  createdBy: Type.String({ description: 'E-mail address.' }),
  approvedBy: nullable(Type.String({ description: 'Who let it go, where a second person had to.' })),
  createdAt: time,
  updatedAt: time,
  completedAt: nullable(time),
};
const batchSchema = Type.Object(batchProperties);
const legSchema = Type.Object({
  _id: Type.String(),
  rowIndex: Type.Integer(),
  currency: Type.String(),
  address: Type.String(),
  destinationTag: nullable(Type.String()),
  amount: exact('What left the balance.'),
  networkFee: exact('Its share of the network fee, as estimated when it was queued.'),
  netToDestination: exact('What the address gets.'),
  status: Type.String({ enum: [...legStatuses] }),
  txId: nullable(Type.String()),
  merchantMessage: nullable(Type.String()),
  updatedAt: time,
});

const params = Type.Object({ id: Type.String({ description: '24-hex id.' }) });

async function found(db: Queryable, merchantId: string, id: string): Promise<BatchRow> {
  const row = isId(id) ? await readBatch(db, merchantId, id) : null;
  if (!row) throw new DomainError('BATCH_NOT_FOUND');
  return row;
}

/** Whether totals by currency would be let out now, for a caller from `ip`. */
async function mayLeave(
  deps: ApiDeps,
  merchantId: string,
  ip: string,
  totals: Readonly<Record<string, string>>,
): Promise<boolean> {
  const { rateMaxAgeSeconds } = egressDeps(deps);
  const amounts = Object.entries(totals).map(([currency, amount]) => ({ currency, amount }));
  try {
    await checkWithdrawalIp(deps.db, merchantId, ip);
    await checkLimits(deps.db, { merchantId, amounts, rateMaxAgeSeconds });
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
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
      rows: Type.Array(judgedRow),
      totalsByCurrency: perCurrency('Gross totals, compared against the balance.'),
      feeByCurrency: perCurrency('Network fees within the totals.'),
      balanceByCurrency: perCurrency('What can be spent.'),
      canSubmit: Type.Boolean({
        description:
          'Whether it would be queued as it is, from where this call comes: rows, balance, limits, freezes and the list of networks.',
      }),
      overBalanceCurrencies: Type.Array(Type.String()),
    }),
    description: 'Row by row, and all together.',
  },
  errors: [],
  async answer({ merchant, body, ip }, deps) {
    const {
      rows: judged,
      legs: _legs,
      ...figures
    } = await validateRows(deps.db, egressDeps(deps), merchant.id, body.rows);
    const canSubmit = figures.canSubmit && (await mayLeave(deps, merchant.id, ip, figures.totalsByCurrency));
    return { data: { rows: judged.map(viewRow), ...figures, canSubmit } };
  },
});

const replayedHeader: Record<string, string> = { 'Idempotency-Replayed': 'true' };

export const queuePayouts = route({
  name: 'queuePayouts',
  method: 'post',
  path: '/api/v1/mass-payouts',
  summary: 'Queue a mass payout',
  description:
    'Every row or none; the whole total is reserved at once. Rows of `BATCH_INVALID` are in `error.rows`, as validate shows them. The same ' +
    'idempotencyKey and rows return the first batch (`Idempotency-Replayed: true`), without a factor.',
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
  success: { status: 201, schema: batchSchema, description: 'Queued, now or the first time with this key.' },
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
    const replay = async () => {
      const first = await findQueued(deps.db, merchant.id, body);
      return first && { headers: replayedHeader, data: viewBatch(first, await countLegs(deps.db, first.id)) };
    };
    return onceByFactor(replay, async () => {
      const { row, counts, replayed } = await withFactor(deps, user, 'mass_payout', body, async (tx) => {
        const queued = await queueBatch(tx, egressDeps(deps), merchant.id, user, body);
        if (!queued.replayed)
          await recordAct(tx, actorOf(user, from), {
            merchantId: merchant.id,
            action: 'mass_payout.queued',
            target: queued.row.id,
            after: { rowCount: queued.row.row_count, totals: queued.row.totals, label: queued.row.label },
          });
        await failPoint('payout.beforeCommit');
        return queued;
      });
      await failPoint('payout.afterCommit');
      return { headers: replayed ? replayedHeader : {}, data: viewBatch(row, counts) };
    });
  },
});

export const approvePayout = route({
  name: 'approvePayout',
  method: 'post',
  path: '/api/v1/mass-payouts/{id}/approve',
  summary: 'Let a mass payout go that another has queued',
  description:
    'Above the sum that the egress limits name, a second person decides, who has held the right to ' +
    'for the cooling-off, a day at least. Calling it back refuses it.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object(factorProps),
  success: { status: 200, schema: batchSchema, description: 'On its way.' },
  errors: ['BATCH_NOT_FOUND', 'BATCH_STATE', 'SECOND_PERSON', 'APPROVER_TOO_NEW', 'IP_NOT_WHITELISTED'],
  async answer({ params: { id }, body, user, merchant, ...from }, deps) {
    if (!isId(id)) throw new DomainError('BATCH_NOT_FOUND');
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    const { row, counts } = await withFactor(deps, user, 'mass_payout', body, async (tx) => {
      const approved = await approveBatch(tx, merchant.id, id, approverOf(user, deps));
      if (!approved.replayed)
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'mass_payout.approved',
          target: id,
          after: { totals: approved.row.totals },
        });
      return approved;
    });
    return { data: viewBatch(row, counts) };
  },
});

export const cancelPayout = route({
  name: 'cancelPayout',
  method: 'post',
  path: '/api/v1/mass-payouts/{id}/cancel',
  summary: 'Call back what is not signed',
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

export const listPayouts = route({
  name: 'listPayouts',
  method: 'get',
  path: '/api/v1/mass-payouts',
  summary: 'List mass payouts, newest first',
  tag,
  envelope: 'A',
  query: Type.Object({
    status: Type.Optional(batchProperties.status),
    dateFrom: Type.Optional(Type.String({ maxLength: 40, description: 'Queued at or after.' })),
    dateTo: Type.Optional(Type.String({ maxLength: 40, description: 'Queued before.' })),
    ...paging,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(batchSchema), total: count }),
    description: 'One page, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, { db }) {
    const filter = {
      status: query.status as BatchStatus | undefined,
      dateFrom: momentOf(query.dateFrom, 'dateFrom'),
      dateTo: momentOf(query.dateTo, 'dateTo'),
    };
    const { items, total } = await listBatches(db, merchant.id, filter, pageOf(query));
    return { data: { items: items.map(({ row, counts }) => viewBatch(row, counts)), total } };
  },
});

export const getPayout = route({
  name: 'getPayout',
  method: 'get',
  path: '/api/v1/mass-payouts/{id}',
  summary: 'Get a mass payout with its payments',
  tag,
  envelope: 'A',
  params,
  success: {
    status: 200,
    schema: Type.Object({ ...batchProperties, legs: Type.Array(legSchema) }),
    description: 'The batch, and its payments in the order of its rows.',
  },
  errors: ['BATCH_NOT_FOUND'],
  async answer({ merchant, params: { id } }, { db }) {
    // One snapshot: the counts are those of the legs.
    return db.transaction('REPEATABLE READ', async (tx) => {
      const row = await found(tx, merchant.id, id);
      const legs = await legsOf(tx, row.id);
      return { data: { ...viewBatch(row, await countLegs(tx, row.id)), legs: legs.map(viewLeg) } };
    });
  },
});

export const listPayoutLegs = route({
  name: 'listPayoutLegs',
  method: 'get',
  path: '/api/v1/mass-payouts/{id}/legs',
  summary: 'List the payments of a mass payout',
  tag,
  envelope: 'A',
  params,
  query: Type.Object({ status: Type.Optional(Type.String({ enum: [...legStatuses] })), ...paging }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(legSchema), total: count }),
    description: 'One page in the order of the rows, and how many there are in all.',
  },
  errors: ['BATCH_NOT_FOUND'],
  async answer({ merchant, params: { id }, query }, { db }) {
    const { id: batchId } = await found(db, merchant.id, id);
    const { items, total } = await pageOfLegs(db, batchId, query.status as LegStatus | undefined, pageOf(query));
    return { data: { items: items.map(viewLeg), total } };
  },
});

const csvHead = Object.keys(legSchema.properties) as Array<keyof ReturnType<typeof viewLeg>>;

export const exportPayout = route({
  name: 'exportPayout',
  method: 'get',
  path: '/api/v1/mass-payouts/{id}/export.csv',
  summary: 'The payments of a mass payout as a file',
  description: "A cell that a spreadsheet would take for a formula begins with `'`.",
  tag,
  envelope: 'A',
  params,
  success: { status: 200, type: 'text/csv', description: 'One line per payment, in the order of the rows.' },
  errors: ['BATCH_NOT_FOUND'],
  async answer(call, deps) {
    const { id } = await found(deps.db, call.merchant.id, call.params.id);
    return sendCsv(call, deps, {
      name: `mass-payout-${id}`,
      head: csvHead,
      async *batches() {
        const legs = (await legsOf(deps.db, id)).map(viewLeg);
        yield legs.map((leg) => csvHead.map((name) => String(leg[name] ?? '')));
      },
    });
  },
});

const rowHead = ['currency', 'address', 'amount', 'destinationTag'] as const;

export const payoutTemplate = route({
  name: 'payoutTemplate',
  method: 'get',
  path: '/api/v1/mass-payouts/template.csv',
  summary: 'A file to fill in',
  tag,
  envelope: 'A',
  success: { status: 200, type: 'text/csv', description: 'The names of the columns.' },
  errors: [],
  answer: () => ({
    text: `${rowHead.join(',')}\n`,
    type: 'text/csv; charset=utf-8',
    headers: { 'Content-Disposition': 'attachment; filename="mass-payout.csv"' },
  }),
});

/** The rows of a file whose first line names its columns. Throws CSV_INVALID, which says where. */
function readRows(text: string): PayoutRow[] {
  const wrong = (what: string): DomainError => new DomainError('CSV_INVALID', what);
  let lines: Array<{ record: Record<string, string>; info: { lines: number } }>;
  try {
    lines = parse(text, {
      bom: true,
      trim: true,
      skip_empty_lines: true,
      info: true,
      max_record_size: 2000,
      to: maxPayoutRows + 1,
      columns: (head: string[]) =>
        head.map((name) => rowHead.find((one) => one.toLowerCase() === name.toLowerCase()) ?? null),
    });
  } catch (error) {
    throw wrong(`Not a CSV file: ${(error as Error).message}`);
  }
  if (lines.length > maxPayoutRows) throw wrong(`More than ${maxPayoutRows} rows`);
  return lines.map(({ record, info }) => {
    const { currency, address, amount, destinationTag } = record;
    if (currency === undefined || address === undefined || amount === undefined)
      throw wrong(`Line ${info.lines}: the columns currency, address and amount are needed`);
    const cells = [currency, address, amount, destinationTag ?? ''];
    if (cells.some((cell) => cell.length > 200 || /[\u0000-\u001f]/.test(cell)))
      throw wrong(`Line ${info.lines}: a cell is too long or holds control characters`);
    return { currency, address, amount, ...(destinationTag ? { destinationTag } : {}) };
  });
}

export const importPayouts = route({
  name: 'importPayouts',
  method: 'post',
  path: '/api/v1/mass-payouts/import',
  summary: 'Read rows from a file',
  description:
    'Takes what a spreadsheet saves as CSV, with the columns of the template, and answers rows as validate takes them.',
  tag,
  envelope: 'A',
  text: 'text/csv',
  maxBytes: batchBytes,
  success: {
    status: 200,
    schema: Type.Object({ rows: rows(0) }),
    description: 'The rows, not checked yet.',
  },
  errors: ['CSV_INVALID'],
  answer: ({ rawBody }) => ({ data: { rows: readRows(rawBody) } }),
});
