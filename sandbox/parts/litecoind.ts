import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { litecoindBinary } from '../binaries';
import { ManagedProcess } from '../process';
import { call } from './json-rpc';
import type { Part } from './part';

export type LitecoindOptions = Readonly<{
  /** The chain goes to `<dataDir>/litecoind`. */
  dataDir: string;
  port: number;
  user: string;
  password: string;
  /** Where the coins of blocks go; regtest, `rltc1…`. */
  miningAddress: string;
  /** Takes replacements by fee (BIP 125), which nodes of Litecoin refuse by default. False unless told. */
  replaces?: boolean;
  onCrash?: (how: string) => void;
}>;

/** A Litecoin node of its own on regtest: JSON-RPC on loopback, no peers, an index of all transactions, and wallets that
 *  pay and mine. */
export async function startLitecoind(
  options: LitecoindOptions,
): Promise<Part & { user: string; password: string; mineTo: string }> {
  const { port, user, password } = options;
  const folder = join(options.dataDir, 'litecoind');
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const settings = join(folder, 'litecoin.conf'); // a file, so that the password is in no list of processes
  writeFileSync(settings, `rpcuser=${user}\nrpcpassword=${password}\n`, { mode: 0o600 });
  const node = new ManagedProcess({
    name: 'litecoind',
    dataDir: options.dataDir,
    command: litecoindBinary(),
    args: [
      ...['-regtest', '-server', '-txindex', '-listen=0', '-dnsseed=0', '-printtoconsole=0', '-fallbackfee=0.0001'],
      `-mempoolreplacement=${options.replaces ? 1 : 0}`,
      ...[`-conf=${settings}`, `-datadir=${folder}`],
      ...['-rpcbind=127.0.0.1', '-rpcallowip=127.0.0.1', `-rpcport=${port}`, '-rpcthreads=16', '-rpcworkqueue=200'],
    ],
    env: { PATH: process.env.PATH, HOME: folder },
    onCrash: options.onCrash,
  });
  const start = async (): Promise<void> => {
    if (node.pid()) return;
    node.start();
    await node.untilReady(async () => (await call<number>(url, 'getblockcount', [], `${user}:${password}`)) >= 0);
  };
  await start();
  return {
    name: 'litecoind',
    url,
    user,
    password,
    mineTo: options.miningAddress,
    pid: () => node.pid(),
    start,
    stop: () => node.stop(),
    kill9: () => node.kill9(),
  };
}
