import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../sandbox/paths';

/** Histories of real workflows, one for each ending, recorded with RECORD=1 by tests/e2e. A change that cannot replay
 *  them would strand the money that is under way when it is deployed. */
const folder = join(__dirname, '../histories');
const recorded = readdirSync(folder).filter((file) => file.endsWith('.bin'));
const bundle = join(root, 'dist/workflow-bundle.js');

const replay = (file: string): Promise<unknown> => {
  if (!existsSync(bundle)) throw new Error('dist/workflow-bundle.js is missing: npm run build');
  return promisify(execFile)(process.execPath, [join(__dirname, 'replay-one.cjs'), bundle, file], { cwd: root });
};

it('has a history of every ending that a workflow over money has by itself', () => {
  const endings = [
    ...['settled-BTC', 'settled-ETH', 'settled-USDT_ERC20'].map((name) => `payment-${name}`),
    ...['expired', 'underpaid', 'cancelled', 'reorged', 'part-then-rest'].map((name) => `payment-${name}`),
    ...['accepted', 'other-accepted', 'other-rejected'].map((name) => `payment-${name}`),
    ...['first-look-too-slow', 'expired-in-task', 'settled-in-task-BTC', 'settled-in-task-ETH'].map(
      (name) => `payment-${name}`,
    ),
    ...['BTC', 'ETH', 'USDT_ERC20'].flatMap((name) => [`sweep-${name}`, `withdrawal-${name}`, `refund-${name}`]),
    ...['sweepBatch-BTC', 'sweepBatch-USDT_ERC20', 'consolidate-BTC', 'consolidate-ETH', 'refund-held'],
    ...['conversion-BTC-ETH', 'conversion-USDT_ERC20-BTC', 'conversion-failed'],
    ...[
      'payoutBatch-mixed',
      'payoutBatch-cancelled',
      'payoutBatch-networks',
      'webhook-retried',
      'webhook-second-attempt',
      'screening-clear',
      'screening-flagged',
    ],
  ];
  expect(recorded).toEqual(expect.arrayContaining(endings.map((ending) => `${ending}.bin`)));
});

it.each(recorded)('replays %s', (file) => replay(join(folder, file)));

it.each(recorded)('D: Temporal learns no address of a web server or mailbox: %s', (file) => {
  const text = readFileSync(join(folder, file)).toString('latin1');
  expect(text.match(/https?:\/\/[\w.:/-]+|[\w.+-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}/gi)).toBeNull();
});

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
