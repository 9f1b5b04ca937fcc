import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import { Button } from './button';
import { ErrorNotice, Skeleton } from './feedback';

type Part<Item> = Readonly<{ items: readonly Item[] }>;

/** A list that is read part by part: what has been read, and a button for what follows. */
export function More<Item>(
  props: Readonly<{
    query: UseInfiniteQueryResult<InfiniteData<Part<Item>>>;
    none: ReactNode;
    children: (items: readonly Item[]) => ReactNode;
  }>,
) {
  const { query, none, children } = props;
  const t = useTexts();
  const items = query.data?.pages.flatMap((part) => part.items) ?? [];
  return (
    <>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton lines={6} />}
      {query.data && (items.length ? children(items) : none)}
      {query.hasNextPage && (
        <div>
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t.more}
          </Button>
        </div>
      )}
    </>
  );
}
