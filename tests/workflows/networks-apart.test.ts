import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporalBinary } from '../../sandbox/binaries';
import { root } from '../../sandbox/paths';

/** A mass payout on a real Temporal: what holds one network up holds up no other. Decision: 0101. */

type Told = Readonly<Record<string, { signed: number; before: string; result: string }>>;

it('goes to its end on one network while a worker, a node or a refusal holds up another', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(__dirname, 'networks-apart.cjs')], {
    cwd: root,
    env: { ...process.env, TEMPORAL_CLI_PATH: temporalBinary() },
  });
  // The server has logged before it.
  const told = JSON.parse(stdout.trim().split('\n').at(-1)!) as Told;
  const result = expect.stringMatching(/^All payments of the batch on chains have ended/);
  expect(told).toEqual({
    away: { signed: 3, before: 'RUNNING', result },
    // Its history grew long meanwhile: another run took over, which waits for nobody.
    silent: { signed: 0, before: 'CONTINUED_AS_NEW', result },
    refused: { signed: 2, before: 'RUNNING', result },
  });
});
