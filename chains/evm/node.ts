import type { EvmNetwork } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { jsonRpc } from '../json-rpc';
import type { NodeLogin } from '../node-http';
import { numberOf, quantity, readBlockBy } from './answers';
import { chainCheck, readBlock, readFinalHeight, readHead, readSync, readTraces } from './blocks';
import { evmCodec, type EvmChain } from './codec';
import { broadcast, estimateFee, gasEstimator, holdingAt } from './sending';
import { lookUpOf, sourcesOf, verify } from './sightings';
import { tracerOf } from './traces';
import { tokensOf } from './transfers';

/** Any EVM node that speaks JSON-RPC; value sent by contracts is seen where it offers `debug_traceBlockByHash`. */
export function evmAdapter(
  network: EvmNetwork,
  options: Readonly<{ login: NodeLogin; chain: EvmChain; warn?: (text: string) => void }>,
): ChainAdapter {
  const rpc = jsonRpc(options.login.url, options.login.user, options.login.password);
  const { chain } = options;
  const { native } = network;
  const tokens = tokensOf(chain);
  const tracer = tracerOf(rpc, native, options.warn);
  const checkChain = chainCheck(rpc, network.name, chain);
  return {
    ...evmCodec(network, chain),
    head: async () => {
      await checkChain();
      return readHead(rpc);
    },
    finalHeight: () => readFinalHeight(rpc),
    sync: () => readSync(rpc),
    blockHash: async (height) => (await readBlockBy(rpc, quantity(height), false))?.hash ?? null,
    readBlock: (height) => readBlock(rpc, height, { native, tokens, tracer }),
    readTraces: (hash) => readTraces(rpc, tracer, hash),
    readMempool: () => Promise.resolve({ ids: new Set(), read: new Set(), failed: new Map(), transfers: [] }),
    pooledSince: () => Promise.resolve(new Map()),
    lookUp: lookUpOf(rpc, tokens),
    verify: (transfer, hash) => verify(rpc, { native, tokens, tracer }, transfer, hash),
    sources: (transfer) => sourcesOf(rpc, transfer),
    holding: (address, currency, height) => holdingAt(rpc, chain, { address, currency, block: quantity(height) }),
    unspent: () => Promise.resolve(null),
    nextNonce: async (address) => numberOf(await rpc<string>('eth_getTransactionCount', [address, 'pending'])),
    estimateFee: () => estimateFee(rpc, network),
    estimateGas: gasEstimator(rpc, chain),
    broadcast: (raw) => broadcast(rpc, raw),
  };
}
