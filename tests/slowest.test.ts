import { join } from 'node:path';
import { root } from '../sandbox/paths';

type Report = { testResults: object[] };
type Slowest = (reports: readonly Report[], count: number, root: string) => string[];

/** Plain JavaScript, because it runs before anything is compiled. */
const script: string = join(root, 'sandbox', 'setup', 'slowest.mjs');
const load = async (): Promise<Record<'slowestTests' | 'slowestFiles', Slowest>> => await import(script);

const test = (fullName: string, duration: number | null): object => ({ fullName, duration, status: 'passed' });
const file = (name: string, seconds: number, assertionResults: object[]): object => ({
  name: `/repository/tests/${name}`,
  startTime: 1_000_000,
  endTime: 1_000_000 + seconds * 1000,
  assertionResults,
});
const reports: Report[] = [
  { testResults: [file('quick.test.ts', 2, [test('adds', 5), test('is planned', null)])] },
  { testResults: [file('long.test.ts', 90.26, [test('pays', 60_000), test('refunds', 24_940)])] },
];

describe('the report of slow tests', () => {
  it('names tests of all reports, the slowest first, and no more than asked', async () => {
    const { slowestTests } = await load();
    expect(slowestTests(reports, 3, '/repository')).toEqual([
      '   60.0 s  tests/long.test.ts: pays',
      '   24.9 s  tests/long.test.ts: refunds',
      '    0.0 s  tests/quick.test.ts: adds',
    ]);
  });

  it('names files with their set-up and tear-down', async () => {
    const { slowestFiles } = await load();
    expect(slowestFiles(reports, 5, '/repository')).toEqual([
      '   90.3 s  tests/long.test.ts',
      '    2.0 s  tests/quick.test.ts',
    ]);
    expect(slowestFiles(reports, 1, '/repository')).toHaveLength(1);
  });
});
