import { mkdirSync } from 'node:fs';
import { networks as networksById, type NetworkId } from '../../domain/chains/assets';
import { deployContracts } from '../local-contracts';
import { historyShards } from '../parts/temporal-on-postgres/settings';
import type { LightningParts } from '../parts/lightning';
import { endLeftovers } from '../process';
import { payerMnemonic, secretsOf } from '../secrets';
import { migrateDatabase } from '../services';
import { chosenStore, refuseOtherStore } from '../temporal-store';
import { copiesOf, startCopies, type Prepare } from './copies';
import { environmentOf } from './environment';
import { startHelpers, type Helpers } from './helpers';
import { usualNetworks } from './networks';
import { startLightning } from './lightning';
import type { Stack, StackOptions } from './options';
import { startParts, type Parts, type Place } from './parts';
import { freePorts } from './ports';
import { nothingRunning, type Running } from './running';

export type { Stack, StackOptions } from './options';

/** The whole service on one machine, every part real. What an earlier start in the same folder left running is ended
 *  first. Rejects with one clear line (StartError), and with nothing left running. */
export async function startStack(given: StackOptions): Promise<Stack> {
  const { dataDir } = given;
  const options = { ...given, temporalStore: given.temporalStore ?? chosenStore(process.env) };
  refuseOtherStore(options);
  mkdirSync(dataDir, { recursive: true });
  const ended = await endLeftovers(dataDir);
  if (ended.length) options.say?.(`Ended what an earlier start had left running: ${ended.join(', ')}`);

  const ports = options.ports === 'free' ? await freePorts() : options.ports;
  const place = { dataDir, ports, secrets: secretsOf(dataDir), payer: payerMnemonic(dataDir) };
  const running = nothingRunning();
  try {
    return await startAll(options, place, running);
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** A part by the name of its network; a simulator is called one. */
const inWords = (id: NetworkId): string => (networksById[id].expiring ? `${networksById[id].name} (simulated)` : id);

async function startAll(options: StackOptions, place: Place, running: Running): Promise<Stack> {
  const { say, env: given = {}, networks: extra = [] } = options;
  const networks = [...usualNetworks, ...extra];
  const temporal =
    options.temporalStore === 'postgres' ? `Temporal on it (${historyShards} history shards, for good)` : 'Temporal';
  const named = ['PostgreSQL', temporal, 'anvil', 'btcd', ...extra.map(inWords)].join(', ');
  say?.(`Starting ${named} and the mail catcher`);
  const parts = await startParts(options, place, running);
  if (!options.isMigrated) {
    say?.('Bringing the database to the newest schema');
    migrateDatabase(parts.postgres.url, given.MODE, options.release);
  }
  const { tokens, settings: contracts } = await deployContracts(
    place.dataDir,
    new Map([['ethereum', parts.anvil], ...parts.evmNodes]),
  );
  if (options.lightning) say?.('Starting two Lightning nodes with a channel');
  const lightning = options.lightning ? await startLightning(options, place, parts, running) : null;
  const helpers = await startHelpers(options, place, parts, { tokens, networks }, running);
  const env = environmentOf({ place, parts, helpers, lightning, networks, tokens, contracts, given });
  const prepare = copiesOf(options, place, helpers, env, running.services);
  const stack = stackOf({ place, parts, helpers, lightning, tokens, env, prepare, running });
  if (options.between) Object.assign(env, await options.between(stack));
  if (options.services !== false) {
    say?.('Starting the workers, the API and the checkout');
    await startCopies(prepare, options);
  }
  return stack;
}

type Made = Readonly<{
  place: Place;
  parts: Parts;
  helpers: Helpers;
  lightning: LightningParts | null;
  tokens: Stack['tokens'];
  env: Record<string, string>;
  prepare: Prepare;
  running: Running;
}>;

function stackOf({ place, parts, helpers, lightning, tokens, env, prepare, running }: Made): Stack {
  const { services, stop } = running;
  const { coinNodes, evmNodes, simulators, ...single } = parts;
  const ofNetworks = [coinNodes, evmNodes, simulators].flatMap((nodes) => [...nodes.values()]);
  const others = [...ofNetworks, ...Object.values(helpers)];
  const named = [...Object.values(single), ...others, lightning?.ours, lightning?.payer];
  return {
    ...parts,
    ...helpers,
    lightning,
    dataDir: place.dataDir,
    secrets: place.secrets,
    services,
    part: (name) => {
      const found = services.get(name) ?? named.find((part) => part?.name === name);
      if (!found) throw new Error(`There is no part '${name}'`);
      return found;
    },
    tokens,
    payerMnemonic: place.payer,
    env,
    apiUrl: env.API_URL!,
    checkoutUrl: env.CHECKOUT_URL!,
    metricsUrl: `http://127.0.0.1:${place.ports.metrics}/metrics`,
    add: async (role, more) => {
      const one = await prepare(role, more);
      await one.start();
      return one;
    },
    stop,
  };
}
