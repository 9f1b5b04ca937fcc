import { Type } from 'typebox';
import { networks } from '../../domain/chains/assets';
import { amountPattern } from '../../domain/money';
import { paymentHead, paymentLine } from '../../domain/payments/payment-csv';
import { paymentListJson } from '../../domain/payments/payment-view';
import {
  paymentExceptions,
  paymentStatuses,
  type PaymentException,
  type PaymentStatus,
} from '../../domain/payments/payment';
import { exportPayments as paymentBatches, exportWholePayments } from '../../db/payments/payment-export';
import { countByStatus, listPayments, type PaymentFilter } from '../../db/payments/payment-queries';
import { sendCsv } from '../http/csv';
import { momentOf } from '../http/dates';
import type { ApiDeps } from '../http/deps';
import { sendFile, type MerchantFileCall } from '../http/file';
import { route, type Answer } from '../http/route';
import { flag, isOn, line, oldFormat, pageOf, paging, paymentListSchema, statusSchema } from '../http/schemas';
import { tag } from './payments';

/** Payments by a filter: as a list, as files and as counts. Contract: 4.5, G2. */

const price = (description: string) => Type.String({ pattern: amountPattern, description });
const filterProperties = {
  exception: Type.Optional(
    Type.String({ enum: [...paymentExceptions], description: 'With this exception, whatever else.' }),
  ),
  currency: Type.Optional(line(32, 'Ticker.')),
  dateFrom: Type.Optional(Type.String({ description: 'Created at or after; a bare date is the start of a UTC day.' })),
  dateTo: Type.Optional(Type.String({ description: 'Created before.' })),
  amountFrom: Type.Optional(price('Priced at this or more, in the fiat of each payment.')),
  amountTo: Type.Optional(price('Priced at this or less.')),
  orderId: Type.Optional(line(256, 'Equals metadata.custom.orderId; a number is looked for as it was written.')),
  merchantOrderId: Type.Optional(line(256, 'Equals merchantOrderId.')),
  search: Type.Optional(line(256, 'Payment id, invoice id, deposit address or transaction hash, whole.')),
  excludeAbandoned: flag('1 drops widget checkouts that came to nothing.'),
};
type FilterQuery = Partial<Record<keyof typeof filterProperties, string>>;
const listProperties = { status: Type.Optional(statusSchema), ...filterProperties };

const filterOf = (query: FilterQuery, codecs: ApiDeps['codecs']): PaymentFilter => ({
  exception: query.exception as PaymentException | undefined,
  currency: query.currency,
  dateFrom: momentOf(query.dateFrom, 'dateFrom'),
  dateTo: momentOf(query.dateTo, 'dateTo'),
  amountFrom: query.amountFrom,
  amountTo: query.amountTo,
  orderId: query.orderId,
  merchantOrderId: query.merchantOrderId,
  search: query.search?.trim() || undefined,
  spellings: query.search
    ? Object.values(networks).flatMap(({ id }) => codecs[id].normalise(query.search!.trim()) ?? [])
    : undefined,
  excludeAbandoned: isOn(query.excludeAbandoned),
});

const listFilterOf = (query: FilterQuery & { status?: string }, codecs: ApiDeps['codecs']): PaymentFilter => ({
  ...filterOf(query, codecs),
  status: query.status as PaymentStatus | undefined,
});

const paymentsFile = (call: MerchantFileCall, deps: ApiDeps, filter: PaymentFilter): Promise<Answer> =>
  sendCsv(call, deps, {
    name: 'payments',
    head: paymentHead,
    async *batches() {
      for await (const rows of paymentBatches(deps.db, call.merchant.id, filter)) yield rows.map(paymentLine);
    },
  });

export const exportPayments = route({
  name: 'exportPayments',
  method: 'get',
  path: '/api/v1/payments.csv',
  summary: 'Payments as a file',
  description:
    'All that the filter finds, newest first: exact decimals, times in UTC, lists set apart by spaces; a cell that a ' +
    "spreadsheet would take for a formula begins with `'`. Two files at a time.",
  tag,
  envelope: 'B',
  query: Type.Object(listProperties),
  success: { status: 200, type: 'text/csv', headers: ['Content-Disposition'], description: 'One line per payment.' },
  errors: [],
  answer: (call, deps) => paymentsFile(call, deps, listFilterOf(call.query, deps.codecs)),
});

