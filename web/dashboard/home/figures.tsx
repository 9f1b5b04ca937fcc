import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import css from '../design/design.module.css';
import { Loaded } from '../design/loaded';
import { useNumbers } from '../design/show';
import { Chart } from './chart';
import { spans, summaryQuery, type Span, type Summary } from './data';
import own from './home.module.css';
import { useHomeTexts } from './texts/use';

/** Volume, count and funnel of a period, beside the period before. */
export function Figures() {
  const words = useHomeTexts();
  const [span, setSpan] = useState<Span>(7);
  const query = useQuery({ ...summaryQuery(span), placeholderData: keepPreviousData });
  return (
    <section className={css.card} aria-labelledby="figures">
      <div className={`${css.row} ${css.between}`}>
        <h2 id="figures">{words.payments}</h2>
        <div className={css.tabs} role="group" aria-label={words.span}>
          {spans.map((one) => (
            <button
              key={one}
              type="button"
              className={css.tab}
              aria-pressed={one === span}
              onClick={() => setSpan(one)}
            >
              {words.spans[one]}
            </button>
          ))}
        </div>
      </div>
      <Loaded query={query} lines={4}>
        {(summary) => <Shown summary={summary} />}
      </Loaded>
    </section>
  );
}

/** The fiat currencies of both periods, that of most payments first. */
function fiatsOf({ current, previous }: Summary): string[] {
  return [...new Set([...current.volumes, ...previous.volumes].map(({ fiatCurrency }) => fiatCurrency))];
}

function Shown({ summary }: Readonly<{ summary: Summary }>) {
  const words = useHomeTexts();
  const numbers = useNumbers();
  const { current, previous } = summary;
  const fiats = fiatsOf(summary);
  const settled = (period: Summary['current'], fiat: string): string =>
    numbers.fiat(period.volumes.find(({ fiatCurrency }) => fiatCurrency === fiat)?.settled ?? '0', fiat);
  return (
    <>
      <div className={own.figures}>
        <div>
          <p className={css.soft}>{words.volume}</p>
          {fiats.length === 0 && <p className={css.big}>–</p>}
          {fiats.map((fiat) => (
            <div key={fiat}>
              <p className={css.big}>{settled(current, fiat)}</p>
              <p className={css.soft}>{words.before(settled(previous, fiat))}</p>
            </div>
          ))}
        </div>
        {(['created', 'paid', 'settled'] as const).map((step) => (
          <div key={step}>
            <p className={css.soft}>{words[step]}</p>
            <p className={css.big}>{numbers.count(current[step])}</p>
            <p className={css.soft}>{words.before(numbers.count(previous[step]))}</p>
            {step !== 'created' && current.created > 0 && (
              <p className={css.soft}>{words.share(numbers.wholePercent(current[step] / current.created))}</p>
            )}
          </div>
        ))}
      </div>
      {current.created + previous.created === 0 && <p className={css.soft}>{words.nothing}</p>}
      {fiats.map((fiat) => (
        <Chart key={fiat} summary={summary} fiat={fiat} />
      ))}
      <p className={css.soft}>{words.inUtc}</p>
      <p>
        <Link to="/payments" search={{ from: current.dateFrom.slice(0, 10) }}>
          {words.toPayments}
        </Link>
      </p>
    </>
  );
}
