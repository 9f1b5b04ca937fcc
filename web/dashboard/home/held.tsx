import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { slow, type Line, type Part } from './part';
import { summaryQuery } from './data';
import { useHomeTexts } from './texts/use';

/** Money that a check, a pause, a limit or a hold of the account keeps; each line leads to the list of it. */

const params = { query: { held: '1', limit: 1 } } as const;
const search = { held: true } as const;

export function useHeld(me: Me): Part {
  const words = useHomeTexts();
  const flagged = useFlagged();
  const withdrawals = useQuery({
    queryKey: ['withdrawals', 'held'],
    queryFn: () => payload(client.GET('/api/v1/withdrawals', { params })),
    enabled: mayCall(me, access.listWithdrawals.may),
    ...slow,
  });
  const payouts = useQuery({
    queryKey: ['payouts', 'held'],
    queryFn: () => payload(client.GET('/api/v1/mass-payouts', { params })),
    enabled: mayCall(me, access.listPayouts.may),
    ...slow,
  });
  const refunds = useQuery({
    queryKey: ['refunds', 'held'],
    queryFn: () => payload(client.GET('/api/v1/refunds', { params })),
    enabled: mayCall(me, access.listRefunds.may),
    ...slow,
  });
  const lineOf = (key: string, count: number | undefined, text: (count: number) => string, link: LinkProps): Line[] =>
    count ? [{ key, link: <Link {...link}>{text(count)}</Link> }] : [];
  return {
    lines: [
      ...flagged.lines,
      ...lineOf('withdrawals-held', withdrawals.data?.total, words.withdrawalsHeld, {
        to: '/money/withdrawals',
        search,
      }),
      ...lineOf('payouts-held', payouts.data?.total, words.payoutsHeld, { to: '/money/payouts', search }),
      ...lineOf('refunds-held', refunds.data?.total, words.refundsHeld, { to: '/payments/refunds', search }),
    ],
    error: flagged.error ?? withdrawals.error ?? payouts.error ?? refunds.error,
    isPending: flagged.isPending || withdrawals.isLoading || payouts.isLoading || refunds.isLoading,
  };
}

/** Payments that the screening found something about, of the days that the other lines count. */
function useFlagged(): Part {
  const words = useHomeTexts();
  const summary = useQuery(summaryQuery(30));
  const from = summary.data?.current.dateFrom.slice(0, 10);
  const { data, error, isLoading } = useQuery({
    queryKey: ['payment-counts', 'flagged', from],
    queryFn: () =>
      payload(
        client.GET('/api/v1/payments/status-counts', {
          params: { query: { exception: 'amlFlagged', ...(from ? { dateFrom: from } : {}) } },
        }),
      ),
    enabled: from !== undefined,
    ...slow,
  });
  const count = data?.total ?? 0;
  const link = (
    <Link to="/payments" search={{ exception: 'amlFlagged', from }}>
      {words.flagged(count)}
    </Link>
  );
  return { lines: count > 0 ? [{ key: 'flagged', link }] : [], error, isPending: isLoading };
}
