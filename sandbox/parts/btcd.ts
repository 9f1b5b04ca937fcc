import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { btcdBinary } from '../binaries';
import { ManagedProcess } from '../process';
import { call } from './json-rpc';
import type { Part } from './part';
import { freePort } from '../ports';
import { Gate } from './gate';
import { SavedBlocks } from './saved-blocks';

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
  const settings = join(folder, 'btcd.conf'); // a file, so that the password is in no list of processes
  writeFileSync(
    settings,
    ['[Application Options]', `rpcuser=${user}`, `rpcpass=${password}`, `miningaddr=${options.miningAddress}`, ''].join(
      '\n',
    ),
    { mode: 0o600 },
  );
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
      rest();
      void gate.shut();
      options.onCrash?.(how);
    },
  });
  const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
    call<T>(`http://127.0.0.1:${ownPort}`, method, params, `${user}:${password}`);
  const blocks = new SavedBlocks(join(folder, 'blocks.txt'), ask);
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  const keepSaving = (): void => {
    timer = setTimeout(() => {
      blocks
        .save()
        .then(() => (failures = 0))
        .catch((error: Error) => {
          failures += 1; // one may be its end, of which we hear in a moment
          if (timer && failures === 3) console.error(`btcd: blocks not saved: ${error.message}`);
        })
        .finally(() => {
          if (timer) keepSaving();
        });
    }, 1000);
    timer.unref();
  };
  const rest = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const start = async (): Promise<void> => {
    if (node.pid()) return;
    node.start();
    await node.untilReady(async () => (await ask<number>('getblockcount')) >= 0);
    await blocks.handBack();
    await gate.open();
    rest();
    keepSaving();
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
      rest();
      if (node.pid()) await blocks.save();
      await gate.shut();
      await node.stop();
    },
    kill9: async () => {
      rest();
      if (node.pid()) await blocks.save(); // a kill must not undo blocks
      await gate.shut();
      await node.kill9();
    },
  };
}
