import type { UtxoChain, UtxoNetwork } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { jsonRpc } from '../json-rpc';
import type { NodeLogin } from '../node-http';
import { readBlock, readHead, readSync } from './blocks';
import { utxoCodec } from './codec';
import { pooledSince, readMempool } from './mempool';
import { readBlockHash } from './reads';
import { broadcast, feeEstimator } from './sending';
import { lookUp, sourcesOf, verify } from './sightings';
import { transferReader } from './transactions';

/** Bitcoin Core, btcd, or a node that descends from them, with an index of all transactions (`txindex`). */
export function utxoAdapter(
  network: UtxoNetwork,
  options: Readonly<{ login: NodeLogin; chain: UtxoChain }>,
): ChainAdapter {
  const rpc = jsonRpc(options.login.url, options.login.user, options.login.password);
  const { chain } = options;
  const transfersOf = transferReader(network, chain);
  return {
    ...utxoCodec(network, chain),
    head: () => readHead(rpc),
    finalHeight: () => Promise.resolve(null),
    sync: () => readSync(rpc),
    blockHash: (height) => readBlockHash(rpc, height),
    readBlock: (height) => readBlock(rpc, transfersOf, height),
    readTraces: () => Promise.resolve({ state: 'failed', reason: 'Nothing is traced on this network' }),
    readMempool: (known, mostMs) => readMempool(rpc, transfersOf, known, mostMs),
    pooledSince: (txIds) => pooledSince(rpc, txIds),
    lookUp: (txId) => lookUp(rpc, txId),
    verify: (transfer, hash) => verify(rpc, transfersOf, transfer, hash),
    sources: ({ txId }) => sourcesOf(rpc, chain, txId),
    holding: () => Promise.resolve(null),
    nextNonce: () => Promise.resolve(null),
    estimateGas: () => Promise.resolve(null),
    unspent: async (txId, vout) => (await rpc<object | null>('gettxout', [txId, vout, false])) !== null,
    estimateFee: feeEstimator(rpc, network, chain),
    broadcast: (raw) => broadcast(rpc, raw),
  };
}
