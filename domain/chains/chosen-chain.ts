import { networks, type ChainSettings, type Network, type NetworkId } from './assets';
import { isLocalChain } from './freshness';

/** Which chain of a network an instance is on: a live instance knows live chains alone, a test instance none. */

type Settings = Pick<ChainSettings, 'chainNames' | 'chainIds'>;

/** Where a public test chain gives its coins away; null: it is none. */
export const faucetOf = (network: Network, settings: Settings): string | null =>
  ('chains' in network
    ? network.chains[settings.chainNames[network.id] ?? '']?.faucet
    : network.testChains?.[settings.chainIds[network.id] ?? 0]?.faucet) ?? null;

/** Whether its node is a simulator of ours: of a network whose transactions expire no node runs on one machine. */
export const isSimulated = (network: Network, settings: Settings): boolean =>
  network.expiring !== undefined && isLocalChain(network, settings);

/** Whether its coins are worth nothing, as far as we know: a chain that the registry lacks may be a live one. */
export const isTestChain = (network: Network, settings: Settings): boolean =>
  isLocalChain(network, settings) || faucetOf(network, settings) !== null;

/** Addresses of a public explorer's pages, with `{txId}` in each, by network; networks whose chain has none are left
 *  out: what another chain's explorer shows would be a lie. */
export type Explorers = Readonly<Partial<Record<NetworkId, string>>>;
export function explorersOf(on: readonly NetworkId[], settings: Settings): Explorers {
  const explorerOf = (network: Network): string | undefined =>
    'chains' in network
      ? network.chains[settings.chainNames[network.id] ?? '']?.explorerTxUrl
      : network.explorerTxUrls[settings.chainIds[network.id] ?? 0];
  return Object.fromEntries(
    on.flatMap((id) => {
      const url = explorerOf(networks[id]);
      return url === undefined ? [] : [[id, url]];
    }),
  );
}
