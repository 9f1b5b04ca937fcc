import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { entrySources, entryTypes, type EntrySource, type EntryType } from '../../../domain/ledger/entry';
import { client, payload } from '../api/client';
import { dated, save } from '../api/download';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { RowLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { balancesQuery } from './data';
import { ledgerFilterOf, ledgerQueryOf, type LedgerFilter } from './filter';
import { MoneyPage, useMoneyTexts } from './section';

const perPage = 50;
const place = '/signed-in/money/balances/$currency';

const read = (currency: string, filter: LedgerFilter) =>
  payload(
    client.GET('/api/v1/ledger/history', {
      params: {
        query: {
          ...ledgerQueryOf(filter),
          currency,
          limit: perPage,
          ...(filter.before ? { cursor: filter.before } : {}),
        },
      },
    }),
  );
type Entry = Extract<Awaited<ReturnType<typeof read>>, { items: unknown }>['items'][number];

/** All that the filter finds, as a file. */
async function download(currency: string, filter: LedgerFilter, format: 'csv' | 'pdf'): Promise<void> {
  const blob = (await payload(
    client.GET(format === 'pdf' ? '/api/v1/ledger/history.pdf' : '/api/v1/ledger/history.csv', {
      params: { query: { ...ledgerQueryOf(filter), currency } },
      parseAs: 'blob',
    }),
  )) as unknown as Blob;
  save(blob, dated(`${format === 'pdf' ? 'statement' : 'ledger'}-${currency}`, format));
}

/** Every change of one currency's balance, newest first, with the balance after it. */
export function LedgerPage() {
  const t = useTexts();
  const words = useMoneyTexts().ledger;
  const { currency } = useParams({ from: place });
  const filter = useSearch({ from: place, select: ledgerFilterOf });
  const file = useAct((format: 'csv' | 'pdf') => download(currency, filter, format));
  return (
    <MoneyPage
      title={words.title(currency)}
      permission="balances:view"
      acts={() => (
        <>
          <Button busy={file.isBusy} onClick={() => void file.run('csv')}>
            {t.payments.csv}
          </Button>
          <Button busy={file.isBusy} onClick={() => void file.run('pdf')}>
            {words.pdf}
          </Button>
        </>
      )}
    >
      {() => (
        <>
          <p>
            <Link to="/money/balances">{words.back}</Link>
          </p>
          <ErrorNotice error={file.error} />
          <Now currency={currency} />
          <LedgerFilters currency={currency} filter={filter} />
          <Entries currency={currency} filter={filter} />
        </>
      )}
    </MoneyPage>
  );
}

function Now({ currency }: Readonly<{ currency: string }>) {
  const t = useTexts();
  const numbers = useNumbers();
  const list = useQuery({ ...balancesQuery, refetchInterval: 15_000 });
  const balance = list.data?.balances.find((one) => one.currency === currency);
  if (!balance) return null;
  const parts = [
    [t.home.available, balance.available],
    [t.home.reserved, balance.reserved],
    [t.home.pending, balance.pending],
  ] as const;
  return (
    <div className={css.grid}>
      {parts.map(([name, value]) => (
        <div key={name}>
          <p className={css.soft}>{name}</p>
          <p className={css.big}>{numbers.crypto(value, currency)}</p>
        </div>
      ))}
    </div>
  );
}

function LedgerFilters({ currency, filter }: Readonly<{ currency: string; filter: LedgerFilter }>) {
  const t = useTexts();
  const words = useMoneyTexts().ledger;
  const navigate = useNavigate();
  const [id, setId] = useState(filter.id ?? '');
  const go = (search: LedgerFilter) => void navigate({ to: '/money/balances/$currency', params: { currency }, search });
  const apply = (change: LedgerFilter): void => go({ ...filter, before: undefined, ...change });
  const choices = <T extends string>(of: readonly T[], names: Readonly<Record<T, string>>) =>
    [['', t.payments.any], ...of.map((one) => [one, names[one]] as const)] as Array<readonly [T | '', string]>;
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() => apply({ id: id.trim() || undefined })}
      onClear={() => {
        setId('');
        go({});
      }}
    >
      <Choice<EntryType | ''>
        label={words.type}
        value={filter.type ?? ''}
        options={choices(entryTypes, words.types)}
        onChange={(type) => apply({ type: type || undefined })}
      />
      <Choice<EntrySource | ''>
        label={words.source}
        value={filter.source ?? ''}
        options={choices(entrySources, words.sources)}
        onChange={(source) => apply({ source: source || undefined })}
      />
      <Field
        label={words.sourceId}
        type="search"
        maxLength={100}
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
      <Field
        label={words.from}
        type="date"
        value={filter.from ?? ''}
        onChange={(event) => apply({ from: event.target.value || undefined })}
      />
      <Field
        label={words.to}
        type="date"
        value={filter.to ?? ''}
        onChange={(event) => apply({ to: event.target.value || undefined })}
      />
    </Filters>
  );
}

