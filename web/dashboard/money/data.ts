import { queryOptions } from '@tanstack/react-query';
import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';

/** What pages on money read. After every act the server is asked anew: nothing is changed ahead of its answer. */

const balances = () => payload(client.GET('/api/v1/ledger/balances'));
export const balancesQuery = queryOptions({ queryKey: ['balances'], queryFn: balances });
export type Balance = Awaited<ReturnType<typeof balances>>['balances'][number];

/** Reads anew what an act on money may have changed. */
export const renewMoney = async (...names: readonly string[]): Promise<void> => {
  await Promise.all(
    ['balances', 'ledger', ...names].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
  );
};
