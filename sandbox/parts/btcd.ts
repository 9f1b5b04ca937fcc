import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { btcdBinary } from '../binaries';
import { ManagedProcess } from '../process';
import { call } from './json-rpc';
import type { Part } from './part';
import { freePort } from '../ports';
import { Gate } from './gate';
import { SavedBlocks } from './saved-blocks';
import { Saver } from './saver';

export type BtcdOptions = Readonly<{
  /** The chain goes to `<dataDir>/btcd`. */
  dataDir: string;
  port: number;
  user: string;
  password: string;
  /** Where the coins of `generate` go; regtest, `bcrt1…`. */
  miningAddress: string;
  onCrash?: (how: string) => void;
}>;

/** A Bitcoin node of its own on regtest: JSON-RPC on loopback, no peers, index of all transactions. */
export async function startBtcd(options: BtcdOptions): Promise<Part & { user: string; password: string }> {
  const { port, user, password } = options;
  const folder = join(options.dataDir, 'btcd');
  const url = `http://127.0.0.1:${port}`;
  // Until it has its blocks back, nobody may take its empty chain for a reorganisation: it listens on a port of its
  // own.
  const ownPort = await freePort();
  const gate = new Gate(port, ownPort);
  mkdirSync(folder, { recursive: true });
  const settings = settingsIn(folder, options);
  const node = new ManagedProcess({
    name: 'btcd',
    dataDir: options.dataDir,
    command: btcdBinary(),
    args: [
      ...[
        '--regtest',
        '--txindex',
        '--notls',
        '--nolisten',
        '--nodnsseed',
        '--nobanning',
        '--nostalldetect',
        '--nocfilters',
      ],
      ...[`--configfile=${settings}`, `--datadir=${join(folder, 'data')}`, `--logdir=${join(folder, 'logs')}`],
      ...[`--rpclisten=127.0.0.1:${ownPort}`, '--rpcmaxclients=200', '--rpcmaxconcurrentreqs=200', '--debuglevel=warn'],
    ],
    env: { PATH: process.env.PATH, HOME: folder },
    onCrash: (how) => {
      saver.stop();
      void gate.shut();
      options.onCrash?.(how);
    },
  });
  const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
    call<T>(`http://127.0.0.1:${ownPort}`, method, params, `${user}:${password}`);
  const blocks = new SavedBlocks(join(folder, 'blocks.txt'), ask);
  const saver = new Saver(
    () => blocks.save(),
    () => 1000,
    (message) => console.error(`btcd: blocks not saved: ${message}`),
  );
  const start = async (): Promise<void> => {
    if (node.pid()) return;
    node.start();
    await node.untilReady(async () => (await ask<number>('getblockcount')) >= 0);
    await blocks.handBack();
    await gate.open();
    saver.start();
  };
  await start();
  return {
    name: 'btcd',
    url,
    user,
    password,
    pid: () => node.pid(),
    start,
    stop: async () => {
      saver.stop();
      if (node.pid()) await blocks.save();
      await gate.shut();
      await node.stop();
    },
    kill9: async () => {
      saver.stop();
      if (node.pid()) await blocks.save(); // a kill must not undo blocks
      await gate.shut();
      await node.kill9();
    },
  };
}

/** Writes the settings that no list of processes may show, the password among them. Returns the file's path. */
function settingsIn(folder: string, { user, password, miningAddress }: BtcdOptions): string {
  const file = join(folder, 'btcd.conf');
  const lines = ['[Application Options]', `rpcuser=${user}`, `rpcpass=${password}`, `miningaddr=${miningAddress}`, ''];
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  return file;
}
