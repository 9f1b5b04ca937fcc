import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { currenciesQuery, meQuery, type Me } from '../api/queries';
import css from '../design/design.module.css';
import { Notice } from '../design/feedback';
import { Choice } from '../design/field';
import { periodOf } from '../design/filter';
import { Filters } from '../design/filters';
import { HeldChoice } from '../design/held-choice';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Period } from '../design/period';
import { useNumbers } from '../design/show';
import { RowLink } from '../design/row-link';
import { Pages, Table } from '../design/table';
import { Page } from '../shell/page';
import { SectionTabs } from '../shell/section-tabs';
import { useSentence, useTexts } from '../texts/texts';
import { paymentPagesFor } from './pages';
import { perPage } from './read-list';
import { refundFilterOf, refundTabs, type RefundFilter } from './refund-filter';
import { RefundBadge } from './refund-status';

const read = ({ status, held, currency, from, to, page }: RefundFilter) =>
  payload(
    client.GET('/api/v1/refunds', {
      params: {
        query: {
          ...(status ? { status } : {}),
          ...(held ? { held: '1' as const } : {}),
          ...(currency ? { currency } : {}),
          ...periodOf({ from, to }),
          page: page ?? 1,
          limit: perPage,
        },
      },
    }),
  );
type Row = Awaited<ReturnType<typeof read>>['items'][number];

/** Money back to payers, of all payments. What can be decided about a refund is on the page of its payment. */
export function RefundsPage() {
  const t = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  const filter = useSearch({ from: '/signed-in/payments/refunds', select: refundFilterOf });
  if (!me) return null;
  const isAllowed = me.merchantId !== null && mayCall(me, access.listRefunds.may);
  return (
    <Page title={t.refunds.title}>
      <SectionTabs label={t.payments.sectionPages} pages={paymentPagesFor(me)} names={t.payments.sections} />
      {isAllowed ? (
        <>
          <StatusTabs filter={filter} />
          <RefundFilters filter={filter} />
          <List filter={filter} me={me} />
        </>
      ) : (
        <Notice tone="warn">{t.needs('refunds:view')}</Notice>
      )}
    </Page>
  );
}

function StatusTabs({ filter }: Readonly<{ filter: RefundFilter }>) {
  const t = useTexts();
  const { status: _, page: __, ...rest } = filter;
  return (
    <nav aria-label={t.payments.byStatus}>
      <ul className={css.tabs}>
        {[undefined, ...refundTabs].map((status) => (
          <li key={status ?? 'all'}>
            <Link
              to="/payments/refunds"
              search={status ? { ...rest, status } : rest}
              className={css.tab!}
              aria-current={status === filter.status ? 'page' : undefined}
            >
              {status ? t.refunds.statuses[status] : t.payments.all}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function RefundFilters({ filter }: Readonly<{ filter: RefundFilter }>) {
  const t = useTexts();
  const navigate = useNavigate();
  const currencies = useQuery(currenciesQuery);
  const show = (search: RefundFilter) => void navigate({ to: '/payments/refunds', search });
  const apply = (change: RefundFilter) => show({ ...filter, page: undefined, ...change });
  return (
    <Filters isSet={Object.keys(filter).length > 0} onClear={() => show({})}>
      <Choice
        label={t.payments.currency}
        value={filter.currency ?? ''}
        options={[
          ['', t.payments.any],
          ...(currencies.data ?? []).map(({ currency }) => [currency, currency] as const),
        ]}
        onChange={(currency) => apply({ currency: currency || undefined })}
      />
      <HeldChoice isHeld={filter.held === true} onChange={(held) => apply({ held })} />
      <Period days={filter} onChange={apply} />
    </Filters>
  );
}

function List({ filter, me }: Readonly<{ filter: RefundFilter; me: Me }>) {
  const t = useTexts();
  const list = useQuery({
    queryKey: ['refunds', 'list', filter],
    queryFn: () => read(filter),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  return (
    <section className={css.card} aria-label={t.refunds.title}>
      <Loaded query={list} lines={6}>
        {({ items, total }) =>
          items.length === 0 ? (
            <div className={css.empty}>
              <p>{Object.keys(filter).length ? t.refunds.noneFound : t.refunds.noneAtAll}</p>
              {Object.keys(filter).length > 0 && <Link to="/payments/refunds">{t.payments.clear}</Link>}
            </div>
          ) : (
            <>
              <Rows rows={items} me={me} />
              <Pages
                page={filter.page ?? 1}
                total={total}
                perPage={perPage}
                link={(page, text) => (
                  <Link to="/payments/refunds" search={{ ...filter, page: page > 1 ? page : undefined }}>
                    {text}
                  </Link>
                )}
              />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Rows({ rows, me }: Readonly<{ rows: readonly Row[]; me: Me }>) {
  const t = useTexts();
  const sentence = useSentence();
  const numbers = useNumbers();
  const maySeePayment = mayCall(me, access.getPayment.may);
  return (
    <Table
      label={t.refunds.title}
      columns={[
        { name: t.created },
        { name: t.payments.status },
        { name: t.refunds.counts, isAmount: true },
        { name: t.refunds.gets, isAmount: true },
        { name: t.payment.reason },
        { name: t.payments.payment },
      ]}
    >
      {rows.map((row) => (
        <tr key={row._id}>
          <td>
            <Moment at={row.createdAt} />
          </td>
          <td>
            <RefundBadge status={row.status} />
            {row.merchantMessage && <div className={css.hint}>{sentence(row.merchantMessage)}</div>}
          </td>
          <td className={css.end}>
            {numbers.crypto(row.amount, row.currency)}
            <div className={css.hint}>{numbers.fiat(row.fiatAmount, row.fiatCurrency)}</div>
          </td>
          <td className={css.end}>{numbers.crypto(row.netToDestination, row.currency)}</td>
          <td>
            {row.reason ?? '–'}
            {row.reference && <div className={css.hint}>{row.reference}</div>}
          </td>
          <td className={css.code}>
            {maySeePayment ? (
              <RowLink to="/payments" id={row.paymentId}>
                {row.paymentId}
              </RowLink>
            ) : (
              row.paymentId
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
