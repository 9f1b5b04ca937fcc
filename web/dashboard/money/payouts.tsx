import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import type { BatchStatus } from '../../../domain/payouts/payout';
import { client, payload } from '../api/client';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { RowLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Pages, Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { heldQueryOf, listQueryOf, payoutFilterOf, perPage, type ListFilter } from './filter';
import { ListFilters } from './list-filters';
import { BatchBadge } from './payout-status';
import { MoneyPage, useMoneyTexts } from './section';

type Filter = ListFilter<BatchStatus>;

const read = (filter: Filter) =>
  payload(
    client.GET('/api/v1/mass-payouts', { params: { query: { ...listQueryOf(filter), ...heldQueryOf(filter) } } }),
  );
type Row = Awaited<ReturnType<typeof read>>['items'][number];

export function PayoutsPage() {
  const t = useTexts();
  const words = useMoneyTexts().payouts;
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/money/payouts', select: payoutFilterOf });
  return (
    <MoneyPage
      title={words.title}
      permission="mass-payouts:view"
      acts={(me) => (
        <Button
          look="primary"
          reason={mayCall(me, access.queuePayouts.may) ? undefined : t.needs('mass-payouts:manage')}
          onClick={() => void navigate({ to: '/money/payouts/new' })}
        >
          {words.create}
        </Button>
      )}
    >
      {() => (
        <>
          <ListFilters
            filter={filter}
            statuses={words.statuses}
            hasHeld
            onChange={(search) => void navigate({ to: '/money/payouts', search })}
          />
          <List filter={filter} />
        </>
      )}
    </MoneyPage>
  );
}

function List({ filter }: Readonly<{ filter: Filter }>) {
  const words = useMoneyTexts().payouts;
  const list = useQuery({
    queryKey: ['payouts', filter],
    queryFn: () => read(filter),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <section className={css.card} aria-label={words.title}>
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 && (
        <div className={css.empty}>
          <p>{isFiltered ? words.noneFound : words.none}</p>
        </div>
      )}
      {list.data && list.data.items.length > 0 && (
        <>
          <Rows rows={list.data.items} />
          <Pages
            page={filter.page ?? 1}
            total={list.data.total}
            perPage={perPage}
            link={(page, text) => (
              <Link to="/money/payouts" search={{ ...filter, page: page > 1 ? page : undefined }}>
                {text}
              </Link>
            )}
          />
        </>
      )}
    </section>
  );
}

function Rows({ rows }: Readonly<{ rows: readonly Row[] }>) {
  const t = useTexts();
  const words = useMoneyTexts().payouts;
  const numbers = useNumbers();
  return (
    <Table
      label={words.title}
      columns={[
        { name: t.created },
        { name: words.label },
        { name: t.payments.status },
        { name: words.lines, isAmount: true },
        { name: words.total, isAmount: true },
        { name: words.createdBy },
      ]}
    >
      {rows.map((row) => (
        <tr key={row._id}>
          <td>
            <RowLink to="/money/payouts" id={row._id}>
              <Moment at={row.createdAt} />
            </RowLink>
          </td>
          <td>{row.label ?? '–'}</td>
          <td>
            <BatchBadge status={row.status} />
          </td>
          <td className={css.end}>
            {numbers.count(row.counts.completed)} / {numbers.count(row.rowCount)}
          </td>
          <td className={css.end}>
            {Object.entries(row.totalsByCurrency).map(([currency, total]) => (
              <div key={currency}>{numbers.crypto(total, currency)}</div>
            ))}
          </td>
          <td>{row.createdBy}</td>
        </tr>
      ))}
    </Table>
  );
}
