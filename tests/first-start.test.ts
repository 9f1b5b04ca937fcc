import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../sandbox/paths';
import { startOf } from '../sandbox/process-table';
import { ended, type Ended } from './child';

/** The first start on a machine that has nothing: the launcher itself, with an npm and a Go that are slow and fake. */

type Plan = Readonly<Record<string, readonly string[]>>;
type Acts = Readonly<Record<string, (done: (name: string) => Promise<unknown>) => Promise<unknown>>>;
type Planning = Readonly<{
  planOf: (command: string, store?: string, args?: readonly string[]) => Plan;
  carryOut: (plan: Plan, acts: Acts) => Promise<Record<string, unknown>>;
}>;
type Programs = Readonly<{ reachesDownloads: (host: string) => Promise<boolean> }>;
const setup = (name: string): string => join(root, 'sandbox', 'setup', `${name}.mjs`);
const planning = async (): Promise<Planning> => (await import(setup('plan'))) as Planning;

/** All that a step waits for, directly or not. */
const before = (plan: Plan, name: string): Set<string> =>
  new Set(plan[name]!.flatMap((one) => [one, ...before(plan, one)]));

describe('the plan', () => {
  it.each([
    ['start', 'sqlite', 'temporal'],
    ['start', 'postgres', 'temporal-on-postgres'],
    ['bench', 'postgres', 'temporal-on-postgres'],
    ['soak', 'sqlite', 'temporal'],
    ['test', 'sqlite', 'temporal'],
  ])('of %s (%s) builds servers beside each other, npm and the service', async (command, store, temporal) => {
    const plan = (await planning()).planOf(command, store);
    for (const one of ['packages', temporal, 'btcd']) expect([one, plan[one]]).toEqual([one, []]);
    if (command !== 'test') expect(plan.build).toEqual(['packages']);
  });

  it('has steps after steps before them alone, and one step that asks Debian at a time', async () => {
    const { planOf } = await planning();
    const mayAskDebian = ['test-server', 'browser', 'litecoind', 'python', 'php', 'promtool'];
    for (const store of ['sqlite', 'postgres'])
      for (const command of ['start', 'pay', 'check', 'build', 'bench', 'torture', 'soak', 'test', 'restore-drill']) {
        const plan = planOf(command, store, ['--with=litecoin']);
        const names = Object.keys(plan);
        for (const [n, name] of names.entries())
          for (const one of plan[name]!) expect(names.slice(0, n)).toContain(one);
        const asking = mayAskDebian.filter((one) => names.includes(one));
        for (const a of asking)
          for (const b of asking)
            if (a !== b) expect([a, b, before(plan, a).has(b) || before(plan, b).has(a)]).toEqual([a, b, true]);
      }
    expect(planOf('pay')).toEqual({ packages: [], build: ['packages'] });
    expect(Object.keys(planOf('start'))).not.toContain('litecoind');
  });

  it('begins a step as soon as it can, and gives what all of them brought', async () => {
    const log: string[] = [];
    const act = (name: string, end: Promise<unknown>) => async () => {
      log.push(`${name} begins`);
      await end;
      log.push(`${name} ends`);
      return { [name]: name };
    };
    const short = new Promise((resolve) => setTimeout(resolve, 20));
    const long = new Promise((resolve) => setTimeout(resolve, 120));
    const brought = await (
      await planning()
    ).carryOut(
      { npm: [], server: [], build: ['npm'] },
      { npm: act('npm', short), server: act('server', long), build: act('build', short) },
    );
    expect(brought).toEqual({ npm: 'npm', server: 'server', build: 'build' });
    expect(log).toEqual(['npm begins', 'server begins', 'npm ends', 'build begins', 'build ends', 'server ends']);
  });

  it('begins nothing after a step that failed, and says which step it waits for in vain', async () => {
    const { carryOut } = await planning();
    const build = jest.fn(async () => ({}));
    const npm = (): Promise<never> => Promise.reject(new Error('no network'));
    await expect(carryOut({ npm: [], build: ['npm'] }, { npm, build })).rejects.toThrow('no network');
    expect(build).not.toHaveBeenCalled();
    await expect(carryOut({ build: ['npm'] }, { build })).rejects.toThrow('build begins after npm, which is no step');
  });
});

