import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { macaroonRights } from '../../chains/lightning/node';
import { lightningCurrency } from '../../domain/lightning/currency';
import { chainsOf } from '../chain-tools';
import { mineBitcoin } from '../miner';
import { startLnd, type LightningParts, type LndNode } from '../parts/lightning';
import { bitcoinDoor, freshenBitcoin } from '../parts/lightning/bitcoin-door';
import { bakeMacaroon, keepChannel, keyOf } from '../parts/lightning/channels';
import type { Part } from '../parts/part';
import { Payer } from '../payer';
import { freePort } from '../ports';
import { StartError } from '../process';
import { lightningPreimageKey } from '../secrets';
import type { StackOptions } from './options';
import type { Parts, Place } from './parts';
import type { Running } from './running';

/** Satoshi: nearly the most that a usual channel holds. */
export const capacity = 16_000_000n;
/** Half of it is ours, so that money can go both ways. */
const pushed = capacity / 2n;
/** Of the payer's node, for its channel. */
const float = '0.5';

/** lnd takes a chain without a block for two hours for one that it has not caught up with, and so do we. */
const freshenEveryMs = 600_000;

export async function startLightning(
  options: Pick<StackOptions, 'onCrash'>,
  place: Place,
  parts: Parts,
  running: Running,
): Promise<LightningParts> {
  const { dataDir, ports } = place;
  const chains = chainsOf(parts);
  const { btcRpcUrl } = chains;
  const { user, password } = parts.btcd;
  const freshen = (): Promise<void> => freshenBitcoin(btcRpcUrl);
  const coins = new Payer({ ...chains, coins: {} }, {}, place.payer);
  await coins.fund();

  const door = await bitcoinDoor({ dataDir, port: await freePort(), btcdPort: ports.bitcoin });
  await running.add(Promise.resolve(doorPart(door)));
  const started = async (name: string, rest: number): Promise<LndNode> =>
    running.add(
      startLnd({
        ...{ name, dataDir, bitcoin: { ...door, user, password, freshen } },
        ports: { rest, rpc: await freePort(), peers: await freePort() },
        onCrash: (how) => options.onCrash?.(name, how),
      }),
    );
  const nodes = [started('lnd', ports.lightning), started('lnd-payer', await freePort())] as const;
  await Promise.allSettled(nodes); // none may start behind the back of `stop`
  const [ours, payer] = await Promise.all(nodes);
  const mine = (blocks: number): Promise<unknown> => mineBitcoin(btcRpcUrl, blocks);
  await keepChannel(payer, ours, {
    ...{ capacity, pushed, mine },
    fund: async (address) => {
      await coins.pay('BTC', address, float);
      await mine(1);
    },
  }).catch((error: Error) => {
    throw new StartError(`No channel between the Lightning nodes: ${error.message}. Logs: ${join(dataDir, 'logs')}`);
  });
  const timer = setInterval(() => void freshen().catch(tell), freshenEveryMs);
  timer.unref();
  running.endFirst(async () => clearInterval(timer));
  return { ours, payer, payerKey: await keyOf(payer), settings: await settingsFor(ours, dataDir) };
}

/** A node that is down for a moment is looked for again. */
const tell = (error: Error): void => console.warn(`The chain of BTC is not kept fresh for Lightning: ${error.message}`);

const doorPart = ({ port, shut }: Awaited<ReturnType<typeof bitcoinDoor>>): Part => ({
  name: 'bitcoin-door',
  url: `https://127.0.0.1:${port}`,
  pid: () => undefined,
  start: async () => {},
  stop: shut,
  kill9: shut,
});

/** Bakes a macaroon for each of the rights that the service has apart, and switches on what can be offered. */
async function settingsFor(ours: LndNode, dataDir: string): Promise<Record<string, string>> {
  const folder = join(dataDir, 'lightning');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const settings: Record<string, string> = {
    LIGHTNING_URL: ours.url,
    LIGHTNING_TLS_FILE: ours.files.certificate,
    LIGHTNING_PREIMAGE_KEY: lightningPreimageKey(dataDir),
    LIGHTNING_PAYMENTS: 'true',
    LIGHTNING_WITHDRAWALS: 'true',
  };
  for (const [name, rights] of Object.entries(macaroonRights)) {
    const file = join(folder, `${name.toLowerCase().replace(/^lightning_|_macaroon_file$/g, '')}.macaroon`);
    const permissions = rights.map((one) => one.split(':') as [string, 'read' | 'write']);
    writeFileSync(file, await bakeMacaroon(ours, permissions), { mode: 0o600 });
    settings[name] = file;
  }
  return settings;
}

/** A cap that is none, as for the coins of other local chains. */
export const noLightningCap = `${lightningCurrency}=1000000000`;
