import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../sandbox/paths';

const run = promisify(execFile);
let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'crypto-payments-modules-'));
  mkdirSync(join(project, 'tests', 'shared'), { recursive: true });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

type Seen = Readonly<{ file: string; ofService: string[]; ofTests: string[]; ofAllTests: string[]; env?: string }>;

/** What a test file sees of the files before it: in a module of the service, in two of the tests and in its
 *  environment. It leaves its name in each. */
const testFile = (file: string): string => `
const { appendFileSync } = require('node:fs');
const [ofService, ofTests, ofAllTests] = [require('../service'), require('./helper'), require('./shared/helper')];
test('${file}', () => {
  const seen = { file: '${file}', ofService, ofTests, ofAllTests, env: process.env.LEFT };
  appendFileSync(process.env.SEEN, JSON.stringify(seen) + '\\n');
  for (const left of [ofService, ofTests, ofAllTests]) left.push('${file}');
  process.env.LEFT = '${file}';
});`;

const write = (name: string, text: string): void => writeFileSync(join(project, name), text);

/** Runs the test files of the project in one worker; says which of them failed. */
async function failedFiles(env: Record<string, string> = {}): Promise<string[]> {
  const setup = (name: string): string => join(root, 'tests', 'setup', `shared-${name}.cjs`);
  const config = { rootDir: project, testEnvironment: setup('environment'), runtime: setup('runtime'), transform: {} };
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const report = join(project, 'report.json');
  const args = [jest, '--config', JSON.stringify(config), '--runInBand', '--json', `--outputFile=${report}`];
  await run(process.execPath, args, { cwd: project, env: { ...process.env, ...env } }).catch(() => undefined);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: Array<{ name: string; status: string }>;
  };
  expect(testResults).not.toEqual([]);
  return testResults.flatMap(({ name, status }) => (status === 'passed' ? [] : [basename(name)])).sort();
}

it('loads the service once for all test files of a worker, and what tests are made of anew for each', async () => {
  for (const name of ['service', 'tests/helper', 'tests/shared/helper']) write(`${name}.js`, 'module.exports = [];');
  for (const name of ['a', 'b']) write(`tests/${name}.test.js`, testFile(name));
  write('tests/own.test.js', `/** @jest-environment node */${testFile('own')}`);
  const file = join(project, 'seen');
  expect(await failedFiles({ SEEN: file })).toEqual([]);

  const seen = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Seen);
  const nothing = { ofService: [], ofTests: [], ofAllTests: [] };
  const [first, second] = seen.filter(({ file }) => file !== 'own');
  expect(seen.find(({ file }) => file === 'own')).toEqual({ file: 'own', ...nothing });
  expect(first).toEqual({ file: first!.file, ...nothing });
  const left = [first!.file];
  expect(second).toEqual({ file: second!.file, ofService: left, ofTests: [], ofAllTests: left });
});

it('leaves nothing that Jest keeps of a file to the next: each fails by its own errors and its own time', async () => {
  const waits = (ms: number): string => `test('waits', () => new Promise((end) => setTimeout(end, ${ms})));`;
  const throwsLate = `${waits(100)} setTimeout(() => { throw new Error('late') }, 50);`;
  const names = ['a', 'b', 'c'];
  for (const name of names) {
    write(`tests/late-${name}.test.js`, throwsLate);
    write(`tests/quick-${name}.test.js`, `jest.setTimeout(100); ${waits(1)}`);
    write(`tests/slow-${name}.test.js`, waits(300));
  }
  expect(await failedFiles()).toEqual(names.map((name) => `late-${name}.test.js`));
});
