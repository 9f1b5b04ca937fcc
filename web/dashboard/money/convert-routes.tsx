import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';
import type { ConversionAsk } from './convert-data';
import { useMoneyTexts } from './section';

/** Comparisons of real quotes: asked for by a click, because each costs several. */

const routesTo = (toCurrency: string) =>
  payload(client.GET('/api/v1/conversions/best-route', { params: { query: { toCurrency } } }));

/** Which of the balances gets to a currency at the least cost. */
export function BestRoute(props: Readonly<{ toCurrency: string; onChoose: (ask: ConversionAsk) => void }>) {
  const { toCurrency, onChoose } = props;
  const t = useTexts();
  const words = useMoneyTexts().convert;
  const numbers = useNumbers();
  const [asked, setAsked] = useState<string | null>(null);
  const routes = useQuery({
    queryKey: ['best-route', asked],
    queryFn: () => routesTo(asked!),
    enabled: asked !== null,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
  });
  const isAsked = asked === toCurrency;
  return (
    <div className={css.stack}>
      <div>
        <Button look="link" onClick={() => setAsked(toCurrency)}>
          {words.bestRoute(toCurrency)}
        </Button>
      </div>
      {isAsked && routes.isPending && <Skeleton lines={2} />}
      {isAsked && <ErrorNotice error={routes.error} onRetry={() => void routes.refetch()} />}
      {isAsked && routes.data?.options.length === 0 && <p className={css.soft}>{words.noRoute(toCurrency)}</p>}
      {isAsked && routes.data && routes.data.options.length > 0 && (
        <Table
          label={words.bestRoute(toCurrency)}
          columns={[
            { name: words.from },
            { name: words.give, isAmount: true },
            { name: words.get, isAmount: true },
            { name: words.fee, isAmount: true },
            { name: t.actions, isHidden: true },
          ]}
        >
          {routes.data.options.map(({ fromCurrency, fromAmount, toAmount, feePct, feeUsd }) => (
            <tr key={fromCurrency}>
              <td>{fromCurrency}</td>
              <td className={css.end}>{numbers.crypto(fromAmount, fromCurrency)}</td>
              <td className={css.end}>{numbers.crypto(toAmount, toCurrency)}</td>
              <td className={css.end}>
                {numbers.percent(feePct / 100)} ({numbers.fiat(feeUsd, 'USD')})
              </td>
              <td className={css.end}>
                <Button
                  look="link"
                  label={words.takeRoute(fromCurrency)}
                  onClick={() => onChoose({ fromCurrency, toCurrency, fromAmount })}
                >
                  {words.take}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}

/** Which currencies an amount turns into for less. */
export function CheaperTargets(props: Readonly<{ ask: ConversionAsk; onChoose: (toCurrency: string) => void }>) {
  const { ask, onChoose } = props;
  const t = useTexts();
  const words = useMoneyTexts().convert;
  const numbers = useNumbers();
  const [isAsked, setAsked] = useState(false);
  const targets = useQuery({
    queryKey: ['cheaper-targets', ask],
    queryFn: () => payload(client.GET('/api/v1/conversions/cheaper-targets', { params: { query: ask } })),
    enabled: isAsked,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
  });
  return (
    <div className={css.stack}>
      <div>
        <Button look="link" onClick={() => setAsked(true)}>
          {words.cheaper}
        </Button>
      </div>
      {isAsked && targets.isPending && <Skeleton lines={2} />}
      {isAsked && <ErrorNotice error={targets.error} onRetry={() => void targets.refetch()} />}
      {targets.data?.targets.length === 0 && <p className={css.soft}>{words.noCheaper(ask.toCurrency)}</p>}
      {targets.data && targets.data.targets.length > 0 && (
        <Table
          label={words.cheaper}
          columns={[
            { name: words.to },
            { name: words.get, isAmount: true },
            { name: words.fee, isAmount: true },
            { name: words.saves, isAmount: true },
            { name: t.actions, isHidden: true },
          ]}
        >
          {targets.data.targets.map(({ toCurrency, toAmount, feePct, feeUsd, savingUsd }) => (
            <tr key={toCurrency}>
              <td>{toCurrency}</td>
              <td className={css.end}>{numbers.crypto(toAmount, toCurrency)}</td>
              <td className={css.end}>
                {numbers.percent(feePct / 100)} ({numbers.fiat(feeUsd, 'USD')})
              </td>
              <td className={css.end}>{numbers.fiat(savingUsd, 'USD')}</td>
              <td className={css.end}>
                <Button look="link" label={words.takeRoute(toCurrency)} onClick={() => onChoose(toCurrency)}>
                  {words.take}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}
