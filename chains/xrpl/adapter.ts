import type { ExpiringNetwork } from '../../domain/chains/assets';
import type { Block, ChainAdapter, Sighting, Transfer } from '../../domain/chains/chain';
import type { NodeLogin } from '../node-http';
import type { XrplChain } from './chain';
import { xrplChainCodec } from './chain-codec';
import type { XrplLedger } from './ledgers';
import { ofNetwork, xrplNode, type XrplNode } from './node';
import { xrplPlanning } from './planning';
import type { Unclear, XrplTransfer } from './transfers';

/** The XRP Ledger in the words of the other families: its validated ledgers are blocks that nothing takes back. */

type Place = Pick<XrplTransfer | Unclear, 'txId' | 'index' | 'to' | 'tag' | 'units'>;

const transferOf = (currency: string | null, { txId, index, to, tag, units }: Place): Transfer => ({
  ...{ txId, index, to, currency, units, inputs: [] },
  ...(tag === null ? {} : { tag }),
});

/** What the node says in two ways that differ comes as an asset that nobody knows: a row of ours says that something
 *  came, nothing is credited, and the comparison of books and chain finds the rest. */
export const blockOf = (native: string, { transfers, unclear, ...ledger }: XrplLedger): Block => ({
  ...{ height: ledger.height, hash: ledger.hash, parentHash: ledger.parentHash, time: ledger.time },
  transfers: [
    ...transfers.map((transfer) => transferOf(native, transfer)),
    ...unclear.map((transfer) => transferOf(null, transfer)),
  ],
  txIds: ledger.txIds,
  spent: new Map(),
});

async function lookUp(node: XrplNode, txId: string): Promise<Sighting> {
  const [found, head] = [await node.find(txId), await node.head()];
  if (found.state !== 'validated') return found;
  const { height, ledgerHash: blockHash, success, feeDrops: feeUnits } = found;
  const confirmations = Math.max(1, head.height - height + 1);
  return { state: 'mined', blockHash, height, confirmations, success, feeUnits, moves: [] };
}

export function xrplAdapter(network: ExpiringNetwork, chain: XrplChain, login: NodeLogin): ChainAdapter {
  const node = ofNetwork(xrplNode(login), chain);
  return {
    ...xrplChainCodec(network, chain),
    ...xrplPlanning(network, node),
    async head() {
      const { height, hash, time } = await node.head();
      return { height, hash, time };
    },
    finalHeight: async () => (await node.head()).height,
    async sync() {
      const { peers, isFollowing } = await node.state();
      return { peers, missing: 0, isApart: !isFollowing };
    },
    async readBlock(height) {
      const ledger = await node.readLedger(height);
      return ledger && blockOf(network.native, ledger);
    },
    readTraces: () => Promise.reject(new Error('A ledger says all that it moves')),
    blockHash: (height) => node.ledgerHash(height),
    readMempool: () => Promise.resolve({ ids: new Set(), read: new Set(), failed: new Map(), transfers: [] }),
    pooledSince: () => Promise.resolve(new Map()),
    lookUp: (txId) => lookUp(node, txId),
    verify: ({ txId, index, to, tag }, hash) => node.verify({ txId, index, to, tag: tag ?? null }, hash),
    async sources({ txId }) {
      const sender = await node.sender(txId);
      return sender ? [sender.address] : [];
    },
    holding: async (address, _currency, height) => (await node.account(address, height))?.drops ?? 0n,
    unspent: () => Promise.resolve(null),
    nextNonce: () => Promise.resolve(null),
    broadcast: (raw) => node.broadcast(raw),
    expiring: node.expiring,
  };
}