/** The rows of the list, one after the other. */
async function* jsonOf(
  deps: ApiDeps,
  merchantId: string,
  filter: PaymentFilter,
): AsyncGenerator<string, void, undefined> {
  let between = '{"items":[\n';
  for await (const reads of exportWholePayments(deps.db, merchantId, filter)) {
    yield between + reads.map(({ row, now }) => paymentListJson(row, now)).join(',\n');
    between = ',\n';
  }
  yield between === ',\n' ? '\n]}\n' : '{"items":[]}\n';
}

export const exportPaymentsJson = route({
  name: 'exportPaymentsJson',
  method: 'get',
  path: '/api/v1/payments.json',
  summary: 'Payments as a JSON file',
  description: 'All that the filter finds, newest first, as the list has them. Two files at a time.',
  tag,
  envelope: 'B',
  query: Type.Object(listProperties),
  success: {
    status: 200,
    schema: Type.Object({ items: paymentListSchema.properties.items }),
    headers: ['Content-Disposition'],
    description: 'Every payment, without pages.',
  },
  errors: [],
  answer: (call, deps) =>
    sendFile(call, deps, {
      name: 'payments',
      extension: 'json',
      type: 'application/json; charset=utf-8',
      chunks: () => jsonOf(deps, call.merchant.id, listFilterOf(call.query, deps.codecs)),
    }),
});

export const listPaymentsRoute = route({
  name: 'listPayments',
  method: 'get',
  path: '/api/v1/payments',
  summary: 'List payments, newest first',
  description: 'The same as a file: `/api/v1/payments.csv`, `/api/v1/payments.json`.',
  tag,
  envelope: 'B',
  query: Type.Object({ ...listProperties, ...paging, format: oldFormat('csv') }),
  success: {
    status: 200,
    schema: paymentListSchema,
    orElse: ['text/csv'],
    description: 'One page, and how many there are in all.',
  },
  errors: [],
  async answer(call, deps) {
    const { merchant, query } = call;
    const { db } = deps;
    const filter = listFilterOf(query, deps.codecs);
    if (query.format === 'csv') return paymentsFile(call, deps, filter);
    const { items, total } = await listPayments(db, merchant.id, filter, pageOf(query));
    return { json: `{"items":[${items.map(({ row, now }) => paymentListJson(row, now)).join()}],"total":${total}}` };
  },
});

const groups = {
  pending: ['AWAITING_CURRENCY', 'WAITING', 'PARTIALLY_PAID'],
  processing: ['CROSS_CHAIN_PENDING', 'CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED'],
  completed: ['SETTLED'],
  failed: ['EXPIRED', 'CANCELLED', 'FAILED'],
} as const;

export const countPayments = route({
  name: 'countPayments',
  method: 'get',
  path: '/api/v1/payments/status-counts',
  summary: 'Count payments by status',
  tag,
  envelope: 'B',
  query: Type.Object(filterProperties),
  success: {
    status: 200,
    schema: Type.Object({
      total: Type.Integer(),
      byStatus: Type.Object(Object.fromEntries(paymentStatuses.map((status) => [status, Type.Integer()]))),
      groups: Type.Object(Object.fromEntries(Object.keys(groups).map((group) => [group, Type.Integer()]))),
    }),
    description: 'Every status, zeros included.',
  },
  errors: [],
  async answer({ merchant, query }, { db, codecs }) {
    const byStatus = await countByStatus(db, merchant.id, filterOf(query, codecs));
    const sum = (statuses: readonly PaymentStatus[]) => statuses.reduce((total, status) => total + byStatus[status], 0);
    return {
      data: {
        total: sum(paymentStatuses),
        byStatus,
        groups: Object.fromEntries(Object.entries(groups).map(([group, statuses]) => [group, sum(statuses)])),
      },
    };
  },
});
