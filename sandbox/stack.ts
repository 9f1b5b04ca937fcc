import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assets, evmNetworks, networks as networksById, type NetworkId } from '../domain/chains/assets';
import { allOrFirstError } from './all-or-first-error';
import { chainsOf } from './chain-tools';
import { deployContracts } from './local-contracts';
import { Miner } from './miner';
import { startAnvil } from './parts/anvil';
import { startBtcd } from './parts/btcd';
import { startLitecoind } from './parts/litecoind';
import { startMail } from './parts/mail';
import { external, type Part } from './parts/part';
import { startPostgres } from './parts/postgres';
import { startSimulator } from './parts/simulator';
import { startSwap } from './parts/swap';
import { startTemporal } from './parts/temporal';
import { freePort } from './ports';
import { pricesOf } from './prices';
import { endLeftovers } from './process';
import {
  payerAddressOn,
  payerBitcoinKey,
  payerMnemonic,
  secretsOf,
  signerSeedFile,
  swapMnemonic,
  type Secrets,
} from './secrets';
import { migrateDatabase, oneOfEach, roles, service, type Copies, type Role } from './services';

export const fixedPorts = {
  postgres: 54320,
  temporal: 7233,
  temporalUi: 8233,
  ethereum: 8545,
  bitcoin: 18334,
  litecoin: 19443,
  polygon: 8547,
  base: 8548,
  optimism: 8549,
  arbitrum: 8550,
  bnb: 8551,
  smtp: 1025,
  mail: 8025,
  swap: 8040,
  simulator: 8050,
  api: 3000,
  checkout: 3001,
  shop: 3003,
  metrics: 9100,
} as const;
export type Ports = Readonly<Record<keyof typeof fixedPorts, number>>;

/** Networks that a sandbox has when it is asked for them. */
export const optionalNetworks = [
  'litecoin',
  'polygon',
  'base',
  'optimism',
  'arbitrum',
  'bnb',
] as const satisfies readonly NetworkId[];
export type OptionalNetwork = (typeof optionalNetworks)[number];
const usualNetworks: readonly NetworkId[] = ['bitcoin', 'ethereum'];

export type StackOptions = Readonly<{
  /** Everything that lasts is below it. A second stack on it goes on where the first one ended. */
  dataDir: string;
  ports: 'free' | Ports;
  /** Copies per role; false: the parts alone, the database migrated. One of each unless told. */
  services?: false | Partial<Copies>;
  /** Over what the stack would set itself. DATABASE_URL and TEMPORAL_ADDRESS given: that part is not started. */
  env?: Readonly<Record<string, string>>;
  /** Asked before the services start, when all parts run: more of `env`, say the address of a node's proxy. */
  between?: (stack: Stack) => Promise<Readonly<Record<string, string>>>;
  /** Starts a service again this long after it ended by itself; never unless told. */
  restartAfterMs?: number;
  /** Temporal's log is written ahead, and not waited for: three times the workflows a second. What is acknowledged
   *  outlives a killed process, not a power cut. False unless told. */
  isHasty?: boolean;
  /** Networks beside those that every sandbox has. None unless told. */
  networks?: readonly OptionalNetwork[];
  /** Starts a swap provider, and tells the services of it. False unless told. */
  swap?: boolean;
  /** Archives the WAL of its own PostgreSQL. False unless told. */
  archive?: boolean;
  /** Mines by itself what is in the pools. True unless told. */
  miner?: boolean;
  /** Told when a process ends that nobody asked to. */
  onCrash?: (name: string, how: string) => void;
  /** Told what comes next, for people who wait. */
  say?: (line: string) => void;
}>;

