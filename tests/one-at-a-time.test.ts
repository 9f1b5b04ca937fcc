import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ended } from './child';

/** Runs of `npm start` and `npm test` that begin at once on a machine that has nothing yet. */

const place = pathToFileURL(join(__dirname, '../sandbox/setup/one-at-a-time.mjs')).href;
let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'crypto-payments-cache-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

/** Each makes the file `made` where it is not there, slowly, and notes in `log` when it begins and ends. */
const script = `
  import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
  import { join } from 'node:path';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { oneAtATime } from '${place}';
  const [cache, fails] = process.argv.slice(1);
  const made = join(cache, 'made');
  const found = await oneAtATime('server', () => (existsSync(made) ? made : undefined), async () => {
    appendFileSync(join(cache, 'log'), 'begins ');
    await sleep(700);
    appendFileSync(join(cache, 'log'), 'ends ');
    if (fails) throw new Error('no network');
    writeFileSync(made, '');
    return made;
  }, cache);
  process.stdout.write(found);
`;
const run = (...more: string[]) =>
  spawn(process.execPath, ['--input-type=module', '--eval', script, cache, ...more], { stdio: 'pipe' });
const log = (): string => readFileSync(join(cache, 'log'), 'utf8').trim();

it('make once what all of them need', async () => {
  const all = await Promise.all(Array.from({ length: 4 }, () => ended(run())));
  expect(all.map(({ code, out }) => [code, out])).toEqual(all.map(() => [0, join(cache, 'made')]));
  expect(log()).toBe('begins ends');
});

it('try again, one after the other, what one of them could not make', async () => {
  const [first, second] = await Promise.all([ended(run('fails')), ended(run('fails'))]);
  expect([first.code, second.code]).toEqual([1, 1]);
  expect(first.errors).toContain('no network');
  expect(log()).toBe('begins ends begins ends');
});

it('go on where a run was killed at that step', async () => {
  mkdirSync(join(cache, 'locks', 'server'), { recursive: true });
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(join(cache, 'locks', 'server'), longAgo, longAgo);
  expect((await ended(run())).code).toBe(0);
});

it.each(['undefined', 'false', "''"])('make what is answered for with %s', async (nothing) => {
  const program = `
    import { oneAtATime } from '${place}';
    process.stdout.write(await oneAtATime('server', () => ${nothing}, () => 'made', process.argv[1]));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, cache], { stdio: 'pipe' });
  expect(await ended(child)).toMatchObject({ out: 'made', code: 0 });
});