describe('whether Temporal can be downloaded', () => {
  let server: Server;
  afterEach(() => new Promise((resolve) => server.close(resolve)));
  it.each<[string, number, string, boolean]>([
    ['its host', 200, '{"archiveUrl": "https://there/cli.tar.gz"}', true],
    ['a filter with a page', 200, '<html>blocked</html>', false],
    ['a filter with a refusal', 403, '{"archiveUrl": "no"}', false],
    ['a proxy that reaches nothing', 502, '', false],
  ])('is asked of the host that tells the SDK: %s', async (_, status, body, expected) => {
    server = createServer((__, answer) => answer.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { reachesDownloads } = (await import(setup('programs'))) as Programs;
    expect(await reachesDownloads(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).toBe(expected);
  });
});

describe('the launcher', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'crypto-payments-first-'));
    cpSync(join(root, 'sandbox', 'launch.mjs'), join(folder, 'sandbox', 'launch.mjs'));
    cpSync(join(root, 'sandbox', 'setup'), join(folder, 'sandbox', 'setup'), { recursive: true });
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {} } }));
    for (const place of ['tests/setup', 'tests/lint', 'bin', 'state'])
      mkdirSync(join(folder, place), { recursive: true });
    cpSync(join(root, 'tests/setup/long-files.cjs'), join(folder, 'tests/setup/long-files.cjs'));
    const made = [...['web/dashboard', 'web/docs', 'sdk/typescript', 'sdk/python', 'sdk/cli'], 'dist/sandbox'];
    for (const place of made) mkdirSync(join(folder, place), { recursive: true });
    for (const place of made.slice(0, -1)) writeFileSync(join(folder, place, 'build.mjs'), '');
    writeFileSync(join(folder, 'dist/sandbox/start.js'), `console.log('started', process.env.TEMPORAL_CLI_PATH)`);
    for (const [name, text] of Object.entries({ npm: fakeNpm, go: fakeGo })) {
      writeFileSync(join(folder, 'bin', name), `#!${process.execPath}\n${fakes}\n${text}`);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const state = (name: string): string => join(folder, 'state', name);
  const log = (): string[] => (existsSync(state('log')) ? readFileSync(state('log'), 'utf8').trim().split('\n') : []);
  const launch = (env: Readonly<Record<string, string>> = {}): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [join(folder, 'sandbox/launch.mjs'), 'start'], {
      stdio: 'pipe',
      env: {
        PATH: join(folder, 'bin'),
        HOME: folder,
        XDG_CACHE_HOME: join(folder, 'cache'),
        STATE: join(folder, 'state'),
        ...env,
        // No host can be reached.
        NODE_USE_ENV_PROXY: '1',
        HTTPS_PROXY: 'http://127.0.0.1:1',
      },
    });

  it('builds servers while npm installs and the service is compiled, and does nothing of it again', async () => {
    const first = await ended(launch());
    expect([first.code, first.code === 0 ? '' : first.errors]).toEqual([0, '']);
    expect(first.out).toMatch(/^started .*\/cache\/crypto-payments\/temporal-v[\d.]+\/temporal$/);
    const at = (line: string): number => log().indexOf(line);
    // All three have begun before the first of them may end, and Temporal ends once the service is being compiled: each
    // fake waits for the others, and fails where it does so in vain.
    for (const one of ['npm', 'temporal', 'btcd']) expect([one, at(`${one} begins`) >= 0]).toEqual([one, true]);
    expect(at('tsc')).toBeGreaterThan(at('npm ends'));
    expect(at('tsc')).toBeLessThan(at('temporal ends'));
    expect(first.errors).toMatch(/Installing packages … \(fetches some 500 MB\)/);
    expect(first.errors).toMatch(/Building Temporal CLI v[\d.]+ with Go, once \(minutes\) … \(fetches some 300 MB\)/);

    const lines = log().length;
    const second = await ended(launch());
    expect(second.out).toBe(first.out);
    expect(log()).toHaveLength(lines);
  }, 120_000);

  it.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
    'goes on where %s ended it',
    async (signal) => {
      const child = launch({ UNTIL_INTERRUPTED: 'true' });
      const ending: Promise<Ended> = ended(child);
      const compiled = (): string[] => log().filter((line) => line.startsWith('compiled'));
      while (compiled().length < 2 && child.exitCode === null) await sleep(50);
      child.kill(signal);
      const first = await ending;
      expect(first).toMatchObject({ code: signal === 'SIGINT' ? 130 : 143 });
      expect(first.errors).toContain('the next start goes on with it');
      const before = compiled().length;
      expect(before).toBe(3);
      // Nobody works on unseen.
      for (const pid of readFileSync(state('pids'), 'utf8').trim().split('\n'))
        expect([pid, startOf(parseInt(pid, 10))]).toEqual([pid, undefined]);

      const second = await ended(launch());
      expect(second.out).toMatch(/^started /);
      expect(second.errors).not.toContain('Another run is at the same step');
      // Each package once: what was compiled before was kept.
      expect(compiled()).toEqual(Array.from({ length: 5 }, (_, n) => `compiled ${n}`));
    },
    120_000,
  );
});

