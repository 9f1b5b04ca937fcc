import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { anvilBinary } from '../binaries';
import { ManagedProcess } from '../process';
import { call } from './json-rpc';
import type { Part } from './part';
import { Saver } from './saver';

export type AnvilOptions = Readonly<{
  /** Of the process, and of the folder in `dataDir` that the chain goes to; anvil unless told. */
  name?: string;
  dataDir: string;
  port: number;
  chainId?: number;
  /** A block is final twice so many blocks later; one unless told. */
  slotsInAnEpoch?: number;
  /** Balances are asked for at blocks down to this depth: the confirmations of its network; 12 unless told. */
  depth?: number;
  onCrash?: (how: string) => void;
}>;

/** How many of the newest blocks anvil keeps the state of, beyond the depth at which balances are asked for; like a
 *  node that prunes. Each state is a whole copy, with a slot for each block of the last 8191 (EIP-2935): without a
 *  bound memory grows with the square of the chain's length. Enough for the deepest reorganisation of a test (40
 *  blocks). */
const statesBeyond = 48;

/** How long anvil may take to write its chain: a long one takes seconds, many on a busy machine. */
const writesWithinMs = 120_000;

/** An Ethereum node of its own: JSON-RPC on loopback; blocks come when somebody mines them, never by themselves.
 *  anvil keeps its chain in memory. While it grows, we save its blocks every few seconds, without states of the
 *  past: that is quick. The states are saved with them before a kill, and by anvil itself at an orderly end. What
 *  is not mined is forgotten, as with any node. */
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
    args: () => [...argsOf({ ...options, chainId }, atExit), ...(existsSync(saved) ? ['--load-state', saved] : [])],
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    graceMs: writesWithinMs,
    onCrash: (how) => {
      saver.stop();
      options.onCrash?.(how);
    },
  });

  const newest = async (): Promise<string> =>
    (await call<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])).hash;
  let onDisk = { head: '', hasStates: false };
  const write = async (withStates: boolean): Promise<void> => {
    const head = await newest();
    if (head === onDisk.head && (onDisk.hasStates || !withStates)) return;
    const packed = await call<string>(url, 'anvil_dumpState', [withStates], undefined, writesWithinMs);
    const state = gunzipSync(Buffer.from(packed.slice(2), 'hex'));
    // The file of before stays until this one is whole on the disk.
    writeFileSync(`${saved}.new`, state, { flush: true });
    renameSync(`${saved}.new`, saved);
    onDisk = { head, hasStates: withStates };
  };
  let writing = Promise.resolve();
  /** One after the other: they write the same file. A failure is the caller's. */
  const save = (withStates: boolean): Promise<void> => {
    const written = writing.catch(() => undefined).then(() => write(withStates));
    writing = written;
    return written;
  };
  const saver = new Saver(
    () => save(false),
    (tookMs) => Math.max(5000, tookMs * 20), // at most a twentieth of the time
    (message) => console.error(`${name}: its newest blocks are not saved, and a crash would lose them: ${message}`),
  );

  const start = async (): Promise<void> => {
    if (node.pid()) return;
    const hasStates = isNewer(atExit, saved);
    if (hasStates) renameSync(atExit, saved);
    rmSync(atExit, { force: true });
    node.start();
    await node.untilReady(async () => parseInt(await call<string>(url, 'eth_chainId'), 16) === chainId);
    if (hasStates) onDisk = { head: await newest(), hasStates };
    saver.start();
  };
  await start();
  return {
    name,
    url,
    pid: () => node.pid(),
    start,
    stop: async () => {
      saver.stop();
      // anvil may not get to the end of what it writes itself: it is killed after its grace, or by a second Ctrl-C.
      if (node.pid())
        await save(false).catch(({ message }: Error) =>
          console.error(`${name}: its newest blocks may be lost, they are not saved: ${message}`),
        );
      await node.stop();
    },
    kill9: async () => {
      saver.stop();
      if (node.pid()) await save(true); // a real node has its blocks on disk: a kill must not undo them
      await node.kill9();
    },
  };
}

const argsOf = ({ port, chainId, slotsInAnEpoch = 1, depth = 12 }: AnvilOptions, atExit: string): string[] => [
  ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--no-mining', '--quiet'],
  ...['--slots-in-an-epoch', String(slotsInAnEpoch)],
  ...['--balance', '1000000', '--dump-state', atExit, '--preserve-historical-states'],
  ...['--prune-history', String(depth + statesBeyond)],
];

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
