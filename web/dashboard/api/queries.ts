import { QueryClient, queryOptions } from '@tanstack/react-query';
import { client, payload } from './client';
import { ApiError } from './errors';

/** What pages read. Nothing is changed ahead of the server's answer. */

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      refetchOnWindowFocus: true,
    },
  },
});

const me = () => payload(client.GET('/api/v1/auth/me'));
export type Me = Awaited<ReturnType<typeof me>>;

/** The person who is signed in, or null. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async (): Promise<Me | null> => {
    try {
      return await me();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

const currencies = () => payload(client.GET('/api/v1/currencies'));
export const currenciesQuery = queryOptions({ queryKey: ['currencies'], queryFn: currencies, staleTime: 60_000 });

/** How a list that is read by cursors goes on: `nextCursor` of its last page, null at the end. */
export const byCursor = {
  initialPageParam: null as string | null,
  getNextPageParam: (last: Readonly<{ nextCursor: string | null }>) => last.nextCursor,
};