/** What both fakes begin with. `together`: waits until npm and both builds have begun. */
const fakes = `
  const { appendFileSync, existsSync, mkdirSync, writeFileSync, chmodSync } = require('node:fs');
  const { join } = require('node:path');
  const state = (name) => join(process.env.STATE, name);
  const note = (line) => appendFileSync(state('log'), line + '\\n');
  async function until(what, holds) {
    for (let n = 0; !holds(); n += 1) {
      if (n === 900) throw new Error('Waited in vain: ' + what);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  async function together(name) {
    appendFileSync(state('pids'), process.pid + '\\n');
    note(name + ' begins');
    writeFileSync(state('begun-' + name), '');
    const all = ['npm', 'temporal', 'btcd'].map((one) => state('begun-' + one));
    await until(name + ' for the others', () => all.every(existsSync));
  }
  const program = (path) => {
    writeFileSync(path, '#!/bin/sh\\n');
    chmodSync(path, 0o755);
  };
`;
const fakeNpm = `
  together('npm').then(() => {
    mkdirSync('node_modules/typescript7/bin', { recursive: true });
    writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: {} }));
    const tsc = \`const { appendFileSync, writeFileSync } = require('node:fs');
      appendFileSync(process.env.STATE + '/log', 'tsc\\\\n');
      writeFileSync(process.env.STATE + '/begun-tsc', '');\`;
    writeFileSync('node_modules/typescript7/bin/tsc', tsc);
    note('npm ends');
  });
`;
/** Compiles five packages of Temporal, each once and for good. With UNTIL_INTERRUPTED it is at the third for ever; an
 *  interrupt lets it finish that one, as Go does. */
const fakeGo = `
  const [verb] = process.argv.slice(2);
  const after = (option) => process.argv[process.argv.indexOf(option) + 1];
  let interrupted = false;
  process.on('SIGINT', () => (interrupted = true));
  async function temporal() {
    await together('temporal');
    for (let n = 0; n < 5; n += 1) {
      if (existsSync(state('package-' + n))) continue;
      if (n === 2 && process.env.UNTIL_INTERRUPTED) await until('an interrupt', () => interrupted);
      writeFileSync(state('package-' + n), '');
      note('compiled ' + n);
      if (interrupted) process.exit(1);
    }
    await until('Temporal for the compiler', () => existsSync(state('begun-tsc')));
    program(join(after('-o'), 'temporal'));
    note('temporal ends');
  }
  async function btcd() {
    await together('btcd');
    program(join(process.env.GOBIN, 'btcd'));
    note('btcd ends');
  }
  if (verb === 'version') console.log('go version go1.26.1 linux/amd64');
  else (verb === 'build' ? temporal() : btcd());
`;
