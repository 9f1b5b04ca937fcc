import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboard, eslint, prettier, samples, sdk, types, unused } from './check-commands.mjs';
import { checkDashboardSize } from './dashboard-size.mjs';
import { root } from './places.mjs';
import { missing, notRun, skip } from './not-run.mjs';
import { say, SetupError } from './say.mjs';
import { slowestFiles, slowestTests } from './slowest.mjs';
import { afterSecondLook, forSecondLook, tallyOf } from './tally.mjs';

const results = join(root, 'test-results');
const longFiles = createRequire(import.meta.url)('../../tests/setup/long-files.cjs');

/** Two of the long files take at most so long on a slow machine. */
const forTwoMs = 13 * 60_000;
/** Whether a run that must end at TEST_UNTIL (seconds since 1970) has the time for two more files. */
const isTimeForTwo = () =>
  process.env.TEST_UNTIL === undefined || Number(process.env.TEST_UNTIL) * 1000 - Date.now() > forTwoMs;

/** Whole services wait more than they work, so two files run side by side, the long ones first and the short ones to
 *  fill the gaps. What measures time goes alone. What tries one rule on everything comes last, two files at a time.
 *  TEST_WORKERS is for machines with more than two cores. */
function phases() {
  const workers = process.env.TEST_WORKERS ?? '2';
  if (!/^[1-9]\d?$/.test(workers)) throw new SetupError(`TEST_WORKERS is a number from 1 to 99, not '${workers}'`);
  const pairs = longFiles.flatMap((file, n) => (n % 2 ? [] : [[file, ...longFiles.slice(n + 1, n + 2)]]));
  return [
    { name: 'side by side', args: ['--selectProjects', 'unit', 'parts', 'e2e', 'faults', `--maxWorkers=${workers}`] },
    { name: 'alone', args: ['--selectProjects', 'alone', '--maxWorkers=1'] },
    ...pairs.map((files, n) => ({ name: `last ${n + 1}`, args: [...files, '--maxWorkers=2'], files })),
  ];
}

/** Runs everything that must hold; a failure skips nothing after it. With arguments (a pattern of file names, `-t
 *  name`): runs Jest alone with them, in whichever project the files are. `test-results/summary.json` counts the tests,
 *  and each check before them as one more. The slowest tests and files are printed at the end. Returns the exit
 *  code. */
export async function runTests(node, args, env, build) {
  const run = runner(node, { ...env, NODE_NO_WARNINGS: '1' });
  const jest = (rest, more) => run(['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', ...rest], more);
  if (args.length) {
    await build();
    const code = await jest(args);
    notRun([], root).forEach(say);
    return code;
  }

  const planned = phases();
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const { total, failures, unsteady, reports, note, add } = tally();
  const check = async (name, act) => {
    say(`\n— ${name}`);
    let holds = false;
    try {
      holds = (await act()) === 0;
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      say(error.message);
    }
    note(name, holds);
  };
  await Promise.all([
    check('format', () => run([...prettier, '.'])),
    check('lint', () => run([...eslint, '.'])),
    check('types', () => run(types)),
    check('build', async () => {
      await build();
      return 0;
    }),
  ]);
  await check('tools', () => {
    missing().forEach(say);
    return missing().length;
  });
  // Of the build: the types of the API that the dashboard is checked against, and what browsers will load.
  await check('types of the dashboard', () => run(dashboard));
  await check('nothing unused', () => run(unused));
  await check('types of the SDK', () => run(sdk));
  await check('types of the samples', () => run(samples));
  await check('size of the dashboard', () => {
    try {
      say(checkDashboardSize());
      return 0;
    } catch (error) {
      throw new SetupError(error.message);
    }
  });
  for (const { name, args: own, files } of planned) {
    if (files && !isTimeForTwo()) {
      for (const one of files) skip(one, `no time was left (npm test -- ${one})`);
      continue;
    }
    const more = files ? {} : { TEST_LONG: 'without' };
    const looked = async (title, rest) => {
      const file = join(results, `${title.replaceAll(/\W+/g, '-')}.json`);
      say(`\n— ${title}`);
      const code = await jest([...rest, '--json', `--outputFile=${file}`, '--testLocationInResults'], more);
      return { code, report: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined };
    };
    const first = await looked(name, [...own, '--passWithNoTests']);
    const failed = first.report && isTimeForTwo() ? forSecondLook(first.report) : [];
    const second = failed.length
      ? await looked(`${name}, a second look`, ['--maxWorkers=1', '--runTestsByPath', ...failed])
      : {};
    add(name, first, second.report);
  }
  say(`\nThe 20 slowest tests:\n${slowestTests(reports, 20, root).join('\n')}`);
  say(`\nThe 15 slowest files:\n${slowestFiles(reports, 15, root).join('\n')}`);
  say(['', ...notRun(reports, root)].join('\n'));
  for (const file of unsteady) say(`UNSTEADY: ${file}: failed at first, passed by itself`);
  if (failures.length) say(`\nFailed: ${failures.join(', ')}`);
  say(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return failures.length ? 1 : 0;
}

/** Starts scripts that end with us, and tells their exit codes. After a signal it starts nothing more. */
function runner(node, env) {
  const children = new Set();
  let isEnding = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      isEnding = true;
      for (const child of children) child.kill(signal);
    });
  return (args, more = {}) =>
    new Promise((resolve, reject) => {
      if (isEnding) return resolve(1);
      const child = spawn(node, args, { cwd: root, env: { ...env, ...more }, stdio: 'inherit' });
      children.add(child);
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        children.delete(child);
        resolve(signal ? 1 : code);
      });
    });
}

/** Counts what held and what failed; the file is up to date after each step, for whoever ends the run early. */
function tally() {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  const unsteady = [];
  const reports = [];
  const write = () => writeFileSync(join(results, 'summary.json'), JSON.stringify({ ...total, failures, unsteady }));
  const note = (name, holds) => {
    total[holds ? 'passed' : 'failed'] += 1;
    if (!holds) failures.push(name);
    write();
  };
  const add = (name, { code, report: first }, second = { testResults: [] }) => {
    if (!first) return note(name, false);
    const after = afterSecondLook(first, second, root);
    const { failures: failed, ...counts } = tallyOf(after.report, root);
    reports.push(after.report);
    unsteady.push(...after.unsteady);
    failures.push(...failed);
    for (const kind of Object.keys(counts)) total[kind] += counts[kind];
    if (code !== 0 && first.success) failures.push(`${name}: ended with code ${code}`);
    write();
  };
  return { total, failures, unsteady, reports, note, add };
}
