import { summaryOf, type PaymentDay } from '../../domain/payments/summary';

const none = {
  created: 0,
  paid: 0,
  settled: 0,
  partiallyPaid: 0,
  crossChainPending: 0,
  underpaid: 0,
  overpaid: 0,
  paidLate: 0,
  wrongCurrency: 0,
  reorged: 0,
};
const day = (date: string, fiatCurrency: string, created: number, settled: string): PaymentDay => ({
  date,
  fiatCurrency,
  counts: { ...none, created, settled: created },
  sums: { created: '10', paid: settled, settled },
});

describe('Home: the summary of days', () => {
  const rows = [
    day('2026-02-27', 'USD', 5, '999'),
    day('2026-02-28', 'USD', 1, '0.1'),
    day('2026-03-01', 'EUR', 2, '3.339'),
    day('2026-03-01', 'USD', 1, '0.2'),
    day('2026-03-02', 'USD', 4, '0.000000000000000001'),
    day('2026-03-02', 'EUR', 1, '1.001'),
  ];
  it('puts each day into one period, and rounds a sum once', () => {
    const { current, previous, series } = summaryOf(rows, '2026-03-02', 2);
    expect(current).toMatchObject({
      dateFrom: '2026-03-01T00:00:00.000Z',
      dateTo: '2026-03-03T00:00:00.000Z',
      created: 8,
      volumes: [
        { fiatCurrency: 'EUR', created: '20', settled: '4.34' },
        { fiatCurrency: 'USD', created: '20', settled: '0.2' },
      ],
    });
    expect(previous).toMatchObject({
      dateFrom: '2026-02-27T00:00:00.000Z',
      dateTo: current.dateFrom,
      created: 6,
      volumes: [{ fiatCurrency: 'USD', settled: '999.1' }],
    });
    expect(series.map(({ date, created }) => [date, created])).toEqual([
      ['2026-02-27', 5],
      ['2026-02-28', 1],
      ['2026-03-01', 3],
      ['2026-03-02', 5],
    ]);
  });

  it('has every day, also where nothing happened, and one period beside another for today', () => {
    expect(summaryOf([], '2026-01-01', 1)).toEqual({
      days: 1,
      current: { dateFrom: '2026-01-01T00:00:00.000Z', dateTo: '2026-01-02T00:00:00.000Z', ...none, volumes: [] },
      previous: { dateFrom: '2025-12-31T00:00:00.000Z', dateTo: '2026-01-01T00:00:00.000Z', ...none, volumes: [] },
      series: [
        { date: '2025-12-31', ...none, volumes: [] },
        { date: '2026-01-01', ...none, volumes: [] },
      ],
    });
  });
});
