import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { client, payload } from '../api/client';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { Copy, useNumbers } from '../design/show';
import { useSentence, useTexts } from '../texts/texts';
import { ConversionBadge, hasEnded } from './conversion-status';
import { MoneyPage, useMoneyTexts } from './section';

const read = (conversionId: string) =>
  payload(client.GET('/api/v1/conversions/{conversionId}', { params: { path: { conversionId } } }));

/** One conversion; what was never quoted is a dash, never a nought. */
export function ConversionPage() {
  const t = useTexts();
  const sentence = useSentence();
  const words = useMoneyTexts();
  const { conversionId } = useParams({ from: '/signed-in/money/conversions/$conversionId' });
  const query = useQuery({
    queryKey: ['conversions', 'one', conversionId],
    queryFn: () => read(conversionId),
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data.status) ? 30_000 : 2500),
  });
  const numbers = useNumbers();
  const one = query.data;
  const given = (value: number | string | undefined, currency: string): string =>
    value === undefined ? '–' : numbers.crypto(value, currency);
  return (
    <MoneyPage title={words.conversions.one} permission="conversions:view">
      {() => (
        <>
          <p>
            <Link to="/money/conversions" search={{}}>
              {words.conversions.back}
            </Link>
          </p>
          {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
          {query.isPending && <Skeleton lines={6} />}
          {one && (
            <>
              <div className={css.row} aria-live="polite">
                <span className={css.big}>
                  {numbers.crypto(one.fromAmount, one.fromCurrency)} →{' '}
                  {one.toAmount === undefined && one.creditAmountStr === undefined
                    ? one.toCurrency
                    : given(one.creditAmountStr ?? one.toAmount, one.toCurrency)}
                </span>
                <ConversionBadge status={one.status} />
              </div>
              {one.status === 'processing' && <Notice>{words.conversions.processing}</Notice>}
              {one.merchantMessage && <Notice tone="warn">{sentence(one.merchantMessage)}</Notice>}
              <section className={css.card} aria-label={t.payment.details}>
                <Facts
                  facts={[
                    [words.convert.give, numbers.crypto(one.fromAmount, one.fromCurrency)],
                    [words.convert.fee, given(one.commissionAmount, one.fromCurrency)],
                    [words.convert.net, given(one.netFromAmount, one.fromCurrency)],
                    [words.convert.get, given(one.creditAmountStr ?? one.toAmount, one.toCurrency)],
                    [
                      words.convert.rate,
                      one.exchangeRate === undefined
                        ? '–'
                        : words.convert.rateOf(one.fromCurrency, numbers.crypto(one.exchangeRate, one.toCurrency)),
                    ],
                    [words.convert.mode, words.convert.modes[one.executionMode]],
                    [t.created, <Moment at={one.createdAt} />],
                    [words.withdrawal.completedAt, one.completedAt && <Moment at={one.completedAt} />],
                    [words.conversions.id, <Copy value={one._id} label={words.conversions.id} />],
                  ]}
                />
              </section>
            </>
          )}
        </>
      )}
    </MoneyPage>
  );
}
