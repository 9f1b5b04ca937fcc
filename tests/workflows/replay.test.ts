import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../sandbox/paths';

/** Histories of real payments, one for each ending, recorded with RECORD=1 by tests/e2e. A change that cannot replay them would strand the
 *  payments that are under way when it is deployed. */
const folder = join(__dirname, '../histories');
const recorded = readdirSync(folder).filter((file) => file.endsWith('.bin'));
const bundle = join(root, 'dist/workflow-bundle.js');

const replay = (file: string): Promise<unknown> => {
  if (!existsSync(bundle)) throw new Error('dist/workflow-bundle.js is missing: npm run build');
  return promisify(execFile)(process.execPath, [join(__dirname, 'replay-one.cjs'), bundle, file], { cwd: root });
};

it('has a history of every ending that a payment has by itself', () => {
  const endings = [
    'settled-BTC',
    'settled-ETH',
    'settled-USDT_ERC20',
    'expired',
    'underpaid',
    'cancelled',
    'reorged',
    'part-then-rest',
  ];
  for (const ending of endings) expect(recorded).toContain(`payment-${ending}.bin`);
});

it.each(recorded)('replays %s', (file) => replay(join(folder, file)));

it('notices a history that another code wrote', async () => {
  const first = recorded.find((file) => file.startsWith('payment-'));
  const changed = join(tmpdir(), `replay-${process.pid}.bin`);
  const text = readFileSync(join(folder, first!)).toString('latin1');
  writeFileSync(changed, Buffer.from(text.replaceAll('advancePayment', 'advanceNothing'), 'latin1'));
  try {
    await expect(replay(changed)).rejects.toThrow(/[Nn]ondeterminis/);
  } finally {
    rmSync(changed);
  }
});
