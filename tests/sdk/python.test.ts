import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from '../../sandbox/paths';
import { lanes } from '../lanes';
import { python } from '../python';

/** The Python package as it is built and installed. On the running API: stack.test.ts. */

const source = join(root, 'sdk', 'python');
const programs = join(root, 'tests', 'sdk', 'python');
const folder = mkdtempSync(join(tmpdir(), 'python-sdk-'));
const installed = join(folder, 'installed');

beforeAll(async () => {
  const copy = join(folder, 'source'); // building writes beside the sources
  cpSync(source, copy, { recursive: true, filter: (path) => !/[\\/](dist|__pycache__|\.[a-z_]+)$/.test(path) });
  await python(['-m', 'build', '--no-isolation', '--outdir', join(folder, 'dist'), copy]);
  const [wheel] = readdirSync(join(folder, 'dist')).filter((name) => name.endsWith('.whl'));
  await python([
    '-m',
    'pip',
    'install',
    '--no-deps',
    '--no-index',
    '--target',
    installed,
    join(folder, 'dist', wheel!),
  ]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const contents = async (name: string): Promise<string[]> => {
  const list = `import sys, tarfile, zipfile
name = sys.argv[1]
print('\\n'.join(zipfile.ZipFile(name).namelist() if name.endswith('.whl') else tarfile.open(name).getnames()))`;
  return (await python(['-c', list, join(folder, 'dist', name)])).split('\n');
};
const modules = [
  ...['__init__', '_client', '_core', '_json', 'errors', 'types', 'webhooks'],
  ...['__init__', 'errors', 'resources', 'types'].map((name) => `_generated/${name}`),
].map((name) => `crypto_payment_service/${name}.py`);

describe('18.5: the Python package', () => {
  it('is installed by the sample', async () => {
    const project = join(folder, 'project');
    mkdirSync(project);
    const env = {
      ...process.env,
      CHECKOUT: join(folder, 'checkout'),
      PATH: [dirname(process.env.PYTHON_PATH!), process.env.PATH].join(delimiter),
      // Nothing is fetched: the tools of building, and httpx, are those of the tests.
      ...{ PIP_NO_BUILD_ISOLATION: '0', PIP_NO_INDEX: '1', PIP_NO_DEPS: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
      PIP_TARGET: join(project, 'installed'),
    };
    const copy = join(env.CHECKOUT, 'sdk', 'python');
    cpSync(source, copy, { recursive: true, filter: (path) => !/[\\/](dist|__pycache__|\.[a-z_]+)$/.test(path) });
    const sample = join(root, 'docs', 'samples', 'install', 'pip.sh');
    execFileSync('sh', ['-e', sample], { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] });
    const told = 'import crypto_payment_service as made; print(made.__version__)';
    expect(await python(['-c', told], { PYTHONPATH: env.PIP_TARGET })).toBe('0.1.0');
  });

  it('builds as a wheel and as a source distribution, with its types and texts', async () => {
    const wheel = await contents('crypto_payment_service-0.1.0-py3-none-any.whl');
    const info = 'crypto_payment_service-0.1.0.dist-info';
    expect(wheel.filter((name) => !name.startsWith(info)).sort()).toEqual(
      [...modules, 'crypto_payment_service/py.typed'].sort(),
    );
    expect(wheel).toContain(`${info}/licenses/LICENSE`);
    const sdist = await contents('crypto_payment_service-0.1.0.tar.gz');
    for (const name of [...modules.map((one) => `src/${one}`), 'README.md', 'CHANGELOG.md', 'LICENSE'])
      expect(sdist).toContain(`crypto_payment_service-0.1.0/${name}`);
  });

  it('needs httpx alone, and Python 3.9', async () => {
    const project = readFileSync(join(source, 'pyproject.toml'), 'utf8');
    expect(/^dependencies = (.*)$/m.exec(project)![1]).toBe('["httpx >=0.27,<1"]');
    const parse = `import ast, sys
for name in sys.argv[1:]: ast.parse(open(name).read(), name, feature_version=(3, 9))`;
    await python(['-c', parse, ...modules.map((name) => join(installed, name))]);
    await python(['-m', 'ruff', 'check', '--no-cache', source]);
    await python(['-m', 'ruff', 'format', '--no-cache', '--check', source]);
  });

  it('has types throughout, for what a shop writes too', async () => {
    const cache = ['--cache-dir', join(folder, 'mypy')];
    const files = [join(installed, 'crypto_payment_service'), join(programs, 'typed.py')];
    await python(['-m', 'mypy', '--strict', '--warn-unused-ignores', ...cache, ...files], { MYPYPATH: installed });
  });

  const retries = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
    const pytest = ['-m', 'pytest', '--quiet', '-p', 'no:cacheprovider', join(programs, 'test_client.py')];
    expect(await python(pytest, { PYTHONPATH: installed, ...env })).toMatch(/^15 passed/m);
  };
  const pythons = JSON.parse(process.env.PYTHONS ?? '{}') as Record<string, string | undefined>;
  const versions = ['3.9', '3.10', '3.11', '3.12', '3.13', '3.14'];
  const on = (version: string, program: string) =>
    [`does so on Python ${version}`, () => retries({ PYTHON_PATH: program })] as const;
  const here = versions.flatMap((version) => (pythons[version] ? [on(version, pythons[version])] : []));
  // They wait between attempts for most of their time.
  lanes(
    [['retries, pages and refuses as its README says', () => retries()], ...here.slice(0, 1)],
    here.slice(1, 3),
    here.slice(3),
  );
  for (const version of versions.filter((one) => !pythons[one]))
    it.skip(`does so on Python ${version}: NOT RUN, this version is not on this machine`, () => undefined);

  it('has a core that is read in one sitting', () => {
    const lines = (name: string): number =>
      readFileSync(join(source, 'src', 'crypto_payment_service', name), 'utf8').split('\n').length;
    expect(lines('_core.py')).toBeLessThanOrEqual(400);
  });
});
