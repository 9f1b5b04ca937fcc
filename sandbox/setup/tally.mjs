import { relative } from 'node:path';

/** So many files of a run may fail by chance; more have a cause in common. */
const mostByChance = 2;

const isFailed = ({ status }) => status === 'failed';
const count = ({ assertionResults }, ...statuses) =>
  assertionResults.filter(({ status }) => statuses.includes(status)).length;

/** The paths of the files that failed, where they are few enough to be looked at a second time; otherwise none.
 *  `report` is what Jest writes with --json. */
export function forSecondLook(report) {
  const failed = report.testResults.filter(isFailed);
  return failed.length <= mostByChance ? failed.map(({ name }) => name) : [];
}

/** A report as it is after a second look at files that failed: those that passed then take the place of the first.
 *  `unsteady`: their paths below `root`. */
export function afterSecondLook(report, second, root) {
  const passed = new Map(second.testResults.filter((file) => !isFailed(file)).map((file) => [file.name, file]));
  const unsteady = report.testResults.filter((file) => isFailed(file) && passed.has(file.name));
  return {
    report: { ...report, testResults: report.testResults.map((file) => passed.get(file.name) ?? file) },
    unsteady: unsteady.map(({ name }) => relative(root, name)),
  };
}

/** How many tests passed, failed and were skipped, and the files that failed, by their paths below `root`. A file that
 *  failed outside of its tests counts as one more. */
export function tallyOf({ testResults: files }, root) {
  const failed = files.filter(isFailed);
  const sum = (...statuses) => files.reduce((total, file) => total + count(file, ...statuses), 0);
  return {
    passed: sum('passed'),
    failed: sum('failed') + failed.filter((file) => !count(file, 'failed')).length,
    skipped: sum('pending', 'todo', 'skipped', 'disabled'),
    failures: failed.map(({ name }) => relative(root, name)),
  };
}