function Entries({ currency, filter }: Readonly<{ currency: string; filter: LedgerFilter }>) {
  const t = useTexts();
  const words = useMoneyTexts().ledger;
  const list = useQuery({
    queryKey: ['ledger', currency, filter],
    queryFn: () => read(currency, filter),
    placeholderData: keepPreviousData,
    refetchInterval: filter.before ? false : 15_000,
  });
  const data = list.data && typeof list.data === 'object' && 'items' in list.data ? list.data : null;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <section className={css.card} aria-label={words.entries}>
      {list.isPending && <Skeleton lines={6} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {data?.items.length === 0 && (
        <div className={css.empty}>
          <p>{isFiltered ? words.noneFound : words.none}</p>
        </div>
      )}
      {data && data.items.length > 0 && (
        <>
          <Rows currency={currency} entries={data.items} />
          <nav className={`${css.row} ${css.between}`} aria-label={t.payments.pages}>
            {filter.before ? (
              <Link to="/money/balances/$currency" params={{ currency }} search={{ ...filter, before: undefined }}>
                {words.newest}
              </Link>
            ) : (
              <span />
            )}
            {data.nextCursor && (
              <Link
                to="/money/balances/$currency"
                params={{ currency }}
                search={{ ...filter, before: data.nextCursor }}
              >
                {t.payments.older}
              </Link>
            )}
          </nav>
        </>
      )}
    </section>
  );
}

function Rows({ currency, entries }: Readonly<{ currency: string; entries: readonly Entry[] }>) {
  const t = useTexts();
  const words = useMoneyTexts().ledger;
  const numbers = useNumbers();
  return (
    <Table
      label={words.entries}
      columns={[
        { name: words.time },
        { name: words.type },
        { name: words.source },
        { name: t.payment.amount, isAmount: true },
        { name: words.balanceAfter, isAmount: true },
        { name: words.reservedAfter, isAmount: true },
        { name: words.worthThen, isAmount: true },
      ]}
    >
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td>
            <Moment at={entry.createdAt} />
          </td>
          <td>{words.types[entry.type]}</td>
          <td>
            <Source entry={entry} />
          </td>
          <td className={css.end}>{numbers.signed(entry.amount, currency)}</td>
          <td className={css.end}>{numbers.crypto(entry.balanceAfter, currency)}</td>
          <td className={css.end}>{numbers.crypto(entry.reservedAfter, currency)}</td>
          <td className={css.end}>
            {entry.fiatAmount !== null && entry.fiatCurrency !== null
              ? numbers.fiat(entry.fiatAmount, entry.fiatCurrency)
              : '–'}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** What brought a change about, with a link where it has a page. */
function Source({ entry: { sourceType, sourceId } }: Readonly<{ entry: Entry }>) {
  const name = useMoneyTexts().ledger.sources[sourceType];
  if (sourceType === 'payment' && sourceId !== null)
    return (
      <RowLink to="/payments" id={sourceId}>
        {name}
      </RowLink>
    );
  if (sourceType === 'withdrawal' && sourceId !== null)
    return (
      <RowLink to="/money/withdrawals" id={sourceId}>
        {name}
      </RowLink>
    );
  if (sourceType === 'conversion' && sourceId !== null)
    return (
      <RowLink to="/money/conversions" id={sourceId}>
        {name}
      </RowLink>
    );
  if (sourceType === 'massPayout' && sourceId !== null)
    return (
      <RowLink to="/money/payouts" id={sourceId}>
        {name}
      </RowLink>
    );
  return <span title={sourceId ?? undefined}>{name}</span>;
}
