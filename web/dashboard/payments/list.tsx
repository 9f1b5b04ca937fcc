import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { holds } from '../../../domain/access/access';
import { paymentExceptions, paymentStatuses } from '../../../domain/payments/payment';
import { client, payload } from '../api/client';
import { dated, save } from '../api/download';
import { currenciesQuery, meQuery } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { Filters } from '../design/filters';
import { Period } from '../design/period';
import { useNumbers } from '../design/show';
import { Pages } from '../design/table';
import { Page } from '../shell/page';
import { SectionTabs } from '../shell/section-tabs';
import { useTexts } from '../texts/texts';
import { Bulk } from './bulk';
import { useChosen } from './chosen';
import { ColumnMenu } from './column-menu';
import { useColumns } from './columns';
import { CreatePayment } from './create';
import { filterOf, priceOf, queryOf, type Filter } from './filter';
import { useLivePayments } from './live';
import { paymentPagesFor } from './pages';
import { listOf, perPage, type Row } from './read-list';
import { Rows } from './rows';

export function PaymentsPage() {
  const t = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  const filter = useSearch({ from: '/signed-in/payments', select: filterOf });
  const [isCreating, setCreating] = useState(false);
  const navigate = useNavigate();
  const creates = useLocation({ select: ({ state }) => state.creates === true });
  useEffect(() => {
    if (!creates) return;
    setCreating(true);
    void navigate({ to: '/payments', search: filter, state: {}, replace: true }); // once, and not after a reload
  }, [creates, filter, navigate]);
  const isLive = useLivePayments();
  const list = useQuery({
    queryKey: ['payments', filter],
    queryFn: () => listOf(filter),
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? 60_000 : 5000,
  });
  const file = useAct((format: 'csv' | 'json') => download(filter, format));
  const mayManage = me !== null && holds(me, 'payments:manage');
  const data = list.data && typeof list.data === 'object' && 'items' in list.data ? list.data : null;
  return (
    <Page
      title={t.payments.title}
      acts={
        <>
          {(['csv', 'json'] as const).map((format) => (
            <Button key={format} busy={file.isBusy} onClick={() => void file.run(format)}>
              {t.payments[format]}
            </Button>
          ))}
          <Button
            look="primary"
            reason={mayManage ? undefined : t.needs('payments:manage')}
            onClick={() => setCreating(true)}
          >
            {t.payments.create}
          </Button>
        </>
      }
    >
      <SectionTabs label={t.payments.sectionPages} pages={me ? paymentPagesFor(me) : []} names={t.payments.sections} />
      <ErrorNotice error={file.error} />
      <StatusTabs filter={filter} isLive={isLive} />
      <PaymentFilters key={JSON.stringify(typedOf(filter))} filter={filter} />
      <section className={css.card} aria-label={t.payments.title}>
        {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton lines={6} />}
        {data && <Listed items={data.items} total={data.total} filter={filter} mayManage={mayManage} />}
      </section>
      {isCreating && <CreatePayment onEnd={() => setCreating(false)} />}
    </Page>
  );
}

/** The rows of one page, and what can be done with those that are chosen. */
function Listed(props: Readonly<{ items: readonly Row[]; total: number; filter: Filter; mayManage: boolean }>) {
  const { items, total, filter, mayManage } = props;
  const [columns, choose] = useColumns();
  const chosen = useChosen(filter);
  const hasRows = items.length > 0;
  return (
    <>
      {!hasRows && <Empty filter={filter} />}
      {(hasRows || chosen.rows.size > 0) && (
        <div className={`${css.row} ${css.between}`}>
          <Bulk shown={items} chosen={chosen} mayManage={mayManage} />
          <ColumnMenu shown={columns} onChange={choose} />
        </div>
      )}
      {hasRows && (
        <>
          <Rows rows={items} columns={columns} chosen={chosen} />
          <Pages
            page={filter.page ?? 1}
            total={total}
            perPage={perPage}
            link={(page, text) => (
              <Link to="/payments" search={{ ...filter, page: page > 1 ? page : undefined }}>
                {text}
              </Link>
            )}
          />
        </>
      )}
    </>
  );
}

/** All that the filter finds, as a file. */
async function download(filter: Filter, format: 'csv' | 'json'): Promise<void> {
  const blob = (await payload(
    client.GET(`/api/v1/payments.${format}`, {
      params: { query: { ...queryOf(filter), ...(filter.status ? { status: filter.status } : {}) } },
      parseAs: 'blob',
    }),
  )) as unknown as Blob;
  save(blob, dated('payments', format));
}

