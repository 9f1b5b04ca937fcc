import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';

/** What docs/adding-an-activity.md asks for and no compiler sees: each part is wired, and each fail point is used. */
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1]!);

describe('activities', () => {
  const index = read('activities/index.ts');
  const groups = sources('activities')
    .filter((file) => file !== 'activities/index.ts')
    .flatMap((file) => all(read(file), /export const (\w+Activities) =/g).map((name) => ({ file, name })));

  it('are found', () => {
    expect(groups.length).toBeGreaterThan(7);
  });

  it.each(groups)('$name is run by exactly one kind of worker', ({ file, name }) => {
    const module = file.replace(/^activities\//, './').replace(/\.ts$/, '');
    expect(index).toMatch(new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '${module}'`));
    expect(all(index, new RegExp(`\\b(${name})\\(`, 'g'))).toHaveLength(1);
  });

  it('of each kind are run by one process', () => {
    const kinds = all(index, /export const (create\w+Activities) =/g);
    expect(kinds.length).toBeGreaterThan(2);
    for (const kind of kinds)
      expect(sources('workers').filter((file) => read(file).includes(`activities: ${kind}(`))).toHaveLength(1);
  });

  it('have names of their own', () => {
    const names = groups.flatMap(({ file, name }) => {
      const [block = ''] = new RegExp(`export const ${name} =[\\s\\S]*?\\n\\}\\)?;`).exec(read(file)) ?? [];
      return all(block, /^ {2,4}async (\w+)\(/gm);
    });
    expect(names.length).toBeGreaterThan(10);
    expect(names).toEqual([...new Set(names)]);
  });
});

describe('workflows', () => {
  const files = sources('workflows');
  const exported = all(read('workflows/index.ts'), /export \{ ([^}]+) \} from/g).flatMap((names) => names.split(', '));
  const histories = readdirSync(join(root, 'tests/histories'));

  /** Workflows whose histories need not be replayed by a later version, and why. */
  const withoutHistory: Readonly<Record<string, string>> = {
    followChain:
      'one lasting activity and no state: after a change it is terminated, and the chain worker starts it anew',
    followLightning: 'one lasting activity and no state',
    payLightning: 'one lasting activity and no state',
    keepRates: 'one lasting activity and no state',
    keepSwapRates: 'one lasting activity and no state',
    keepAudit: 'a look a minute and no state',
    keepReconciled: 'a look a minute and no state',
    keepReconciliation: 'one lasting activity and no state',
    keepTreasury: 'a look a minute and no state',
    mail: 'one activity and no state',
  };

  it.each(exported)('%s has a recorded history or a reason', (name) => {
    const hasHistory = histories.some((file) => file.startsWith(`${name}-`));
    expect(hasHistory || name in withoutHistory).toBe(true);
    expect(hasHistory && name in withoutHistory).toBe(false);
  });

  it('has no reason for a workflow that is gone', () => {
    expect(exported).toEqual(expect.arrayContaining(Object.keys(withoutHistory)));
  });

  it('are all exported', () => {
    const written = files
      .filter((file) => file !== 'workflows/index.ts')
      .flatMap((file) => all(read(file), /export (?:async function |const )(\w+)(?:\(| = processing\()/g));
    expect([...exported].sort()).toEqual(written.sort());
  });

  it('give each proxy a retry policy', () => {
    const proxies = files.flatMap((file) => all(read(file), /\bactivitiesOf<\w+Activities>\(([\s\S]*?)\);/g));
    expect(proxies.length).toBeGreaterThan(5);
    for (const options of proxies) expect(options).toMatch(/\buntil(Answered|Seen)\b|\bretry: \{/);
  });
});

describe('fail points', () => {
  /** `${intent.kind}.afterSend` stands for one of each kind. */
  const kinds = ['gas', 'sweep', 'refund', 'withdrawal'];
  const named = ['api', 'db', 'commands', 'txmanager', 'activities', 'workers']
    .flatMap(sources)
    .flatMap((file) => all(read(file), /\bfailPoint\(['`]([^'`]+)['`]\)/g))
    .flatMap((name) => (name.includes('${') ? kinds.map((kind) => name.replace('${intent.kind}', kind)) : [name]));
  const points = [...new Set(named)].sort();
  const tests = sources('tests')
    .filter((file) => !file.startsWith('tests/lint'))
    .map(read)
    .join('\n');

  it('are found, and each call names its point', () => {
    expect(points.length).toBeGreaterThan(15);
    for (const point of points) expect(point).toMatch(/^[a-z]+\.(before|after)[A-Z][a-z]+$/);
    for (const file of ['api', 'db', 'commands', 'txmanager', 'activities', 'workers']
      .flatMap(sources)
      .filter((one) => one !== 'db/fail-point.ts'))
      expect(all(read(file), /\b(failPoint)\(/g)).toHaveLength(all(read(file), /\b(failPoint)\(['`]/g).length);
  });

  it.each(points)('%s is armed by a test', (point) => {
    expect(tests.includes(`'${point}'`)).toBe(true);
  });
});

it('links only to files that are there', () => {
  for (const guide of ['docs/adding-an-activity.md', 'docs/adding-a-route.md']) {
    const paths = all(
      read(guide),
      /`((?:api|db|domain|commands|chains|txmanager|activities|workflows|workers|tests|docs)\/[\w./-]+)`/g,
    );
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  }
});
