import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { holds } from '../../../domain/access/access';
import { add } from '../../../domain/money';
import { meQuery } from '../api/queries';
import css from '../design/design.module.css';
import { Loaded } from '../design/loaded';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { balancesQuery } from '../money/data';
import { Page } from '../shell/page';
import { useTexts } from '../texts/texts';
import { Attention } from './attention';
import { Figures } from './figures';
import { useHomeTexts } from './texts/use';

/** How the business is doing, and what waits for somebody. */
export function HomePage() {
  const t = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  if (!me) return null;
  return (
    <Page title={t.home.title}>
      <Attention me={me} />
      <Figures />
      {holds(me, 'balances:view') && <Balances />}
    </Page>
  );
}

function Balances() {
  const t = useTexts();
  const words = useHomeTexts();
  const numbers = useNumbers();
  const list = useQuery({ ...balancesQuery, refetchInterval: 15_000 });
  return (
    <section className={css.card} aria-labelledby="balances">
      <h2 id="balances">
        <Link to="/money/balances">{words.balances}</Link>
      </h2>
      <Loaded query={list}>
        {({ balances }) => {
          const worth = balances.flatMap(({ fiatAmount }) => fiatAmount ?? []);
          if (!balances.length) return <p className={css.soft}>{t.home.noBalances}</p>;
          return (
            <>
              {worth.length > 0 && (
                <p className={css.big}>
                  <span className={css.soft}>{words.worth}</span>{' '}
                  {numbers.fiat(add(...worth), balances[0]!.fiatCurrency)}
                </p>
              )}
              <Table
                label={words.balances}
                columns={[
                  { name: t.payments.currency },
                  { name: t.home.available, isAmount: true },
                  { name: t.home.reserved, isAmount: true },
                  { name: t.home.pending, isAmount: true },
                ]}
              >
                {balances.map(({ currency, available, reserved, pending }) => (
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
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
