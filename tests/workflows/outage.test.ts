import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../sandbox/paths';
import { freshDatabase } from '../setup/postgres';

/** Receivers that are away for days, in time that is skipped. `npm test` gets the server for it, or says why it
 *  cannot. */
const skipping = process.env['TEST_SERVER_PATH'] ? it : it.skip;

type Seen = {
  ended: string;
  status: string;
  attempts: number;
  eventId: string;
  seen: Array<{ at: number; id: string }>;
};
async function outage(hours: number): Promise<Seen> {
  const database = await freshDatabase();
  try {
    const script = join(__dirname, 'outage.cjs');
    const { stdout } = await promisify(execFile)(process.execPath, [script, database.url, String(hours)], {
      cwd: root,
    });
    // The server has logged before it.
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as Seen;
  } finally {
    await database.drop();
  }
}

skipping('a receiver that is down for two days gets its event once it is back', async () => {
  const { ended, status, attempts, eventId, seen } = await outage(48);
  expect([ended, status, attempts]).toEqual(['succeeded', 'succeeded', seen.length]);
  expect(new Set(seen.map(({ id }) => id))).toEqual(new Set([eventId]));
  const [before, after] = seen.slice(-2).map(({ at }) => at);
  expect(before).toBeLessThan(48);
  expect(after).toBeGreaterThan(48);
  expect(after! - before!).toBeLessThan(27);
});

skipping('a receiver that does not come back has been asked ten times in three days', async () => {
  const { ended, status, attempts, seen } = await outage(1000);
  expect([ended, status, attempts]).toEqual(['failed', 'failed', 10]);
  expect(seen.at(-1)!.at).toBeGreaterThan(66);
  expect(seen.at(-1)!.at).toBeLessThan(84);
});
