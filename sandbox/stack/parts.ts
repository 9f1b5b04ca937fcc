import { join } from 'node:path';
import {
  assetsOn,
  evmNetworks,
  expiringNetworks,
  utxoNetworks,
  type ExpiringNetwork,
  type NetworkId,
} from '../../domain/chains/assets';
import { allOrFirstError } from '../all-or-first-error';
import { startAnvil } from '../parts/anvil';
import { startBtcd } from '../parts/btcd';
import { startMail } from '../parts/mail';
import { external, type Part } from '../parts/part';
import { startPostgres } from '../parts/postgres';
import { startTemporal } from '../parts/temporal';
import { startTemporalOnPostgres } from '../parts/temporal-on-postgres';
import { startTronSimulator, type TronSimulatorOptions } from '../parts/tron-simulator';
import { startXrplSimulator } from '../parts/xrpl-simulator';
import { payerBitcoinKey, type Secrets } from '../secrets';
import { tronHex } from '../tron-payer';
import { startCoinNode } from './coin-nodes';
import type { Stack, StackOptions } from './options';
import { temporalPorts, type Ports } from './ports';
import type { Running } from './running';

/** The parts that a stack stands on: database, Temporal, nodes and mail. */
export type Parts = Pick<
  Stack,
  'postgres' | 'temporal' | 'anvil' | 'btcd' | 'coinNodes' | 'evmNodes' | 'simulators' | 'mail'
>;

/** Where the parts of a stack are, and with which secrets. */
export type Place = Readonly<{ dataDir: string; ports: Ports; secrets: Secrets; payer: string }>;

/** Starts them all at once, and waits for all before a failure counts: none may start behind the back of `stop`. */
export async function startParts(options: StackOptions, place: Place, { add }: Running): Promise<Parts> {
  const { dataDir, ports } = place;
  const isAsked = ({ id }: { id: NetworkId }): boolean => (options.networks ?? []).some((one) => one === id);
  const database = add(startDatabase(options, place));
  const [postgres, temporal, anvil, btcd, coinNodes, others, simulators, mail] = await allOrFirstError([
    database,
    add(startWorkflows(options, place, database)),
    add(startAnvil({ dataDir, port: ports.ethereum, onCrash: crashed(options, 'anvil') })),
    add(startBitcoin(options, place)),
    Promise.all(
      utxoNetworks()
        .filter(isAsked)
        .map(async ({ id }) => [id, await add(startCoin(id, options, place))] as const),
    ),
    Promise.all(
      evmNetworks()
        .filter(isAsked)
        .map(async ({ id, confirmations: depth, localChainIds: [chainId] }) => {
          const name = `anvil-${id}`;
          const its = { name, dataDir, port: ports[id], chainId, depth };
          return [id, await add(startAnvil({ ...its, onCrash: crashed(options, name) }))] as const;
        }),
    ),
    Promise.all(
      expiringNetworks()
        .filter(isAsked)
        .map(async (network) => [network.id, await add(startSimulatorOf(network, options, place))] as const),
    ),
    add(startMail({ dataDir, smtpPort: ports.smtp, port: ports.mail })),
  ]);
  const evmNodes = new Map<NetworkId, Part>(others);
  const ofNetworks = { coinNodes: new Map(coinNodes), evmNodes, simulators: new Map(simulators) };
  return { postgres, temporal, anvil, btcd, ...ofNetworks, mail };
}

const crashed = (options: StackOptions, name: string) => (how: string) => options.onCrash?.(name, how);

function startDatabase(options: StackOptions, { dataDir, ports, secrets }: Place): Promise<Part> {
  const url = options.env?.DATABASE_URL;
  if (url) return Promise.resolve(external('postgres', url));
  const isHasty = options.isHasty && options.temporalStore === 'postgres';
  return startPostgres({
    dataDir,
    port: ports.postgres,
    password: secrets.postgresPassword,
    ...(options.archive ? { archive: true } : {}),
    ...(isHasty ? { settings: { fsync: 'off', full_page_writes: 'off' } } : {}),
    say: options.say ?? (() => {}),
    onCrash: crashed(options, 'postgres'),
  });
}

async function startWorkflows(
  options: StackOptions,
  { dataDir, ports, secrets }: Place,
  database: Promise<Part>,
): Promise<Stack['temporal']> {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_UI_URL: uiUrl = '' } = options.env ?? {};
  if (address) return { ...external('temporal', address), uiUrl };
  const common = { dataDir, uiPort: ports.temporalUi, onCrash: crashed(options, 'temporal') };
  if (options.temporalStore !== 'postgres')
    return startTemporal({ ...common, port: ports.temporal, isHasty: options.isHasty });
  return startTemporalOnPostgres({
    ...common,
    ports: temporalPorts(ports),
    postgresUrl: (await database).url,
    password: secrets.temporalPassword,
  });
}

/** The login is the same for all nodes of coins. */
const loginOf = ({ btcRpcUser: user, btcRpcPassword: password }: Secrets) => ({ user, password });

const startBitcoin = (options: StackOptions, { dataDir, ports, secrets, payer }: Place) =>
  startBtcd({
    dataDir,
    port: ports.bitcoin,
    ...loginOf(secrets),
    miningAddress: payerBitcoinKey(payer).address,
    onCrash: crashed(options, 'btcd'),
  });

const startCoin = (id: NetworkId, options: StackOptions, { dataDir, ports, secrets, payer }: Place) =>
  startCoinNode(id, {
    dataDir,
    port: ports[id],
    ...loginOf(secrets),
    payer,
    crashed: (name) => crashed(options, name),
  });

/** How often a simulator makes a block while something waits for it, and while nothing does: then its time goes on, and
 *  what it keeps hardly grows. Final blocks of TRON are 18 behind: they must be younger than its transactions live. */
const [everyMs, idleEveryMs] = [1000, 15_000];

/** Of the block that the registry knows the simulator of TRON by. */
const genesisTime = Date.UTC(2026, 0, 1);

/** In place of a node: no real one of such a network runs on one machine. Without a miner nothing comes by itself. */
function startSimulatorOf(
  { id, chains }: ExpiringNetwork,
  { miner = true, simulatedBlockMs, simulatedFinalLag: solidLag }: StackOptions,
  { dataDir, ports }: Place,
): Promise<Part> {
  const place = { dataDir: join(dataDir, id), port: ports[id] };
  const chain = chains.simulator;
  const usual = miner ? { everyMs, idleEveryMs } : {};
  const pace: { everyMs?: number; idleEveryMs?: number } =
    simulatedBlockMs === undefined ? usual : { everyMs: simulatedBlockMs };
  if (chain?.family === 'xrpl')
    return startXrplSimulator({ ...place, ...pace, networkId: chain.networkId, closeEveryMs: pace.everyMs });
  const tokens = assetsOn([id]).flatMap(({ contract }) => (contract === null ? [] : [[tronHex(contract), 'token']]));
  const contracts = Object.fromEntries(tokens) as TronSimulatorOptions['contracts'];
  return startTronSimulator({ ...place, contracts, genesisTime, isOfNow: true, solidLag, ...pace });
}
