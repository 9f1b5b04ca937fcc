import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { litecoindBinary } from '../binaries';
import { ManagedProcess } from '../process';
import { call } from './json-rpc';
import type { Part } from './part';

/** A node of coins. `mineTo`: who gets those of its blocks, as the node spells it. */
export type CoinNode = Part & Readonly<{ user: string; password: string; mineTo: string }>;

export const litecoindName = 'litecoind';

export type LitecoindOptions = Readonly<{
  /** Of the process, and of the folder in `dataDir` that the chain goes to; litecoind unless told. */
  name?: string;
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

type Ask = <T>(method: string, params?: readonly unknown[], wallet?: string) => Promise<T>;

/** From this block on the extension block (MWEB) is in force. */
const activeFrom = 432;
/** More than any test replaces. */
const above = 20;

/** Mines until the extension block is in force, as on the main network. Its first block must have something in it:
 *  without that the node makes no further block. */
async function activate(ask: Ask, miningAddress: string): Promise<void> {
  if ((await ask<number>('getblockcount')) >= activeFrom) return;
  const name = 'first-in-mweb';
  const wallet = `/wallet/${name}`;
  const { wallets } = await ask<{ wallets: Array<{ name: string }> }>('listwalletdir');
  if (!wallets.some((one) => one.name === name)) await ask('createwallet', [name]);
  else if (!(await ask<string[]>('listwallets')).includes(name)) await ask('loadwallet', [name]);
  const own = await ask<string>('getnewaddress', ['', 'bech32'], wallet);
  const left = async (): Promise<number> => activeFrom - 1 - (await ask<number>('getblockcount'));
  if ((await left()) > 0) await ask('generatetoaddress', [1, own]);
  if ((await left()) > 0) await ask('generatetoaddress', [await left(), miningAddress]);
  await ask('sendtoaddress', [await ask<string>('getnewaddress', ['', 'mweb'], wallet), 1], wallet);
  await ask('generatetoaddress', [1 + above, miningAddress]);
}

/** A Litecoin node of its own on regtest: JSON-RPC on loopback, no peers, an index of all transactions, wallets that
 *  pay and mine, and the extension block in force. */
export async function startLitecoind(options: LitecoindOptions): Promise<CoinNode> {
  const { port, user, password, name = litecoindName } = options;
  const folder = join(options.dataDir, name);
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const settings = join(folder, 'litecoin.conf'); // a file, so that the password is in no list of processes
  writeFileSync(settings, `rpcuser=${user}\nrpcpassword=${password}\n`, { mode: 0o600 });
  const node = new ManagedProcess({
    name,
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
  const ask = <T>(method: string, params: readonly unknown[] = [], wallet = ''): Promise<T> =>
    call<T>(url + wallet, method, params, `${user}:${password}`);
  const start = async (): Promise<void> => {
    if (node.pid()) return;
    node.start();
    await node.untilReady(async () => (await ask<number>('getblockcount')) >= 0);
    await activate(ask, options.miningAddress);
  };
  await start();
  return {
    name,
    url,
    user,
    password,
    mineTo: options.miningAddress,
    pid: () => node.pid(),
    start,
    stop: () => node.stop(),
    kill9: async () => {
      // It writes its index of blocks once an hour, and whenever its coins are counted: a kill must not undo blocks.
      if (node.pid()) await ask('gettxoutsetinfo');
      await node.kill9();
    },
  };
}
