import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';
import { install, run as runIn } from './install';

/** The packages for Node as somebody has them who installs what is packed, in a project of their own. */

const name = '@crypto-payment-service/sdk';
const project = mkdtempSync(join(tmpdir(), 'packed-'));
const run = (program: string, args: readonly string[]): string => runIn(program, args, project);

/** Nothing is fetched. */
const offline = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
const asDocumented = join(root, 'docs', 'samples', 'install/npm.sh');

beforeAll(() => {
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'shop', private: true }));
  const env = { ...process.env, ...offline, CHECKOUT: root };
  execFileSync('sh', ['-e', asDocumented], { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] });
  install(project, ['cli'], [join(root, 'node_modules', 'commander')]); // needs the SDK, which is there by now
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('18.5: the packed SDK, installed by the sample', () => {
  const told = `new CryptoPayments({ baseUrl: 'https://x.example', apiKey: 'k' }).testMode.constructor.name`;

  it.each([
    ['module', `import { CryptoPayments } from '${name}'; console.log(${told})`],
    ['commonjs', `const { CryptoPayments } = require('${name}'); console.log(${told})`],
  ])('loads as %s', (type, source) => {
    expect(run(process.execPath, [`--input-type=${type}`, '-e', source])).toBe('TestMode');
  });

  it.each(['mts', 'cts'])('has its types for .%s', (extension) => {
    const program = `import { CryptoPayments, type Payment } from '${name}';
const client = new CryptoPayments({ baseUrl: 'https://x.example', apiKey: 'k' });
export const first = async (): Promise<Payment | undefined> => (await client.payments.list()).items[0];
// @ts-expect-error -- a payment has no such status
client.payments.list({ status: 'PAID' });
`;
    const file = `program.${extension}`;
    writeFileSync(join(project, file), program);
    const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom'];
    expect(run(process.execPath, [compiler, ...options, file])).toBe('');
  });
});

describe('18.6: the packed command line', () => {
  it('is a program of the project, by its name', () => {
    const program = join(project, 'node_modules', '.bin', 'crypto-payments');
    const { version } = JSON.parse(readFileSync(join(root, 'sdk', 'cli', 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(run(program, ['--version'])).toBe(version);
    expect(run(program, ['--help'])).toContain('listen');
  });
});