export type Stack = Readonly<{
  dataDir: string;
  secrets: Secrets;
  postgres: Part;
  /** `url` is host:port. */
  temporal: Part & { uiUrl: string };
  anvil: Part;
  btcd: Part & { user: string; password: string };
  /** null: not asked for. */
  litecoind: Awaited<ReturnType<typeof startLitecoind>> | null;
  /** Of EVM networks beside Ethereum: those that were asked for. */
  evmNodes: ReadonlyMap<NetworkId, Part>;
  mail: Part & { smtpUrl: string };
  swap: Part | null;
  /** The payers of a test instance; null: it is live. */
  simulator: Part | null;
  /** By name: `payments-1`, `api-2`, … */
  services: ReadonlyMap<string, Part>;
  /** Any part or service by its name. */
  part(name: string): Part;
  /** Contract per token ticker. */
  tokens: Readonly<Record<string, string>>;
  /** Of the payer who has coins on the local chains. */
  payerMnemonic: string;
  /** What all services were started with; for a client, an auditor, one more service. */
  env: Readonly<Record<string, string>>;
  apiUrl: string;
  checkoutUrl: string;
  /** Of the first copy of the API. */
  metricsUrl: string;
  /** Starts one more copy of `role`, with `more` over the environment of all. */
  add(role: Role, more?: Readonly<Record<string, string>>): Promise<Part>;
  /** Ends all that was started, services first. */
  stop(): Promise<void>;
}>;

/** Our key at the sandbox's swap provider. */
const swapKey = 'sandbox';

/** The chains that a sandbox has. */
export const localChains: Readonly<Record<string, string>> = {
  ...{ BTC_NETWORK: 'regtest', LTC_NETWORK: 'regtest' },
  ...Object.fromEntries(
    evmNetworks().map(({ settings, localChainIds: [id] }) => [`${settings.prefix}_CHAIN_ID`, String(id)]),
  ),
};

