import { queryOptions } from '@tanstack/react-query';
import { client, payload } from '../api/client';

/** What the first page reads. */

export const spans = [1, 7, 30] as const;
export type Span = (typeof spans)[number];

const summary = (days: Span) => payload(client.GET('/api/v1/payments/summary', { params: { query: { days } } }));
export type Summary = Awaited<ReturnType<typeof summary>>;
export type Day = Summary['series'][number];

export const summaryQuery = (days: Span) =>
  queryOptions({
    queryKey: ['payment-summary', days],
    queryFn: () => summary(days),
    refetchInterval: 15_000,
  });
