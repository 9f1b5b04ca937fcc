import type { NetworkId } from '../../domain/chains/assets';
import { chainsOf } from '../chain-tools';
import { Miner } from '../miner';
import type { Part } from '../parts/part';
import { startSimulator } from '../parts/simulator';
import { startSwap } from '../parts/swap';
import { pricesOf } from '../prices';
import { swapMnemonic } from '../secrets';
import type { StackOptions } from './options';
import type { Parts, Place } from './parts';
import type { Running } from './running';

/** What stands in for the world on the local chains: miners, payers and a swap provider. */
export type Helpers = Readonly<{ simulator: Part | null; swap: Part | null }>;

/** Our key at the sandbox's swap provider. */
export const swapKey = 'sandbox';

type Tokens = Readonly<Record<string, string>>;

export async function startHelpers(
  options: StackOptions,
  place: Place,
  parts: Parts,
  { tokens, networks }: Readonly<{ tokens: Tokens; networks: readonly NetworkId[] }>,
  running: Running,
): Promise<Helpers> {
  const { dataDir, ports, secrets, payer } = place;
  const chains = chainsOf(parts);
  const onChains = { chains, tokens, payerMnemonic: payer };
  const miner = (options.miner ?? true) ? new Miner(chains) : null;
  if (miner) {
    miner.start();
    running.endFirst(() => miner.stop());
  }
  const simulator =
    options.env?.MODE === 'test'
      ? await running.add(
          startSimulator({
            ...onChains,
            port: ports.simulator,
            databaseUrl: parts.postgres.url,
            key: secrets.simulatorKey,
            miner,
          }),
        )
      : null;
  const swap = options.swap
    ? await running.add(
        startSwap({
          ...onChains,
          dataDir,
          port: ports.swap,
          mnemonic: swapMnemonic(dataDir),
          priceFile: pricesOf(dataDir, networks),
          apiKey: swapKey,
        }),
      )
    : null;
  return { simulator, swap };
}