/** The whole service on one machine, every part real. What an earlier start in the same folder left running is ended
 *  first. Rejects with one clear line (StartError), and with nothing left running. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dataDir } = options;
  const say = options.say ?? (() => {});
  const given = options.env ?? {};
  mkdirSync(dataDir, { recursive: true });
  const ended = await endLeftovers(dataDir);
  if (ended.length) say(`Ended what an earlier start had left running: ${ended.join(', ')}`);

  const ports = options.ports === 'free' ? await freePorts() : options.ports;
  const secrets = secretsOf(dataDir);
  const payer = payerMnemonic(dataDir);
  const extra = options.networks ?? [];
  const networks = [...usualNetworks, ...extra];
  const started: Part[] = [];
  const services = new Map<string, Part>();
  const stopMiner: Array<() => Promise<void>> = [];
  const run = async <P extends Part>(part: Promise<P>): Promise<P> => {
    const running = await part;
    started.push(running);
    return running;
  };
  const stop = async (): Promise<void> => {
    for (const end of stopMiner.splice(0)) await end();
    await Promise.all([...services.values()].map((one) => one.stop()));
    const [anchors, rest] = [started.filter(isAnchor), started.filter((part) => !isAnchor(part))];
    started.length = 0;
    await Promise.all(rest.map((part) => part.stop()));
    await Promise.all(anchors.map((part) => part.stop()));
  };
  const crashed = (name: string) => (how: string) => options.onCrash?.(name, how);

  try {
    say(`Starting PostgreSQL, Temporal, anvil, btcd${extra.map((one) => `, ${one}`).join('')} and the mail catcher`);
    // All are waited for before a failure counts: none may start behind the back of `stop`.
    const [postgres, temporal, anvil, btcd, litecoind, others, mail] = await allOrFirstError([
      run(
        given.DATABASE_URL
          ? Promise.resolve(external('postgres', given.DATABASE_URL))
          : startPostgres({
              dataDir,
              port: ports.postgres,
              password: secrets.postgresPassword,
              ...(options.archive ? { archive: true } : {}),
              say,
              onCrash: crashed('postgres'),
            }),
      ),
      run(
        given.TEMPORAL_ADDRESS
          ? Promise.resolve({ ...external('temporal', given.TEMPORAL_ADDRESS), uiUrl: given.TEMPORAL_UI_URL ?? '' })
          : startTemporal({
              dataDir,
              port: ports.temporal,
              uiPort: ports.temporalUi,
              isHasty: options.isHasty,
              onCrash: crashed('temporal'),
            }),
      ),
      run(startAnvil({ dataDir, port: ports.ethereum, onCrash: crashed('anvil') })),
      run(
        startBtcd({
          dataDir,
          port: ports.bitcoin,
          user: secrets.btcRpcUser,
          password: secrets.btcRpcPassword,
          miningAddress: payerBitcoinKey(payer).address,
          onCrash: crashed('btcd'),
        }),
      ),
      extra.includes('litecoin')
        ? run(
            startLitecoind({
              dataDir,
              port: ports.litecoin,
              user: secrets.btcRpcUser,
              password: secrets.btcRpcPassword,
              miningAddress: payerAddressOn(payer, 'litecoin'),
              onCrash: crashed('litecoind'),
            }),
          )
        : Promise.resolve(null),
      Promise.all(
        evmNetworks()
          .filter(({ id }) => extra.some((one) => one === id))
          .map(async ({ id, confirmations: depth, localChainIds: [chainId] }) => {
            const name = `anvil-${id}`;
            const place = { name, dataDir, port: ports[id as keyof Ports], chainId, depth };
            return [id, await run(startAnvil({ ...place, onCrash: crashed(name) }))] as const;
          }),
      ),
      run(startMail({ dataDir, smtpPort: ports.smtp, port: ports.mail })),
    ]);

    say('Bringing the database to the newest schema');
    migrateDatabase(postgres.url, given.MODE);
    const evmNodes: ReadonlyMap<NetworkId, Part> = new Map(others);
    const parts = { anvil, btcd, litecoind, evmNodes };
    const { tokens, settings: contracts } = await deployContracts(dataDir, new Map([['ethereum', anvil], ...evmNodes]));
    const miner = (options.miner ?? true) ? new Miner(chainsOf(parts)) : null;
    if (miner) {
      miner.start();
      stopMiner.push(() => miner.stop());
    }
    const simulator =
      given.MODE === 'test'
        ? await run(
            startSimulator({
              port: ports.simulator,
              databaseUrl: postgres.url,
              key: secrets.simulatorKey,
              chains: chainsOf(parts),
              tokens,
              payerMnemonic: payer,
              miner,
            }),
          )
        : null;
    const swap = options.swap
      ? await run(
          startSwap({
            dataDir,
            port: ports.swap,
            chains: chainsOf(parts),
            tokens,
            payerMnemonic: payer,
            mnemonic: swapMnemonic(dataDir),
            priceFile: pricesOf(dataDir, networks),
            apiKey: swapKey,
          }),
        )
      : null;
    const apiUrl = given.API_URL ?? `http://127.0.0.1:${ports.api}`;
    const checkoutUrl = given.CHECKOUT_URL ?? `http://127.0.0.1:${ports.checkout}`;
    const env: Record<string, string> = {
      NODE_ENV: 'sandbox',
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.url,
      TEMPORAL_UI_URL: temporal.uiUrl,
      SECRETS_KEY: secrets.secretsKey,
      API_URL: apiUrl,
      CHECKOUT_URL: checkoutUrl,
      // A name, not an address: passkeys belong to a name.
      DASHBOARD_URL: `${given.API_URL ?? `http://localhost:${ports.api}`}/dashboard`,
      BTC_RPC_URL: btcd.url,
      BTC_RPC_USER: btcd.user,
      BTC_RPC_PASSWORD: btcd.password,
      NETWORKS: networks.join(','),
      ...localChains,
      ...(litecoind
        ? { LTC_RPC_URL: litecoind.url, LTC_RPC_USER: litecoind.user, LTC_RPC_PASSWORD: litecoind.password }
        : {}),
      ETH_RPC_URL: anvil.url,
      TOKEN_CONTRACTS: JSON.stringify(tokens),
      ...contracts,
      ...Object.fromEntries([...evmNodes].map(([id, { url }]) => [`${networksById[id].settings.prefix}_RPC_URL`, url])),
      POLL_INTERVAL_MS: '250',
      RATE_SOURCE: 'file',
      RATE_FILE: pricesOf(dataDir, networks),
      SMTP_URL: mail.smtpUrl,
      ...(swap ? { SWAP_PROVIDER: 'changenow', SWAP_API_URL: swap.url, SWAP_API_KEY: swapKey } : {}),
      ALLOW_INSECURE_CALLBACKS: 'true',
      APPROVAL_COOLING_OFF_HOURS: '0',
      // Coins of local chains are worth nothing, and every destination of a sandbox is new.
      SIGNER_DAILY_CAPS: assets.map(({ currency }) => `${currency}=1000000000`).join(','),
      ...given,
    };
    const counts: Partial<Record<Role, number>> = {};
    const prepare = async (role: Role, more: Readonly<Record<string, string>> = {}): Promise<Part> => {
      const copy = (counts[role] ?? 0) + 1;
      counts[role] = copy;
      const own: Record<string, string> =
        role === 'signer'
          ? {
              SIGNER_SEED_FILE: signerSeedFile(dataDir),
              SIGNER_EPOCH_FILE: join(dataDir, 'signer-epoch.json'),
              RECOVERY_WATCH_ADDRESSES: '2000',
            }
          : role === 'api'
            ? {
                METRICS_PORT: String(copy === 1 ? ports.metrics : await freePort()),
                ...(simulator ? { SIMULATOR_URL: simulator.url, SIMULATOR_KEY: secrets.simulatorKey } : {}),
              }
            : {};
      const fixed = copy === 1 && (role === 'api' || role === 'checkout') ? ports[role] : undefined;
      const { restartAfterMs, onCrash } = options;
      const one = await service({
        role,
        copy,
        dataDir,
        port: fixed,
        env: { ...own, ...env, ...more },
        restartAfterMs,
        onCrash,
      });
      services.set(one.name, one);
      return one;
    };
    const stack: Stack = {
      dataDir,
      secrets,
      postgres,
      temporal,
      anvil,
      btcd,
      litecoind,
      evmNodes,
      mail,
      swap,
      simulator,
      services,
      part: (name) => {
        const found =
          services.get(name) ??
          [postgres, temporal, anvil, btcd, litecoind, ...evmNodes.values(), mail, swap, simulator].find(
            (part) => part?.name === name,
          );
        if (!found) throw new Error(`There is no part '${name}'`);
        return found;
      },
      tokens,
      payerMnemonic: payer,
      env,
      apiUrl,
      checkoutUrl,
      metricsUrl: `http://127.0.0.1:${ports.metrics}/metrics`,
      add: async (role, more) => {
        const one = await prepare(role, more);
        await one.start();
        return one;
      },
      stop,
    };
    if (options.between) Object.assign(env, await options.between(stack));
    if (options.services !== false) {
      say('Starting the workers, the API and the checkout');
      const copies = { ...oneOfEach, ...options.services };
      const wanted = (Object.keys(roles) as Role[]).flatMap((role) => Array.from({ length: copies[role] }, () => role));
      const prepared: Part[] = [];
      for (const role of wanted) prepared.push(await prepare(role));
      await allOrFirstError(prepared.map((one) => one.start()));
    }
    return stack;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What others lean on, so it goes last. */
const isAnchor = (part: Part): boolean => part.name === 'postgres' || part.name === 'temporal';

async function freePorts(): Promise<Ports> {
  const ports: Partial<Record<keyof Ports, number>> = {};
  for (const name of Object.keys(fixedPorts) as Array<keyof Ports>) ports[name] = await freePort();
  return ports as Ports;
}
