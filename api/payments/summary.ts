import { Type } from 'typebox';
import { paymentDays } from '../../db/payments/payment-days';
import { periodCounts, summaryOf } from '../../domain/payments/summary';
import { route } from '../http/route';
import { exact, named, time } from '../http/schemas';
import { tag } from './payments';

/** What a merchant's business came to, for the first page of the dashboard. */

const meanings: Readonly<Record<(typeof periodCounts)[number], string>> = {
  created: 'Payments created.',
  paid: 'Of these, those whose money has been seen in full; a reorganisation may take that back.',
  settled: 'Of these, those that are credited.',
  partiallyPaid: 'Waiting for the rest of their money now.',
  crossChainPending: 'Waiting now for a decision on another currency that came.',
  underpaid: 'With the exception `underpaid`.',
  overpaid: 'With the exception `overpaid`.',
  paidLate: 'With the exception `paidLate`.',
  wrongCurrency: 'With the exception `wrongCurrency`.',
  reorged: 'With the exception `reorged`.',
};
const totals = {
  ...(Object.fromEntries(
    periodCounts.map((name) => [name, Type.Integer({ minimum: 0, description: meanings[name] })]),
  ) as Record<(typeof periodCounts)[number], ReturnType<typeof Type.Integer>>),
  volumes: Type.Array(
    named('PaymentVolume', {
      fiatCurrency: Type.String({ description: 'In which the payments were priced.' }),
      created: exact('Sum of the prices.'),
      paid: exact('What arrived for those that are paid.'),
      settled: exact('What arrived for those that are settled.'),
    }),
    { description: 'One entry for each fiat currency that payments were priced in; none is converted.' },
  ),
};
const periodSchema = named('PaymentPeriod', { dateFrom: time, dateTo: time, ...totals });

export const summarizePayments = route({
  name: 'summarizePayments',
  method: 'get',
  path: '/api/v1/payments/summary',
  summary: 'What payments came to in the last days, beside the days before',
  description:
    'A payment counts on the day of its creation, in UTC: `dateFrom` and `dateTo` list the same payments. The last ' +
    'day is today, so far.',
  tag,
  envelope: 'B',
  query: Type.Object({
    days: Type.Integer({ minimum: 1, maximum: 90, default: 7, description: 'Days of a period, today included.' }),
  }),
  success: {
    status: 200,
    schema: named('PaymentSummary', {
      days: Type.Integer(),
      current: periodSchema,
      previous: periodSchema,
      series: Type.Array(named('PaymentDay', { date: Type.String({ description: 'YYYY-MM-DD.' }), ...totals }), {
        description: 'Each day of both periods, oldest first.',
      }),
    }),
    description: 'Both periods, and their days.',
  },
  errors: [],
  async answer({ merchant, query: { days } }, { db }) {
    const { today, rows } = await paymentDays(db, merchant.id, 2 * days);
    return { data: summaryOf(rows, today, days) };
  },
});
