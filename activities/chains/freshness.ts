import { networks, type NetworkId } from '../../domain/chains/assets';
import { behindReason, disagreement, isLocalChain, scannedThrough, staleReason } from '../../domain/chains/freshness';
import { markScanned, markStale, type Cursor } from '../../db/chains/cursor';
import { openIncidentAgain, resolveIncident } from '../../db/incidents';
import { requiredDepth } from '../../db/payments/payments';
import type { FollowerDeps } from './deps';

/** One look at a network. `poolReadAt`: when the last look at its whole mempool began. */
export type Look = Readonly<{
  lookedAt: Date;
  head: Readonly<{ height: number; hash: string; time: number }>;
  poolReadAt: Date | null;
}>;

/** Says how far the network has been scanned. Of a node that stands still that stays as it was: nothing expires, and
 *  nothing is sent, until it is fresh again. */
export async function noteScanned(deps: FollowerDeps, cursor: Cursor, look: Look): Promise<void> {
  const { db, adapter, config } = deps;
  const network = networks[adapter.network];
  const headTime = new Date(look.head.time * 1000);
  const isLocal = isLocalChain(network, config.chain);
  const reason =
    (await difference(deps, look)) ??
    behindReason(network, look.head.height, cursor.height) ??
    (isLocal ? null : staleReason(network, await adapter.sync(), headTime, look.lookedAt));
  if (reason !== null) return noteStale(deps, look.head, reason);
  // Only what has been taken whole counts as scanned: a head we could not reach yet postpones expiry, and so does one
  // that is behind what it was.
  if (cursor.height !== look.head.height) return;
  const through = isLocal ? look.lookedAt : scannedThrough(look.lookedAt, headTime, look.poolReadAt);
  await markScanned(db.manager, network.id, through, look.head.height);
  await resolveIncident(db, staleIncident(network.id));
}

const staleIncident = (network: NetworkId) =>
  ({ kind: 'node-stale', subject: { kind: 'network', id: network } }) as const;

/** Nothing rests on what the node says until it is fresh again. */
export async function noteStale({ db, adapter, log }: FollowerDeps, head: Look['head'], reason: string): Promise<void> {
  const { network } = adapter;
  log.warn({ network, reason }, 'The node stands still');
  await db.transaction(async (tx) => {
    await markStale(tx, network, reason);
    await openIncidentAgain(tx, { ...staleIncident(network), details: { reason, head } });
  });
}

/** Compares the node with the second one, where there is one that answers: why ours may be wrong, or null. */
async function difference({ db, adapter, second, config, log }: FollowerDeps, { head }: Look): Promise<string | null> {
  if (!second) return null;
  const { network } = adapter;
  const incident = { kind: 'nodes-disagree', subject: { kind: 'network', id: network } } as const;
  let found: ReturnType<typeof disagreement>;
  try {
    const other = await second.head();
    const below = Math.max(0, Math.min(head.height, other.height) - requiredDepth(network, config.confirmations));
    const [ours, theirs] = await Promise.all([adapter.blockHash(below), second.blockHash(below)]);
    found = disagreement(
      networks[network],
      { height: head.height, hashBelow: ours },
      { height: other.height, hashBelow: theirs },
      below,
    );
  } catch (error) {
    log.warn({ network, error: (error as Error).message }, 'The second node does not answer');
    return null;
  }
  if (!found) {
    await resolveIncident(db, incident);
    return null;
  }
  log.warn({ network, ...found }, 'Two nodes disagree');
  await openIncidentAgain(db, { ...incident, details: found });
  return found.isOurs ? found.reason : null;
}
