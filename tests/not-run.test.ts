import { join } from 'node:path';
import { root } from '../sandbox/paths';

type Script = Readonly<{
  skip: (what: string, why: string) => undefined;
  skipUnlessCi: (tool: string, what: string, why: string) => undefined;
  notRun: (reports: readonly object[], root: string) => string[];
  missing: () => string[];
}>;
/** Plain JavaScript, because it runs before anything is compiled. */
const script: string = join(root, 'sandbox', 'setup', 'not-run.mjs');
const { CI, TESTS_WITHOUT } = process.env;

afterAll(() => Object.assign(process.env, { CI: CI ?? '', TESTS_WITHOUT: TESTS_WITHOUT ?? '' }));
beforeEach(() => {
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});

it('what was not run is told at the end, and in CI a tool of the set-up that did not come fails the run', async () => {
  const { skip, skipUnlessCi, notRun, missing } = (await import(script)) as Script;
  // Test files share modules: others may have told of something before.
  const before = notRun([], '/repository').length;
  process.env.TESTS_WITHOUT = 'node-20, python-3.9';
  process.env.CI = '';
  expect(skipUnlessCi('node-22', 'The SDK on Node 22', 'no network')).toBeUndefined();
  process.env.CI = 'true';
  expect(skip('The samples in PHP', 'php is missing')).toBeUndefined();
  skipUnlessCi('python-3.9', 'The SDK on Python 3.9', 'no network');
  expect(missing()).toEqual([]);
  skipUnlessCi('python', 'Tests in Python', 'no network\n  the end of a log');
  expect(missing()).toEqual([expect.stringContaining('TESTS_WITHOUT=python ')]);
  const file = (name: string, ...statuses: string[]): object => ({
    name: `/repository/tests/${name}`,
    assertionResults: statuses.map((status) => ({ status })),
  });
  const reports = [{ testResults: [file('a.test.ts', 'passed', 'pending', 'pending'), file('b.test.ts', 'todo')] }];
  expect(notRun(reports, '/repository').slice(before)).toEqual([
    'NOT RUN: The SDK on Node 22: no network',
    'NOT RUN: The samples in PHP: php is missing',
    'NOT RUN: The SDK on Python 3.9: no network',
    'NOT RUN: Tests in Python: no network',
    'NOT RUN: 2 skipped in tests/a.test.ts',
  ]);
});
