import { relative } from 'node:path';

const line = (seconds, text) => `${seconds.toFixed(1).padStart(7)} s  ${text}`;

/** A line per test, the slowest first: seconds, file, full name. `reports` are what Jest writes with --json. */
export function slowestTests(reports, count, root) {
  return reports
    .flatMap(({ testResults }) => testResults)
    .flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, duration }) => ({ name, fullName, ms: duration ?? 0 })),
    )
    .sort((a, b) => b.ms - a.ms)
    .slice(0, count)
    .map(({ name, fullName, ms }) => line(ms / 1000, `${relative(root, name)}: ${fullName}`));
}

/** A line per test file, the slowest first: seconds from its first import to its last hook, and its path. */
export function slowestFiles(reports, count, root) {
  return reports
    .flatMap(({ testResults }) => testResults)
    .map(({ name, startTime, endTime }) => ({ name, ms: endTime - startTime }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, count)
    .map(({ name, ms }) => line(ms / 1000, relative(root, name)));
}
