import type { Currency } from '../../domain/chains/assets';
import type { Block, Traced, Transfer } from '../../domain/chains/chain';
import type { NodeSync } from '../../domain/chains/freshness';
import { DomainError } from '../../domain/errors';
import { inParallel, RpcError, type Rpc } from '../json-rpc';
import {
  isMined,
  numberOf,
  quantity,
  readBlockBy,
  readReceipt,
  unlessRefused,
  type BlockAnswer,
  type Receipt,
} from './answers';
import { bloomOf } from './bloom';
import type { EvmChain } from './codec';
import { checkDecimals } from './token-decimals';
import type { Tracer } from './traces';
import { ownTransfer, tokenTransfers, type Tokens } from './transfers';

/** Checks once that the node is of the chain: a node of another would make every answer wrong, and so would a token
 *  that counts otherwise. */
export function chainCheck(rpc: Rpc, name: string, chain: EvmChain): () => Promise<void> {
  let isRightChain = false;
  return async () => {
    if (isRightChain) return;
    const id = BigInt(await rpc<string>('eth_chainId'));
    if (id !== BigInt(chain.chainId))
      throw new DomainError('NODE_UNREACHABLE', `The node is on chain ${id}, and ${name} is ${chain.chainId}`);
    await checkDecimals(chain, rpc);
    isRightChain = true;
  };
}

export async function readHead(rpc: Rpc): Promise<{ height: number; hash: string; time: number }> {
  const block = await readBlockBy(rpc, 'latest', false);
  if (!block) throw new DomainError('NODE_UNREACHABLE', 'The node has no block');
  return { height: numberOf(block.number), hash: block.hash, time: numberOf(block.timestamp) };
}

export async function readFinalHeight(rpc: Rpc): Promise<number> {
  const block = await unlessRefused(readBlockBy(rpc, 'finalized', false));
  return block ? numberOf(block.number) : 0;
}

export async function readSync(rpc: Rpc): Promise<NodeSync> {
  const [peers, syncing] = await Promise.all([
    unlessRefused(rpc<string>('net_peerCount')),
    unlessRefused(rpc<false | { currentBlock?: string; highestBlock?: string }>('eth_syncing')),
  ]);
  const { currentBlock = '0x0', highestBlock = '0x0' } = syncing || {};
  return {
    peers: peers === null ? null : numberOf(peers),
    missing: Math.max(0, numberOf(highestBlock) - numberOf(currentBlock)),
  };
}

/** How the transfers of a block are found. */
type Reading = Readonly<{ native: Currency; tokens: Tokens; tracer: Tracer }>;

export async function readBlock(rpc: Rpc, height: number, { native, tokens, tracer }: Reading): Promise<Block | null> {
  const block = await readBlockBy(rpc, quantity(height), true);
  if (!block) return null;
  const txIds = block.transactions.map((tx) => tx.hash);
  const [receipts, { traces, inner }] = await Promise.all([receiptsOf(rpc, block), tracer.ofBlock(block.hash, txIds)]);
  checkReceipts(height, block, receipts);
  const mined = receipts.filter(isMined);
  const ok = new Set(mined.map((receipt) => receipt.transactionHash));
  const direct = block.transactions.flatMap((tx): Transfer[] => {
    const own = ok.has(tx.hash) ? ownTransfer(tx, native) : undefined;
    return own && own.units > 0n ? [own] : [];
  });
  return {
    height,
    hash: block.hash,
    parentHash: block.parentHash,
    time: numberOf(block.timestamp),
    transfers: [
      ...direct,
      ...inner.filter((transfer) => ok.has(transfer.txId)),
      ...mined.flatMap((receipt) => tokenTransfers(receipt, tokens)),
    ],
    txIds,
    spent: new Map(),
    ...(traces ? { traces } : {}),
  };
}

async function receiptsOf(rpc: Rpc, block: BlockAnswer): Promise<Receipt[]> {
  if (!block.transactions.length) return [];
  try {
    const receipts = await rpc<Receipt[] | null>('eth_getBlockReceipts', [block.number]);
    if (receipts) return receipts;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error; // a node without this method is asked one by one
  }
  const one = await inParallel(block.transactions, 8, (tx) => readReceipt(rpc, tx.hash));
  return one.map((receipt, index) => {
    if (!receipt) throw new DomainError('NODE_UNREACHABLE', `No receipt of ${block.transactions[index]!.hash} yet`);
    return receipt;
  });
}

function checkReceipts(height: number, block: BlockAnswer, receipts: readonly Receipt[]): void {
  if (receipts.some((receipt) => receipt.blockHash !== block.hash) || receipts.length !== block.transactions.length)
    throw new DomainError('NODE_UNREACHABLE', `Block ${height} changed while it was read`);
  if (bloomOf(receipts.flatMap((receipt) => receipt.logs)) !== block.logsBloom.toLowerCase())
    throw new DomainError('NODE_UNREACHABLE', `The logs of block ${height} are not those that its header states`);
}

export async function readTraces(rpc: Rpc, tracer: Tracer, hash: string): Promise<Traced> {
  const block = await rpc<{ timestamp: string; transactions: string[] } | null>('eth_getBlockByHash', [hash, false]);
  if (!block) return { state: 'failed', reason: 'The node does not know the block' };
  const { traces, inner } = await tracer.ofBlock(hash, block.transactions, true);
  if (traces && traces.state !== 'read') return { state: 'failed', reason: traces.reason };
  return { state: 'read', time: numberOf(block.timestamp), transfers: inner };
}
