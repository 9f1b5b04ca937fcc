import { add, isPositive } from '../money';
import { fitFiat } from '../pricing/quote';

/** What the payments of some days came to. A payment counts on the day of its creation in UTC, as in the lists, and in
 *  the fiat currency it was priced in. */

export const periodCounts = [
  'created',
  'paid',
  'settled',
  'partiallyPaid',
  'crossChainPending',
  'underpaid',
  'overpaid',
  'paidLate',
  'wrongCurrency',
  'reorged',
] as const;
type Counts = Readonly<Record<(typeof periodCounts)[number], number>>;
/** Sums of prices (`created`) and of what arrived, exact decimal strings. */
type Sums = Readonly<Record<'created' | 'paid' | 'settled', string>>;

/** A row of payment_day. `date`: YYYY-MM-DD. */
export type PaymentDay = Readonly<{ date: string; fiatCurrency: string; counts: Counts; sums: Sums }>;

type Volume = Sums & Readonly<{ fiatCurrency: string }>;
type Totals = Counts & Readonly<{ volumes: Volume[] }>;
export type Summary = Readonly<{
  days: number;
  /** `dateTo` is exclusive. */
  current: Totals & Readonly<{ dateFrom: string; dateTo: string }>;
  previous: Totals & Readonly<{ dateFrom: string; dateTo: string }>;
  /** Every day of both periods, oldest first. */
  series: Array<Totals & Readonly<{ date: string }>>;
}>;

const none = Object.fromEntries(periodCounts.map((name) => [name, 0])) as Counts;

/** The day that is `days` after `date`. */
const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

function totalsOf(rows: readonly PaymentDay[]): Totals {
  const counts = Object.fromEntries(
    periodCounts.map((name) => [name, rows.reduce((sum, row) => sum + row.counts[name], 0)]),
  ) as Counts;
  const fiats = [...new Set(rows.map(({ fiatCurrency }) => fiatCurrency))].sort();
  return { ...none, ...counts, volumes: fiats.map((fiat) => volumeOf(fiat, rows)).filter(isThere) };
}

/** Added exactly, and rounded down to minor units once. */
function volumeOf(fiatCurrency: string, rows: readonly PaymentDay[]): Volume {
  const own = rows.filter((row) => row.fiatCurrency === fiatCurrency);
  const sum = (name: keyof Sums): string => fitFiat(add('0', ...own.map(({ sums }) => sums[name])), fiatCurrency);
  return { fiatCurrency, created: sum('created'), paid: sum('paid'), settled: sum('settled') };
}

const isThere = ({ created }: Volume): boolean => isPositive(created);

const momentOf = (date: string): string => `${date}T00:00:00.000Z`;

/** The last `days` days with today, and as many before them. `rows`: of both. */
export function summaryOf(rows: readonly PaymentDay[], today: string, days: number): Summary {
  const end = dayAfter(today, 1);
  const [start, middle] = [dayAfter(end, -2 * days), dayAfter(end, -days)];
  const between = (from: string, to: string) => ({
    dateFrom: momentOf(from),
    dateTo: momentOf(to),
    ...totalsOf(rows.filter(({ date }) => date >= from && date < to)),
  });
  const dates = Array.from({ length: 2 * days }, (_, n) => dayAfter(start, n));
  return {
    days,
    current: between(middle, end),
    previous: between(start, middle),
    series: dates.map((date) => ({ date, ...totalsOf(rows.filter((row) => row.date === date)) })),
  };
}
