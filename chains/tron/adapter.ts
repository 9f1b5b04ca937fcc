import type { ExpiringNetwork } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import type { NodeLogin } from '../node-http';
import { tronChainCodec } from './chain-codec';
import { tronNode } from './node';
import { heightIn, type TronChain } from './plan';
import { tronPlanning } from './planning';

/** TRON in the words of the other families. docs/decisions/0078-following-tron.md */

/** The newest final block is 18 behind the newest one while two thirds of the producers agree. A node that shows more
 *  is on a branch of its own, or does not learn what they do. */
const mostUnfinal = 100;

export function tronAdapter(
  network: ExpiringNetwork,
  chain: TronChain,
  logins: Readonly<{ login: NodeLogin; solid?: NodeLogin }>,
): ChainAdapter {
  const node = tronNode(chain, logins);
  const { head, finalHeight, finalHash, readBlock, blockHash, lookUp, sources, broadcast, expiring } = node;
  return {
    ...tronChainCodec(network, chain),
    ...tronPlanning(network, node),
    ...{ head, finalHeight, finalHash, readBlock, blockHash, lookUp, sources, broadcast, expiring },
    // What is credited is in this block of the final ones, however many have come after it: the view of all blocks may
    // be another machine's, on a branch of its own.
    verify: async (transfer, hash) => ((await finalHash(heightIn(hash))) === hash ? node.verify(transfer, hash) : null),
    // Nodes of others, behind one address, tell nobody of their peers.
    sync: async () => {
      const { unfinal, isForked } = await node.views();
      return { peers: null, missing: 0, isApart: isForked || unfinal > mostUnfinal };
    },
    readTraces: () => Promise.reject(new Error('Nothing that a contract sends inside is credited')),
    readMempool: () => Promise.resolve({ ids: new Set(), read: new Set(), failed: new Map(), transfers: [] }),
    pooledSince: () => Promise.resolve(new Map()),
    holding: node.holdingAt,
    unspent: () => Promise.resolve(null),
    nextNonce: () => Promise.resolve(null),
  };
}
