import { client, payload } from '../api/client';
import { queryOf, type Filter } from './filter';

export const perPage = 25;

/** One page of the payments that a filter finds. */
export const listOf = (filter: Filter) =>
  payload(
    client.GET('/api/v1/payments', {
      params: {
        query: {
          ...queryOf(filter),
          ...(filter.status ? { status: filter.status } : {}),
          page: filter.page ?? 1,
          limit: perPage,
        },
      },
    }),
  );
export type Row = Extract<Awaited<ReturnType<typeof listOf>>, { items: unknown }>['items'][number];
