import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fields, list, text } from '../../../chains/lightning/answers';
import { lndHttp, type Lnd, type LndLogin } from '../../../chains/lightning/http';
import { lndBinary } from '../../binaries';
import { ManagedProcess } from '../../process';
import type { Part } from '../part';

export type LndOptions = Readonly<{
  /** Of the node; everything of it goes to `<dataDir>/<name>`. */
  name: string;
  dataDir: string;
  /** Of its REST API, its gRPC API and its peers, all on loopback. */
  ports: Readonly<{ rest: number; rpc: number; peers: number }>;
  /** btcd behind a door with TLS (`bitcoinDoor`): lnd speaks to no other. */
  bitcoin: Readonly<{
    port: number;
    certificateFile: string;
    user: string;
    password: string;
    /** Called before each start: lnd waits for ever for a newest block that is less than two hours old. */
    freshen: () => Promise<unknown>;
  }>;
  onCrash?: (how: string) => void;
}>;

export type LndNode = Part &
  Readonly<{
    /** Where peers reach it. */
    peerAddress: string;
    /** With what its owner gets in: the certificate of its API, and the macaroon that may do everything. */
    files: Readonly<{ certificate: string; admin: string }>;
    /** The way to its API with a macaroon (hex); without one, with that of its owner. */
    login(macaroon?: string): LndLogin;
    /** Its API for its owner. */
    admin: () => Lnd;
  }>;

/** Lightning of a sandbox: the service's node and a payer's, with a channel in which both have something. */
export type LightningParts = Readonly<{
  ours: LndNode;
  payer: LndNode;
  /** Public key of the payer's node, hex. */
  payerKey: string;
  /** What the services are told; each process gets of it what it may have. */
  settings: Readonly<Record<string, string>>;
}>;

/** A Lightning node of its own on regtest, with a wallet that opens by itself at each start. */
export async function startLnd(options: LndOptions): Promise<LndNode> {
  const { name, dataDir, ports } = options;
  const folder = join(dataDir, name);
  const url = `https://127.0.0.1:${ports.rest}`;
  const files = {
    certificate: join(folder, 'tls.cert'),
    admin: join(folder, 'data', 'chain', 'bitcoin', 'regtest', 'admin.macaroon'),
  };
  const node = new ManagedProcess({
    name,
    dataDir,
    command: lndBinary(),
    args: [`--lnddir=${folder}`, `--configfile=${settingsIn(folder, options)}`],
    env: { PATH: process.env.PATH, HOME: folder },
    graceMs: 30_000, // it closes its database in order
    onCrash: options.onCrash,
  });
  const login = (macaroon?: string): LndLogin => ({
    url,
    certificate: readFileSync(files.certificate, 'utf8'),
    macaroon: macaroon ?? readFileSync(files.admin).toString('hex'),
  });
  /** What needs no macaroon: the state, and the wallet before it is there. lnd makes its certificate at its first
   *  start, and keeps it. */
  let open: Lnd | undefined;
  let admin: Lnd | undefined;
  const start = async (): Promise<void> => {
    if (node.pid()) return;
    await options.bitcoin.freshen();
    node.start();
    await node.untilReady(async () => {
      open ??= lndHttp(login('00'));
      const state = await stateOf(open);
      if (state === 'NON_EXISTING') await makeWallet(open, readFileSync(join(folder, 'password')));
      return state === 'SERVER_ACTIVE';
    }, 120_000);
  };
  await start();
  return {
    ...{ name, url, files, peerAddress: `127.0.0.1:${ports.peers}`, login, start },
    admin: () => (admin ??= lndHttp(login())),
    pid: () => node.pid(),
    stop: () => node.stop(),
    kill9: () => node.kill9(),
  };
}

const stateOf = (lnd: Lnd): Promise<string> =>
  lnd.ask({ path: '/v1/state', shape: (answer) => text(fields(answer, 'The state'), 'state'), tries: 1 });

/** Makes the wallet with words that nobody writes down: it is a sandbox's. */
async function makeWallet(lnd: Lnd, password: Buffer): Promise<void> {
  const words = await lnd.ask({
    path: '/v1/genseed',
    shape: (answer) => list(fields(answer, 'The seed'), 'cipher_seed_mnemonic'),
    waitMs: 60_000,
  });
  await lnd.ask({
    path: '/v1/initwallet',
    body: { wallet_password: password.toString('base64'), cipher_seed_mnemonic: words },
    shape: (answer) => fields(answer, 'The wallet'),
    tries: 1,
    waitMs: 60_000,
  });
}

/** Writes the settings that no list of processes may show, passwords among them. Returns the file's path. */
function settingsIn(folder: string, { name, ports, bitcoin }: LndOptions): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const password = join(folder, 'password');
  if (!existsSync(password)) writeFileSync(password, randomBytes(16).toString('hex'), { mode: 0o600 });
  const file = join(folder, 'lnd.conf');
  const lines = [
    '[Application Options]',
    `alias=${name}`,
    `restlisten=127.0.0.1:${ports.rest}`,
    `rpclisten=127.0.0.1:${ports.rpc}`,
    `listen=127.0.0.1:${ports.peers}`,
    'nobootstrap=true',
    `wallet-unlock-password-file=${password}`,
    'wallet-unlock-allow-create=true',
    // Peers that were away are looked for at once.
    'minbackoff=1s',
    'maxbackoff=3s',
    'debuglevel=warn',
    '[Bitcoin]',
    'bitcoin.regtest=true',
    'bitcoin.node=btcd',
    'bitcoin.defaultchanconfs=3',
    '[Btcd]',
    `btcd.rpchost=127.0.0.1:${bitcoin.port}`,
    `btcd.rpcuser=${bitcoin.user}`,
    `btcd.rpcpass=${bitcoin.password}`,
    `btcd.rpccert=${bitcoin.certificateFile}`,
    '',
  ];
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  return file;
}
