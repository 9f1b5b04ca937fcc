import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { anvilBinary } from '../binaries';
import { ManagedProcess } from '../process';
import { call } from './json-rpc';
import type { Part } from './part';

export type AnvilOptions = Readonly<{
  /** Of the process, and of the folder in `dataDir` that the chain goes to; anvil unless told. */
  name?: string;
  dataDir: string;
  port: number;
  chainId?: number;
  /** A block is final twice so many blocks later; one unless told. */
  slotsInAnEpoch?: number;
  onCrash?: (how: string) => void;
}>;

/** An Ethereum node of its own: JSON-RPC on loopback; blocks come when somebody mines them, never by themselves. anvil keeps
 *  its chain in memory: we save it every few seconds while it grows and before a kill, anvil itself at an orderly end. What is
 *  not mined is forgotten, as with any node. */
export async function startAnvil(options: AnvilOptions): Promise<Part> {
  const { port, name = 'anvil' } = options;
  const chainId = options.chainId ?? 31337;
  const folder = join(options.dataDir, name);
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const saved = join(folder, 'state.json');
  const atExit = join(folder, 'state-at-exit.json');
  const node = new ManagedProcess({
    name,
    dataDir: options.dataDir,
    command: anvilBinary(),
    args: () => [
      ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--no-mining', '--quiet'],
      ...['--slots-in-an-epoch', String(options.slotsInAnEpoch ?? 1)],
      ...['--balance', '1000000', '--dump-state', atExit, '--preserve-historical-states'],
      ...(existsSync(saved) ? ['--load-state', saved] : []),
    ],
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    graceMs: 30_000,
    onCrash: (how) => {
      rest();
      options.onCrash?.(how);
    },
  });

  let savedHead = '';
  const save = async (): Promise<void> => {
    const { hash } = await call<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false]);
    if (hash === savedHead) return;
    const packed = await call<string>(url, 'anvil_dumpState', [true]);
    writeFileSync(`${saved}.new`, gunzipSync(Buffer.from(packed.slice(2), 'hex')));
    renameSync(`${saved}.new`, saved);
    savedHead = hash;
  };
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  /** Saves again and again, at most a twentieth of the time. */
  const keepSaving = (afterMs: number): void => {
    timer = setTimeout(() => {
      const began = Date.now();
      save()
        .then(() => (failures = 0))
        .catch((error: Error) => {
          failures += 1; // one may be its end, of which we hear in a moment
          if (timer && failures === 3) console.error(`${name}: state not saved: ${error.message}`);
        })
        .finally(() => {
          if (timer) keepSaving(Math.max(5000, (Date.now() - began) * 20));
        });
    }, afterMs);
    timer.unref();
  };
  const rest = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };

  const start = async (): Promise<void> => {
    if (node.pid()) return;
    if (isNewer(atExit, saved)) renameSync(atExit, saved);
    rmSync(atExit, { force: true });
    node.start();
    await node.untilReady(async () => parseInt(await call<string>(url, 'eth_chainId'), 16) === chainId);
    rest();
    keepSaving(5000);
  };
  await start();
  return {
    name,
    url,
    pid: () => node.pid(),
    start,
    stop: async () => {
      rest();
      await node.stop();
    },
    kill9: async () => {
      rest();
      if (node.pid()) await save(); // a real node has its blocks on disk: a kill must not undo them
      await node.kill9();
    },
  };
}

/** Whether what anvil wrote at its end is whole and no older than what we saved. */
function isNewer(written: string, saved: string): boolean {
  if (!existsSync(written)) return false;
  if (existsSync(saved) && statSync(saved).mtimeMs > statSync(written).mtimeMs) return false;
  try {
    JSON.parse(readFileSync(written, 'utf8'));
    return true;
  } catch {
    return false; // it was killed while it wrote
  }
}
