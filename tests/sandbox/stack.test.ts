import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from '../../sandbox/process-table';
import { endLeftovers, leftovers, ManagedProcess } from '../../sandbox/process';
import { startStack } from '../../sandbox/stack';
import { call } from '../../sandbox/parts/json-rpc';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-stack-'));
  chmodSync(dataDir, 0o711);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const until = async (holds: () => boolean, withinMs = 60_000): Promise<void> => {
  for (const end = Date.now() + withinMs; !holds(); await sleep(50))
    if (Date.now() > end) throw new Error('it did not come true in time');
};

const sleeper = (name: string): ManagedProcess =>
  new ManagedProcess({
    name,
    dataDir,
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1000)'],
    env: {},
  });

it('brings all parts up, finds its state again, keeps its secrets to its owner', async () => {
  const first = await startStack({ dataDir, ports: 'free', services: false });
  let height: string;
  try {
    await call(first.anvil.url, 'evm_mine');
    height = await call(first.anvil.url, 'eth_blockNumber');
    for (const file of ['secrets.json', 'payer-seed']) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    expect(first.part('btcd').pid()).toBeGreaterThan(1);
    expect(() => first.part('nothing')).toThrow("There is no part 'nothing'");
  } finally {
    await first.stop();
  }
  expect(leftovers(dataDir)).toEqual([]);
  const second = await startStack({ dataDir, ports: 'free', services: false });
  try {
    expect(second.secrets).toEqual(first.secrets);
    expect(await call(second.anvil.url, 'eth_blockNumber')).toBe(height);
  } finally {
    await second.stop();
  }
});

it('leaves nothing running when a part cannot start', async () => {
  process.env.BTCD_PATH = '/nowhere/btcd';
  try {
    await expect(startStack({ dataDir, ports: 'free', services: false })).rejects.toThrow(/^btcd is missing: /);
  } finally {
    delete process.env.BTCD_PATH;
  }
  expect(leftovers(dataDir)).toEqual([]);
});

it('ends what an earlier start left, and no stranger who has its number now', async () => {
  const left = sleeper('left');
  left.start();
  const pid = left.pid() ?? 0;
  const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    writeFileSync(join(dataDir, 'run', 'stranger.pid'), `${stranger.pid}\n123\nsomething else\n`);
    expect(await endLeftovers(dataDir)).toEqual(['left']);
    expect(startOf(pid)).toBeUndefined();
    expect(startOf(stranger.pid ?? 0)).toBeDefined();
  } finally {
    stranger.kill('SIGKILL');
  }
});

it('takes its children along when it is killed itself', async () => {
  const built = join(__dirname, '..', '..', 'dist', 'sandbox', 'process.js');
  if (!existsSync(built)) throw new Error('Build first: npm run build');
  const script = `
    const { ManagedProcess } = require(${JSON.stringify(built)});
    new ManagedProcess({ name: 'child', dataDir: ${JSON.stringify(dataDir)}, command: process.execPath,
      args: ['-e', "process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 1000)"], env: {} }).start();
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
  const pidFile = join(dataDir, 'run', 'child.pid');
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').includes('\n'));
  const child = parseInt(readFileSync(pidFile, 'utf8'), 10);
  parent.kill('SIGKILL');
  await until(() => startOf(child) === undefined);
});

it('tells of an end that nobody asked for, and not of one that somebody did', async () => {
  const told: string[] = [];
  const one = new ManagedProcess({ ...sleeper('one').options, onCrash: (how) => told.push(how) });
  one.start();
  await one.stop();
  one.start();
  process.kill(one.pid() ?? 0, 'SIGKILL');
  await until(() => told.length > 0);
  expect(told).toEqual(['was ended by SIGKILL']);
});
