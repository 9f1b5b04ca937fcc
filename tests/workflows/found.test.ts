import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporalBinary } from '../../sandbox/binaries';
import { root } from '../../sandbox/paths';

/** Workflows are found by their transactions, on a real Temporal. Decision: 0063. */

type Told = Readonly<{
  told: Record<string, { events: number; txIds: string[] }>;
  found: Record<string, string[]>;
}>;

const hash = (n: number): string => `0x${String(n).padStart(64, '0')}`;

it('finds payments and what was sent by the hash of a transaction, at no event and at three', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(__dirname, 'found.cjs')], {
    cwd: root,
    env: { ...process.env, TEMPORAL_CLI_PATH: temporalBinary() },
  });
  // The server has logged before it.
  const { told, found } = JSON.parse(stdout.trim().split('\n').at(-1)!) as Told;
  const txIdsOf = (name: string): string[] => told[name]!.txIds;
  // The newest transactions first, then one that is gone.
  expect(txIdsOf('payment/paid')).toEqual([2, 3, 1].map(hash));
  expect(txIdsOf('sweep/sent')).toEqual([11, 12].map(hash));
  // As many as a value of Temporal takes.
  expect(txIdsOf('payoutBatch/many')).toEqual(Array.from({ length: 25 }, (_, n) => hash(100 + n)));
  for (const name of ['payment/paid-without', 'sweep/sent-without', 'sweep/dropped', 'payoutBatch/many-without'])
    expect([name, txIdsOf(name)]).toEqual([name, []]);

  // Steps of workers may come together, which leaves out events of tasks: what commands leave is counted.
  const costOf = (name: string): number => told[name]!.events - told[`${name}-without`]!.events;
  expect(costOf('payment/paid')).toBe(0);
  expect(costOf('sweep/sent')).toBe(3);
  expect(costOf('payoutBatch/many')).toBe(3);

  expect(found).toEqual({
    1: ['payment/paid'],
    3: ['payment/paid'],
    11: ['sweep/sent'],
    12: ['sweep/sent'],
    100: ['payoutBatch/many'],
    strange: [],
  });
});
