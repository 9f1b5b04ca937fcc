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

/** An amount as the API takes it: digits, a point, no more than 18 decimals. */
export const isAmountText = (text: string): boolean => /^\d{1,30}(\.\d{1,18})?$/.test(text);

const whitelist = () => payload(client.GET('/api/v1/whitelist'));
export const whitelistQuery = queryOptions({ queryKey: ['whitelist'], queryFn: whitelist });
export type WhitelistEntry = Awaited<ReturnType<typeof whitelist>>['wallets'][number];
/** How many entries of the whitelist are drawn at once. */
export const entriesAtOnce = 25;
/** Whether an entry has in it what was typed. */
export function isAbout({ label, currency, address, ip, destinationTag }: WhitelistEntry, typed: string): boolean {
  const text = typed.trim().toLowerCase();
  return (
    text === '' || [label, currency, address, ip, destinationTag].some((part) => part?.toLowerCase().includes(text))
  );
}

const wallets = () => payload(client.GET('/api/v1/merchant-wallets'));
export const walletsQuery = queryOptions({ queryKey: ['wallets'], queryFn: wallets });
export type Wallet = Awaited<ReturnType<typeof wallets>>[number];