function StatusTabs({ filter, isLive }: Readonly<{ filter: Filter; isLive: boolean }>) {
  const t = useTexts();
  const numbers = useNumbers();
  const query = queryOf(filter);
  const counts = useQuery({
    queryKey: ['payment-counts', query],
    queryFn: () => payload(client.GET('/api/v1/payments/status-counts', { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? 60_000 : 10_000,
  });
  const by = (counts.data?.byStatus ?? {}) as Readonly<Record<string, number>>;
  const shown = paymentStatuses.filter((status) => status === filter.status || (by[status] ?? 0) > 0);
  const { status: _, page: __, ...rest } = filter;
  return (
    <nav aria-label={t.payments.byStatus}>
      <ul className={css.tabs}>
        {[undefined, ...shown].map((status) => (
          <li key={status ?? 'all'}>
            <Link
              to="/payments"
              search={status ? { ...rest, status } : rest}
              className={css.tab!}
              aria-current={status === filter.status ? 'page' : undefined}
            >
              {status ? t.statuses[status] : t.payments.all}
              {counts.data && (
                <span className={css.soft}>&nbsp;{numbers.count(status ? (by[status] ?? 0) : counts.data.total)}</span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** What a person types into the filters before it is looked for. */
const typedOf = ({ search = '', order = '', least = '', most = '' }: Filter) => ({ search, order, least, most });

function PaymentFilters({ filter }: Readonly<{ filter: Filter }>) {
  const t = useTexts();
  const navigate = useNavigate();
  const currencies = useQuery(currenciesQuery);
  const [typed, setTyped] = useState(typedOf(filter));
  const isWrong = (name: 'least' | 'most'): boolean => typed[name].trim() !== '' && !priceOf(typed[name]);
  const apply = (change: Filter): void => {
    const { page: _, ...rest } = { ...filter, ...change };
    void navigate({ to: '/payments', search: rest });
  };
  const price = (label: 'priceFrom' | 'priceTo', name: 'least' | 'most') => (
    <Field
      label={t.payments[label]}
      hint={t.payments.priceHint}
      inputMode="decimal"
      autoComplete="off"
      maxLength={20}
      value={typed[name]}
      error={isWrong(name) ? t.payments.priceWrong : undefined}
      onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
    />
  );
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() => {
        if (isWrong('least') || isWrong('most')) return;
        apply({
          search: typed.search.trim() || undefined,
          order: typed.order.trim() || undefined,
          least: priceOf(typed.least),
          most: priceOf(typed.most),
        });
      }}
      onClear={() => {
        setTyped(typedOf({}));
        void navigate({ to: '/payments', search: {} });
      }}
    >
      <Field
        label={t.payments.search}
        hint={t.payments.searchHint}
        type="search"
        value={typed.search}
        onChange={(event) => setTyped({ ...typed, search: event.target.value })}
      />
      <Field
        label={t.payments.order}
        hint={t.payments.orderHint}
        type="search"
        value={typed.order}
        onChange={(event) => setTyped({ ...typed, order: event.target.value })}
      />
      <Choice
        label={t.payments.currency}
        hint={t.payments.currencyHint}
        value={filter.currency ?? ''}
        options={[
          ['', t.payments.any],
          ...(currencies.data ?? []).map(({ currency }) => [currency, currency] as const),
        ]}
        onChange={(currency) => apply({ currency: currency || undefined })}
      />
      <Choice
        label={t.payments.exception}
        hint={t.payments.exceptionHint}
        value={filter.exception ?? ''}
        options={[
          ['', t.payments.any],
          ...paymentExceptions.map((name) => [name, t.exceptions[name] ?? name] as const),
        ]}
        onChange={(exception) => apply({ exception: paymentExceptions.find((name) => name === exception) })}
      />
      {price('priceFrom', 'least')}
      {price('priceTo', 'most')}
      <Period days={filter} onChange={apply} />
    </Filters>
  );
}

function Empty({ filter }: Readonly<{ filter: Filter }>) {
  const t = useTexts();
  return (
    <div className={css.empty}>
      <p>{Object.keys(filter).length ? t.payments.noneFound : t.payments.none}</p>
      {Object.keys(filter).length > 0 && <Link to="/payments">{t.payments.clear}</Link>}
    </div>
  );
}
