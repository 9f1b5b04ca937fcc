import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ConversionStatus } from '../../../domain/conversions/conversion';
import { client, payload } from '../api/client';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { RowLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Pages, Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { ConversionBadge } from './conversion-status';
import { Convert } from './convert';
import { conversionFilterOf, listQueryOf, perPage, type ListFilter } from './filter';
import { ListFilters } from './list-filters';
import { MoneyPage, useMoneyTexts } from './section';

type Filter = ListFilter<ConversionStatus>;

const read = ({ currency, ...filter }: Filter) =>
  payload(
    client.GET('/api/v1/conversions', {
      params: { query: { ...listQueryOf(filter), ...(currency ? { fromCurrency: currency } : {}) } },
    }),
  );
type Row = Awaited<ReturnType<typeof read>>['items'][number];

/** Convert one balance into another, and what was converted before. */
export function ConversionsPage() {
  const words = useMoneyTexts().conversions;
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/money/conversions', select: conversionFilterOf });
  return (
    <MoneyPage title={words.title} permission="conversions:view">
      {(me) => (
        <>
          <Convert me={me} />
          <h2>{words.past}</h2>
          <ListFilters
            filter={filter}
            statuses={words.statuses}
            hasCurrency
            onChange={(search) => void navigate({ to: '/money/conversions', search })}
          />
          <List filter={filter} />
        </>
      )}
    </MoneyPage>
  );
}

function List({ filter }: Readonly<{ filter: Filter }>) {
  const words = useMoneyTexts().conversions;
  const list = useQuery({
    queryKey: ['conversions', filter],
    queryFn: () => read(filter),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <section className={css.card} aria-label={words.past}>
      {list.isPending && <Skeleton lines={4} />}
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
              <Link to="/money/conversions" search={{ ...filter, page: page > 1 ? page : undefined }}>
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
      label={words.conversions.past}
      columns={[
        { name: t.created },
        { name: t.payments.status },
        { name: words.convert.give, isAmount: true },
        { name: words.convert.get, isAmount: true },
      ]}
    >
      {rows.map((row) => (
        <tr key={row._id}>
          <td>
            <RowLink to="/money/conversions" id={row._id}>
              <Moment at={row.createdAt} />
            </RowLink>
          </td>
          <td>
            <ConversionBadge status={row.status} />
          </td>
          <td className={css.end}>{numbers.crypto(row.fromAmount, row.fromCurrency)}</td>
          <td className={css.end}>
            {(row.creditAmountStr ?? row.toAmount) === undefined
              ? '–'
              : numbers.crypto((row.creditAmountStr ?? row.toAmount)!, row.toCurrency)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
