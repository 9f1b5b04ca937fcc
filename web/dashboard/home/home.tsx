import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { holds, mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { meQuery, type Me } from '../api/queries';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { Page } from '../shell/page';
import { useTexts } from '../texts/texts';

const spans = ['today', 'week', 'month'] as const;
type Span = (typeof spans)[number];
const days: Readonly<Record<Span, number>> = { today: 0, week: 6, month: 29 };

/** Days are those of the list that the numbers lead to: whole days in UTC. */
const dayBefore = (count: number): string => new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10);

const countsSince = (dateFrom?: string) =>
  payload(
    client.GET('/api/v1/payments/status-counts', { params: { query: dateFrom === undefined ? {} : { dateFrom } } }),
  );

/** How the business is doing, and what waits for somebody. */
export function HomePage() {
  const t = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  if (!me) return null;
  return (
    <Page title={t.home.title}>
      <Attention me={me} />
      <Funnel />
      {holds(me, 'balances:view') && <Balances />}
    </Page>
  );
}

function Funnel() {
  const t = useTexts();
  const numbers = useNumbers();
  const [span, setSpan] = useState<Span>('week');
  const from = dayBefore(days[span]);
  const counts = useQuery({
    queryKey: ['payment-counts', 'since', from],
    queryFn: () => countsSince(from),
    refetchInterval: 15_000,
  });
  const groups = counts.data?.groups as Readonly<Record<string, number>> | undefined;
  const [processing, completed] = [groups?.['processing'] ?? 0, groups?.['completed'] ?? 0];
  const steps = [
    [t.home.created, counts.data?.total ?? 0],
    [t.home.paid, processing + completed],
    [t.home.settled, completed],
  ] as const;
  return (
    <section className={css.card} aria-labelledby="funnel">
      <div className={`${css.row} ${css.between}`}>
        <h2 id="funnel">{t.home.funnel}</h2>
        <div className={css.tabs} role="group" aria-label={t.home.span}>
          {spans.map((one) => (
            <button
              key={one}
              type="button"
              className={css.tab}
              aria-pressed={one === span}
              onClick={() => setSpan(one)}
            >
              {t.home.spans[one]}
            </button>
          ))}
        </div>
      </div>
      {counts.isPending && <Skeleton lines={2} />}
      {counts.isError && <ErrorNotice error={counts.error} onRetry={() => void counts.refetch()} />}
      {counts.data && (
        <div className={css.grid}>
          {steps.map(([name, count]) => (
            <div key={name}>
              <p className={css.soft}>{name}</p>
              <p className={css.big}>{numbers.count(count)}</p>
              {name !== t.home.created && counts.data.total > 0 && (
                <p className={css.soft}>{t.home.share(Math.round((count / counts.data.total) * 100))}</p>
              )}
            </div>
          ))}
        </div>
      )}
      <p>
        <Link to="/payments" search={{ from }}>
          {t.home.toPayments}
        </Link>
      </p>
    </section>
  );
}

function Balances() {
  const t = useTexts();
  const numbers = useNumbers();
  const list = useQuery({
    queryKey: ['balances'],
    queryFn: () => payload(client.GET('/api/v1/ledger/balances')),
    refetchInterval: 15_000,
  });
  return (
    <section className={css.card} aria-labelledby="balances">
      <h2 id="balances">{t.home.balances}</h2>
      {list.isPending && <Skeleton />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.balances.length === 0 && <p className={css.soft}>{t.home.noBalances}</p>}
      {list.data && list.data.balances.length > 0 && (
        <Table
          label={t.home.balances}
          columns={[
            { name: t.payments.currency },
            { name: t.home.available, isAmount: true },
            { name: t.home.reserved, isAmount: true },
            { name: t.home.pending, isAmount: true },
          ]}
        >
          {list.data.balances.map(({ currency, available, reserved, pending }) => (
            <tr key={currency}>
              <td>{currency}</td>
              {[available, reserved, pending].map((value, column) => (
                <td key={column} className={css.end}>
                  {numbers.crypto(value, currency)}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** What waits for a person; each line leads to it. */
function Attention({ me }: Readonly<{ me: Me }>) {
  const t = useTexts();
  const counts = useQuery({
    queryKey: ['payment-counts', 'all'],
    queryFn: () => countsSince(),
    refetchInterval: 15_000,
  });
  const maySeeRefunds = mayCall(me, access.listRefunds.may);
  const refunds = useQuery({
    queryKey: ['refunds', 'to-approve'],
    queryFn: () =>
      payload(client.GET('/api/v1/refunds', { params: { query: { status: 'awaiting_approval', limit: 5 } } })),
    enabled: maySeeRefunds,
    refetchInterval: 30_000,
  });
  const by = (counts.data?.byStatus ?? {}) as Readonly<Record<string, number>>;
  const waiting = (['PARTIALLY_PAID', 'CROSS_CHAIN_PENDING'] as const).filter((status) => (by[status] ?? 0) > 0);
  const toApprove = refunds.data?.items ?? [];
  const isQuiet = counts.data && !waiting.length && !toApprove.length;
  return (
    <section className={css.card} aria-labelledby="attention">
      <h2 id="attention">{t.home.attention}</h2>
      {counts.isPending && <Skeleton lines={2} />}
      <ErrorNotice error={counts.error ?? refunds.error} />
      {isQuiet && <p className={css.soft}>{t.home.quiet}</p>}
      <ul className={css.list}>
        {waiting.map((status) => (
          <li key={status}>
            <Link to="/payments" search={{ status }}>
              {t.home.waiting[status](by[status]!)}
            </Link>
          </li>
        ))}
        {toApprove.map(({ _id, paymentId, amount, currency }) => (
          <li key={_id}>
            <Link to="/payments/$paymentId" params={{ paymentId }}>
              {t.home.refundWaits(amount, currency)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
