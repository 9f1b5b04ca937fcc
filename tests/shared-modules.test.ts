import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

it('loads the service once for all test files of a worker, and what tests are made of anew for each', async () => {
  const write = (name: string, text: string): void => writeFileSync(join(project, name), text);
  for (const name of ['service', 'tests/helper', 'tests/shared/helper']) write(`${name}.js`, 'module.exports = [];');
  for (const name of ['a', 'b']) write(`tests/${name}.test.js`, testFile(name));
  write('tests/own.test.js', `/** @jest-environment node */${testFile('own')}`);
  const setup = (name: string): string => join(root, 'tests', 'setup', `shared-${name}.cjs`);
  const config = { rootDir: project, testEnvironment: setup('environment'), runtime: setup('runtime'), transform: {} };
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const env = { ...process.env, SEEN: join(project, 'seen') };
  await run(process.execPath, [jest, '--config', JSON.stringify(config), '--runInBand'], { cwd: project, env });

  const seen = readFileSync(env.SEEN, 'utf8')
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
