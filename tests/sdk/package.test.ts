import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CryptoPayments } from '../../sdk/typescript';
import { root } from '../../sandbox/paths';
import { python } from '../python';

const folder = join(root, 'sdk', 'typescript');
const node = (args: string[], cwd = folder): string =>
  execFileSync(process.execPath, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

describe('18.5: the package', () => {
  it('packs its builds, types and texts, and nothing else', () => {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--offline'], { cwd: folder, encoding: 'utf8' }),
    ) as [{ files: Array<{ path: string }> }];
    const paths = packed.files.map(({ path }) => path);
    for (const path of [
      'package.json',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'dist/esm/index.js',
      'dist/cjs/index.d.ts',
    ])
      expect(paths).toContain(path);
    expect(paths.filter((path) => !/^(dist\/(esm|cjs)\/|package\.json$|[A-Z]+(\.md)?$)/.test(path))).toEqual([]);
  });

  it('needs no other package', () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
      string,
      object
    >;
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
  });

  it('loads as ES modules and as CommonJS, by its own name', () => {
    const name = '@crypto-payment-service/sdk';
    const made = `new CryptoPayments({ baseUrl: 'https://x.example', apiKey: 'k' })`;
    const told = `typeof CryptoPayments.webhooks.unwrap + ' ' + ${made}.payments.constructor.name`;
    const asModule = node([
      '--input-type=module',
      '-e',
      `import { CryptoPayments } from '${name}'; console.log(${told})`,
    ]);
    const asScript = node([
      '--input-type=commonjs',
      '-e',
      `const { CryptoPayments } = require('${name}'); console.log(${told})`,
    ]);
    expect([asModule.trim(), asScript.trim()]).toEqual(['function Payments', 'function Payments']);
  });

  it('has every resource of the API on its client, in both languages', async () => {
    const classes = (file: string): string[] =>
      [...readFileSync(join(root, 'sdk', file), 'utf8').matchAll(/^(?:export )?class (\w+)/gm)].map(
        ([, name]) => name!,
      );
    const generated = classes('typescript/src/generated/resources.ts');
    const client = new CryptoPayments({ baseUrl: 'https://x.example', apiKey: 'k' });
    const held = Object.values(client).map((one: object) => one.constructor.name);
    expect(held.filter((name) => name !== 'Object').sort()).toEqual([...generated].sort());
    const ofPython = `from crypto_payment_service import CryptoPayments
client = CryptoPayments("https://x.example", "k")
print(*sorted(type(one).__name__ for one in vars(client).values() if type(one).__module__.endswith("resources")))`;
    const said = await python(['-c', ofPython], { PYTHONPATH: join(root, 'sdk', 'python', 'src') });
    expect(said.split(' ')).toEqual([...generated].sort());
  });

  it('lets a payer act in a test instance by a name of its own', () => {
    const client = new CryptoPayments({ baseUrl: 'https://x.example', apiKey: 'k' });
    expect(typeof client.testMode.simulate).toBe('function');
  });

  const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc');

  it('uses nothing but what browsers have', () => {
    expect(node([compiler, '-p', 'tsconfig.json', '--noEmit', '--lib', 'es2023,webworker,webworker.iterable'])).toBe(
      '',
    );
  });

  it.each(['node', 'deno', 'bun', 'workers'])('has types and sources that fit those of %s', (runtime) => {
    expect(node([compiler, '-p', join(root, 'tests', 'sdk', 'runtimes', `tsconfig.${runtime}.json`)])).toBe('');
  });

  it('has a core that is read in one sitting', () => {
    const lines = ['core.ts', 'errors.ts', 'webhooks.ts', 'index.ts'].map(
      (file) => readFileSync(join(folder, 'src', file), 'utf8').split('\n').length,
    );
    expect(lines[0]).toBeLessThanOrEqual(400);
    expect(lines.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(600);
  });
});
