import { useMemo } from 'react';
import { compare, divide } from '../../../domain/money';
import css from '../design/design.module.css';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { usePreferences } from '../texts/texts';
import type { Day, Summary } from './data';
import own from './home.module.css';
import { useHomeTexts } from './texts/use';

const [width, height] = [600, 160];

/** Settled volume by day as bars, each beside the day of the period before; and the same in numbers, for those who
 *  cannot see bars. */
export function Chart({ summary, fiat }: Readonly<{ summary: Summary; fiat: string }>) {
  const words = useHomeTexts();
  const numbers = useNumbers();
  const { language } = usePreferences();
  const day = useMemo(() => {
    const format = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' });
    return (date: string): string => format.format(new Date(`${date}T00:00:00Z`));
  }, [language]);
  const { days, series } = summary;
  const [before, now] = [series.slice(0, days), series.slice(days)];
  const values = series.map((one) => settledOf(one, fiat));
  const most = values.reduce((largest, value) => (compare(value, largest) > 0 ? value : largest), '0');
  if (days < 2 || most === '0') return null;
  const step = width / days;
  const bar = (value: string): number => Math.round(shareOf(value, most) * height);
  const bars = (list: readonly Day[], offset: number, className: string) =>
    list.map((one, index) => {
      const tall = bar(settledOf(one, fiat));
      return (
        <rect
          key={one.date}
          className={className}
          x={index * step + step * offset}
          y={height - tall}
          width={step * 0.36}
          height={tall}
        />
      );
    });
  const amount = (one: Day): string => numbers.fiat(settledOf(one, fiat), fiat);
  return (
    <figure className={own.figure}>
      <svg
        className={own.chart}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words.chart(day(now[0]!.date), day(now.at(-1)!.date))}
      >
        {bars(before, 0.1, own.earlier!)}
        {bars(now, 0.52, own.now!)}
      </svg>
      <figcaption className={`${css.row} ${css.between}`}>
        <span>{day(now[0]!.date)}</span>
        <span className={css.row}>
          <span className={own.keyNow}>{words.now}</span>
          <span className={own.keyEarlier}>{words.earlier}</span>
        </span>
        <span>{day(now.at(-1)!.date)}</span>
      </figcaption>
      <details>
        <summary>{words.numbers}</summary>
        <Table
          label={words.numbers}
          columns={[
            { name: words.day },
            { name: words.now, isAmount: true },
            { name: words.day },
            { name: words.earlier, isAmount: true },
          ]}
        >
          {now.map((one, index) => (
            <tr key={one.date}>
              <td>{day(one.date)}</td>
              <td className={css.end}>{amount(one)}</td>
              <td>{day(before[index]!.date)}</td>
              <td className={css.end}>{amount(before[index]!)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  );
}

const settledOf = (day: Day, fiat: string): string =>
  day.volumes.find(({ fiatCurrency }) => fiatCurrency === fiat)?.settled ?? '0';

/** How tall a bar is, from 0 to 1: for the eye, not for the books. */
const shareOf = (value: string, most: string): number => JSON.parse(divide(value, most, 4, 'down')) as number;
