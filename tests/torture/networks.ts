import { assetsOn, networks as networksById, type NetworkId } from '../../domain/chains/assets';
import type { AskedParts } from '../../sandbox/asked-parts';
import { coinNodeName } from '../../sandbox/stack/coin-nodes';
import { optionalNetworks, usualNetworks, type OptionalNetwork } from '../../sandbox/stack/networks';

/** What a run has beside Bitcoin and Ethereum: networks, their currencies and their nodes. */

export const usualCurrencies = ['BTC', 'ETH', 'USDT_ERC20'] as const;

/** The currencies of a run with these networks beside the usual ones. */
export const currenciesWith = (more: readonly OptionalNetwork[]): readonly string[] => [
  ...usualCurrencies,
  ...assetsOn(more).map(({ currency }) => currency),
];

/** What `--networks` names, each once: networks by id, by the ticker of the coin, or `all`, and Lightning, which `all`
 *  leaves out, for it is to be built first. null: a name is unknown. */
export function networksNamed(text: string): AskedParts | null {
  const given = text.toLowerCase().split(',').filter(Boolean);
  const names = given.filter((name) => name !== 'lightning');
  const isNamed = (id: OptionalNetwork, name: string): boolean =>
    name === 'all' || name === id || name === networksById[id].native.toLowerCase();
  if (names.some((name) => !optionalNetworks.some((id) => isNamed(id, name)))) return null;
  const networks = optionalNetworks.filter((id) => names.some((name) => isNamed(id, name)));
  return { networks, lightning: names.length < given.length };
}

/** The part of the stack that is the node of a network, or its simulator. */
function nodeOf(id: NetworkId): string {
  const known: Partial<Record<NetworkId, string>> = { ethereum: 'anvil', bitcoin: 'btcd' };
  return known[id] ?? coinNodeName(id) ?? (networksById[id].expiring ? `${id}-simulator` : `anvil-${id}`);
}

/** The network of each node. */
export const nodesWith = (more: readonly OptionalNetwork[]): ReadonlyMap<string, NetworkId> =>
  new Map([...usualNetworks.toReversed(), ...more].map((id) => [nodeOf(id), id]));

/** Whose calls go wrong: the node of a network, or our Lightning node. */
export type Misled = NetworkId | 'lightning';
