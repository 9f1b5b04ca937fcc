import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import type { WithdrawalStatus } from '../../../domain/withdrawals/withdrawal';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { RowLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Pages, Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { heldQueryOf, listQueryOf, perPage, withdrawalFilterOf, type ListFilter } from './filter';
import { ListFilters } from './list-filters';
import { MoneyPage, useMoneyTexts } from './section';
import { Withdraw } from './withdraw';
import { WithdrawalBadge } from './withdrawal-status';

type Filter = ListFilter<WithdrawalStatus>;

const read = ({ currency, ...filter }: Filter) =>
  payload(
    client.GET('/api/v1/withdrawals', {
      params: { query: { ...listQueryOf(filter), ...heldQueryOf(filter), ...(currency ? { currency } : {}) } },
    }),
  );
type Row = Awaited<ReturnType<typeof read>>['items'][number];

export function WithdrawalsPage() {
  const t = useTexts();
  const words = useMoneyTexts().withdrawals;
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/money/withdrawals', select: withdrawalFilterOf });
  const [isAsking, setAsking] = useState(false);
  const mayAsk = (me: Me): boolean => mayCall(me, access.createWithdrawal.may);
  return (
    <MoneyPage
      title={words.title}
      permission="withdrawals:view"
      acts={(me) => (
        <Button
          look="primary"
          reason={mayAsk(me) ? undefined : t.needs('withdrawals:manage')}
          onClick={() => setAsking(true)}
        >
          {words.create}
        </Button>
      )}
    >
      {(me) => (
        <>
          <ListFilters
            filter={filter}
            statuses={words.statuses}
            hasCurrency
            hasHeld
            onChange={(search) => void navigate({ to: '/money/withdrawals', search })}
          />
          <List filter={filter} />
          {isAsking && <Withdraw me={me} onEnd={() => setAsking(false)} />}
        </>
      )}
    </MoneyPage>
  );
}

function List({ filter }: Readonly<{ filter: Filter }>) {
  const words = useMoneyTexts().withdrawals;
  const list = useQuery({
    queryKey: ['withdrawals', filter],
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
              <Link to="/money/withdrawals" search={{ ...filter, page: page > 1 ? page : undefined }}>
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
  const words = useMoneyTexts();
  const numbers = useNumbers();
  return (
    <Table
      label={words.withdrawals.title}
      columns={[
        { name: t.created },
        { name: t.payments.status },
        { name: t.payment.amount, isAmount: true },
        { name: words.withdrawals.to },
        { name: words.withdrawals.note },
        { name: words.withdrawals.requestedBy },
      ]}
    >
      {rows.map((row) => (
        <tr key={row._id}>
          <td>
            <RowLink to="/money/withdrawals" id={row._id}>
              <Moment at={row.createdAt} />
            </RowLink>
          </td>
          <td>
            <WithdrawalBadge status={row.status} />
          </td>
          <td className={css.end}>{numbers.crypto(row.amount, row.currency)}</td>
          <td className={css.code}>
            {row.address}
            {row.destinationTag && ` / ${row.destinationTag}`}
          </td>
          <td>{row.note ?? '–'}</td>
          <td>{row.requestedBy}</td>
        </tr>
      ))}
    </Table>
  );
}
