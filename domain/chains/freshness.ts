import type { ChainSettings, Network } from './assets';

/** How far what a node says can be believed to be of now. Invariants: 1.5, 8. */

/** What a node says of itself. `peers`: null where it does not tell. `missing`: blocks whose headers it knows.
 *  `isApart`: it says that it does not follow its network. */
export type NodeSync = Readonly<{ peers: number | null; missing: number; isApart?: boolean }>;

/** A node that has a header already may be fetching its block: so many are no sign of standing still. */
const fetching = 2;

/** Chains of one machine, for development and tests: blocks come when somebody makes one, and nodes have no peers. */
export const isLocalChain = (network: Network, settings: Pick<ChainSettings, 'chainNames' | 'chainIds'>): boolean =>
  'chains' in network
    ? (network.chains[settings.chainNames[network.id] ?? '']?.isLocal ?? false)
    : network.localChainIds.includes(settings.chainIds[network.id] ?? 0);

/** Why a node stands still, in words, or null where it is fresh. */
export function staleReason(
  network: Pick<Network, 'headMaxAgeSeconds'>,
  { peers, missing, isApart }: NodeSync,
  headTime: Date,
  now: Date,
): string | null {
  if (isApart) return 'The node does not follow its network';
  if (peers === 0) return 'The node has no peers';
  if (missing > fetching) return `The node knows ${missing} headers of blocks that it does not have`;
  const age = Math.floor((now.getTime() - headTime.getTime()) / 1000);
  return age > network.headMaxAgeSeconds ? `The newest block of the node is ${age} seconds old` : null;
}

/** Why a node whose head is below one that it had before knows nothing of now, or null: nodes that share the work
 *  behind one address are a few blocks apart. */
export const behindReason = (network: Pick<Network, 'headMaxGap'>, head: number, before: number): string | null =>
  before - head > network.headMaxGap
    ? `The node is at block ${head}, and was at ${before} before: it has lost blocks, or fetches them`
    : null;

/** What has happened up to here has been taken, of a fresh node whose blocks were all taken. `poolReadAt`: when the
 *  last look at its mempool began that saw all of it; null: none did. */
export function scannedThrough(lookedAt: Date, headTime: Date, poolReadAt: Date | null): Date {
  const byBlocks = Math.min(headTime.getTime(), lookedAt.getTime());
  return new Date(Math.max(byBlocks, Math.min(poolReadAt?.getTime() ?? byBlocks, lookedAt.getTime())));
}

/** The head of a node, and its block at a height that both nodes have. */
export type NodeView = Readonly<{ height: number; hashBelow: string | null }>;

/** What two nodes of one network differ in. `isOurs`: the first may be wrong, and nothing may rest on it. */
export function disagreement(
  network: Pick<Network, 'headMaxGap'>,
  first: NodeView,
  second: NodeView,
  below: number,
): Readonly<{ reason: string; isOurs: boolean }> | null {
  if (first.hashBelow !== second.hashBelow)
    return {
      reason: `At ${below} the block of one node is ${first.hashBelow}, of the other ${second.hashBelow}`,
      isOurs: true,
    };
  const gap = first.height - second.height;
  if (Math.abs(gap) <= network.headMaxGap) return null;
  return {
    reason: `The head of the first node is at ${first.height}, of the second at ${second.height}`,
    isOurs: gap < 0,
  };
}
