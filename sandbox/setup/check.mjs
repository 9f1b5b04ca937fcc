import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { dashboard, eslint, prettier, samples, sdk, types, unused } from './check-commands.mjs';
import { checkDashboardSize } from './dashboard-size.mjs';
import { root } from './places.mjs';
import { say, SetupError } from './say.mjs';

const unit = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--selectProjects', 'unit'];

/** Tests of the repository as a whole: they read every file, so each change concerns them. The test of lint's own rules
 *  is left out: it takes 20 seconds, and only the configuration concerns it. */
const structural = readdirSync(join(root, 'tests/lint'))
  .filter((name) => name.endsWith('.test.ts') && name !== 'lint.test.ts')
  .map((name) => `tests/lint/${name}`);

/** What can be checked without a server: format, lint, types, unit tests and the size of the dashboard, side by side
 *  after the build. `--changed` looks only at files that differ from main (and new ones), and at unit tests that import
 *  them. What is printed as "bytes …" is shown. Returns the exit code. */
export async function runChecks(node, args) {
  const unknown = args.find((arg) => arg !== '--changed');
  if (unknown) throw new SetupError(`npm run check does not know '${unknown}'. Usage: npm run check [-- --changed]`);
  const began = Date.now();
  await build(node);
  const results = await Promise.all(
    Object.entries(args.length ? ofChanged(changedFiles()) : ofAll()).map(([name, command]) =>
      run(node, name, command),
    ),
  );
  results.push(sizeOfDashboard());
  for (const { name, holds, output } of results) if (!holds) say(`\n— ${name}\n${output.trimEnd()}`);
  say('');
  for (const { output } of results) for (const line of output.match(/^bytes .*$/gm) ?? []) say(line);
  for (const { name, holds, seconds } of results)
    say(`${holds ? 'passed' : 'FAILED'}  ${name.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s`);
  const failed = results.filter(({ holds }) => !holds).map(({ name }) => name);
  const total = `${((Date.now() - began) / 1000).toFixed(1)} s`;
  say(failed.length ? `\nFailed: ${failed.join(', ')} (${total})` : `\nAll passed in ${total}`);
  return failed.length ? 1 : 0;
}

function sizeOfDashboard() {
  const began = Date.now();
  const result = (holds, output) => ({ name: 'size', holds, output, seconds: (Date.now() - began) / 1000 });
  try {
    return result(true, checkDashboardSize());
  } catch (error) {
    return result(false, error.message);
  }
}

const ofAll = () => ({
  format: [...prettier, '--ignore-unknown', '.'],
  lint: [...eslint, '.'],
  types,
  dashboard,
  sdk,
  samples,
  unused,
  unit,
});

function ofChanged(files) {
  const scripts = files.filter((file) => /\.(tsx?|mjs|cjs|js)$/.test(file));
  const rules = files.includes('eslint.config.mjs') ? ['tests/lint/lint.test.ts'] : [];
  const tested = [...scripts, ...structural, ...rules];
  return {
    ...(files.length && { format: [...prettier, '--ignore-unknown', ...files] }),
    ...(scripts.length && { lint: [...eslint, '--no-warn-ignored', ...scripts] }),
    types,
    dashboard,
    sdk,
    samples,
    unit: [...unit, '--findRelatedTests', ...tested],
  };
}

/** Files that differ from where this branch left main, committed or not, and files that git does not know yet. */
function changedFiles() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = (text) => text.split('\n').filter(Boolean);
  const base = ['main', 'origin/main'].map((branch) => quietly(() => git('merge-base', 'HEAD', branch).trim()));
  const known = lines(git('diff', '--name-only', '--diff-filter=d', base.find(Boolean) ?? 'HEAD'));
  const fresh = lines(git('ls-files', '--others', '--exclude-standard'));
  return [...new Set([...known, ...fresh])].filter((file) => existsSync(join(root, file)));
}

function quietly(act) {
  try {
    return act();
  } catch {
    return undefined; // this clone does not have the branch
  }
}

/** Runs one step and keeps what it prints: the outputs of steps side by side would mix. */
function run(node, name, command) {
  const began = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn(node, command, { cwd: root, env: { ...process.env, NODE_NO_WARNINGS: '1' } });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => child.kill(signal));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ name, holds: code === 0, output, seconds: (Date.now() - began) / 1000 }));
  });
}
