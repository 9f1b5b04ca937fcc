import { say } from './say.mjs';

/** What tests do without on this machine. It is told again at the end of a run: what was said at its start is out of
 *  sight by then. */
const told = [];

/** A tool that comes with a package of the system is missing: tests that need it are skipped. */
export function skip(what, why) {
  told.push(`${what}: ${why.split('\n')[0]}`);
  say(`NOT RUN: ${what}: ${why}`);
}

const failures = [];

/** A tool that the set-up brings by itself did not come. With CI=true the run fails, unless TESTS_WITHOUT names the
 *  tool (several with commas between). */
export function skipUnlessCi(tool, what, why) {
  skip(what, why);
  const allowed = (process.env.TESTS_WITHOUT ?? '').split(',').map((name) => name.trim());
  if (process.env.CI === 'true' && !allowed.includes(tool))
    failures.push(`${tool} is missing (TESTS_WITHOUT=${tool} does without)`);
}

/** One line for each tool that was not there, and for each file of tests of which some were skipped. */
export function notRun(reports, root) {
  const files = reports.flatMap(({ testResults }) =>
    testResults.flatMap(({ name, assertionResults }) => {
      const count = assertionResults.filter(({ status }) => status === 'pending').length;
      return count ? [`${count} skipped in ${name.slice(root.length + 1)}`] : [];
    }),
  );
  return [...told, ...files].map((line) => `NOT RUN: ${line}`);
}

/** Tools without which this run does not count, each with why. */
export const missing = () => [...failures];
