import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { add } from '../../../domain/money';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { balancesQuery, type Balance } from './data';
import { MoneyPage, useMoneyTexts } from './section';

/** What there is of each currency, exactly, and what it is worth. */
export function BalancesPage() {
  const words = useMoneyTexts();
  return (
    <MoneyPage title={words.balances.title} permission="balances:view">
      {() => <Balances />}
    </MoneyPage>
  );
}

function Balances() {
  const t = useTexts();
  const words = useMoneyTexts();
  const list = useQuery({ ...balancesQuery, refetchInterval: 15_000 });
  const balances = list.data?.balances ?? [];
  return (
    <section className={css.card} aria-label={words.balances.title}>
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && !balances.length && (
        <div className={css.empty}>
          <p>{t.home.noBalances}</p>
          <Link to="/payments">{words.balances.toPayments}</Link>
        </div>
      )}
      {balances.length > 0 && (
        <>
          <Worth balances={balances} />
          <Rows balances={balances} />
          <p className={css.soft}>{words.balances.why}</p>
        </>
      )}
    </section>
  );
}

/** All together; a currency without a fresh rate is named and left out. */
function Worth({ balances }: Readonly<{ balances: readonly Balance[] }>) {
  const words = useMoneyTexts();
  const numbers = useNumbers();
  const valued = balances.flatMap(({ fiatAmount }) => fiatAmount ?? []);
  const unknown = balances.filter(({ fiatAmount }) => fiatAmount === null).map(({ currency }) => currency);
  const rated = balances.flatMap(({ fiatRateAt }) => fiatRateAt ?? []).sort();
  return (
    <div>
      <p className={css.soft}>{words.balances.worth}</p>
      {valued.length > 0 && <p className={css.big}>{numbers.fiat(add(...valued), balances[0]!.fiatCurrency)}</p>}
      {rated[0] && (
        <p className={css.soft}>
          {words.balances.ratesOf} <Moment at={rated[0]} />
        </p>
      )}
      {unknown.length > 0 && <p className={css.soft}>{words.balances.unknown(unknown.join(', '))}</p>}
    </div>
  );
}

function Rows({ balances }: Readonly<{ balances: readonly Balance[] }>) {
  const t = useTexts();
  const words = useMoneyTexts();
  const numbers = useNumbers();
  return (
    <Table
      label={words.balances.title}
      columns={[
        { name: t.payments.currency },
        { name: t.home.available, isAmount: true },
        { name: t.home.reserved, isAmount: true },
        { name: t.home.pending, isAmount: true },
        { name: words.balances.value, isAmount: true },
      ]}
    >
      {balances.map(({ currency, available, reserved, pending, fiatAmount, fiatCurrency }) => (
        <tr key={currency}>
          <td>
            <Link to="/money/balances/$currency" params={{ currency }} search={{}}>
              {currency}
            </Link>
          </td>
          {[available, reserved, pending].map((value, column) => (
            <td key={column} className={css.end}>
              {numbers.crypto(value, currency)}
            </td>
          ))}
          <td className={css.end}>{fiatAmount === null ? '–' : numbers.fiat(fiatAmount, fiatCurrency)}</td>
        </tr>
      ))}
    </Table>
  );
}
