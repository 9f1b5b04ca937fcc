import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice, Skeleton } from './feedback';

/** What a query has found; lines while it is read, and its refusal with another try. */
export function Loaded<T>(
  props: Readonly<{ query: UseQueryResult<T>; lines?: number; children: (data: T) => ReactNode }>,
) {
  const { query, lines = 3, children } = props;
  return (
    <>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton lines={lines} />}
      {query.data !== undefined && children(query.data)}
    </>
  );
}
