import { join } from 'node:path';
import { root as checkout } from '../sandbox/paths';

type File = Readonly<{ name: string; status: string; assertionResults: object[] }>;
type Report = Readonly<{ testResults: File[] }>;
type Tally = Readonly<{
  forSecondLook(report: Report): string[];
  afterSecondLook(report: Report, second: Report, root: string): { report: Report; unsteady: string[] };
  tallyOf(report: Report, root: string): object;
}>;
/** Plain JavaScript, because it runs before anything is compiled. */
const script: string = join(checkout, 'sandbox', 'setup', 'tally.mjs');
const load = async (): Promise<Tally> => await import(script);

const root = '/checkout';
/** A file as Jest reports it. */
const file = (name: string, ...statuses: string[]): File => ({
  name: `${root}/tests/${name}`,
  status: statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status) => ({ status })),
});
const report = (...testResults: File[]): Report => ({ testResults });
/** One that failed before its tests began. */
const broken = (name: string): File => ({ ...file(name), status: 'failed' });

describe('the tally of a run', () => {
  it('counts tests by how they ended, and a file that failed outside of them as one', async () => {
    const { tallyOf } = await load();
    const ran = report(file('a', 'passed', 'failed', 'pending', 'todo'), file('b', 'passed'), broken('c'));
    expect(tallyOf(ran, root)).toEqual({ passed: 2, failed: 2, skipped: 2, failures: ['tests/a', 'tests/c'] });
  });

  it('looks a second time at one file or two that failed, and at none where three did', async () => {
    const { forSecondLook } = await load();
    const failed = [file('a', 'failed'), broken('b')];
    expect(forSecondLook(report(...failed, file('c', 'passed')))).toEqual(failed.map(({ name }) => name));
    expect(forSecondLook(report(...failed, file('d', 'failed')))).toEqual([]);
  });

  it('counts a file by its second look where it passed then, and names it', async () => {
    const { afterSecondLook, tallyOf } = await load();
    const first = report(file('a', 'passed', 'failed'), broken('b'), file('c', 'passed'));
    const second = report(file('a', 'passed', 'passed'), broken('b'));
    const after = afterSecondLook(first, second, root);
    expect(after.unsteady).toEqual(['tests/a']);
    expect(tallyOf(after.report, root)).toEqual({ passed: 3, failed: 1, skipped: 0, failures: ['tests/b'] });
  });
});
