import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';

const config: string = join(root, '.dependency-cruiser.cjs');
const folders = [
  'domain',
  'db',
  'commands',
  'chains',
  'txmanager',
  'activities',
  'workflows',
  'workers',
  'api',
  'web',
  'sandbox',
  'tests',
];

type Violation = { from: string; rule: { name: string }; cycle: Array<{ name: string }> };

describe('import cycles', () => {
  const cli = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs');
  const { stdout } = spawnSync(process.execPath, [cli, '--config', config, '--output-type', 'json', ...folders], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  const { summary } = JSON.parse(stdout) as { summary: { totalCruised: number; violations: Violation[] } };
  const of = (rule: string): Violation[] => summary.violations.filter((one) => one.rule.name === rule);

  it('are none, types included', () => {
    expect(summary.totalCruised).toBeGreaterThan(300);
    expect(of('no-cycle').map(({ from, cycle }) => [from, ...cycle.map(({ name }) => name)].join(' → '))).toEqual([]);
  });
});
