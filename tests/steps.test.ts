import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startOf } from '../sandbox/process-table';
import { ended, type Ended } from './child';

/** Steps of the set-up as whoever typed the command sees them. */

const place = pathToFileURL(join(__dirname, '../sandbox/setup/say.mjs')).href;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crypto-payments-steps-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a program does that has `step`, `node` (steps that run a line of JavaScript) and `folder`. */
function run(text: string): Promise<Ended> {
  const program = `
    import { join } from 'node:path';
    import { step, SetupError } from '${place}';
    const folder = process.argv[1];
    const node = (label, line, more = {}) =>
      step(label, process.execPath, ['-e', line], { log: join(folder, label + '.log'), ...more });
    ${text}
  `;
  return ended(
    spawn(process.execPath, ['--input-type=module', '--eval', program, folder], {
      stdio: 'pipe',
      env: { ...process.env, XDG_CACHE_HOME: folder },
    }),
  );
}

it('run side by side, and say how much each fetches and how long it took last time', async () => {
  const both = `await Promise.all([
    node('Long', 'setTimeout(() => 0, 1200)', { fetches: 'some 5 MB' }),
    node('Short', '0'),
  ]);`;
  const first = await run(both);
  expect(first.code).toBe(0);
  const [long, short, shortDone, longDone] = first.errors.trim().split('\n');
  expect([long, short]).toEqual(['Long … (fetches some 5 MB)', 'Short …']);
  expect(shortDone).toBe('Short: done in 0 s');
  expect(longDone).toMatch(/^Long: done in \d s$/);
  const second = await run(both);
  expect(second.errors).toMatch(/^Long … \(fetches some 5 MB, \d s last time\)\nShort … \(0 s last time\)\n/);
});

it('tell the end of the output of one that fails, which is not timed', async () => {
  const program = `node('Bad', 'console.log(1); console.error("no room"); process.exit(3)').catch((error) => {
    console.error(error instanceof SetupError, error.message);
  })`;
  const { errors } = await run(`await ${program}`);
  expect(errors).toContain(`true Bad failed (3). ${join(folder, 'Bad.log')} ends with:\n  1\n  no room`);
  expect((await run(`await ${program}`)).errors).toMatch(/^Bad …\n/);
});

it('end with the command that began them', async () => {
  const noted = `require('node:fs').writeFileSync('${join(folder, 'pid')}', String(process.pid))`;
  const waits = `${noted}; setTimeout(() => 0, 60_000)`;
  const { code } = await run(`
    const { existsSync } = await import('node:fs');
    void node('Waits', ${JSON.stringify(waits)});
    while (!existsSync(join(folder, 'pid'))) await new Promise((resolve) => setTimeout(resolve, 50));
    process.exit(1);
  `);
  expect(code).toBe(1);
  const pid = parseInt(readFileSync(join(folder, 'pid'), 'utf8'), 10);
  const isThere = (): boolean => startOf(pid) !== undefined;
  for (let n = 0; n < 100 && isThere(); n += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isThere()).toBe(false);
});
