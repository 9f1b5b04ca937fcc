import type { Block, Transfer } from '../../domain/chains/chain';
import type { NodeSync } from '../../domain/chains/freshness';
import { DomainError } from '../../domain/errors';
import type { Rpc } from '../json-rpc';
import { readBlockHash, readHeader } from './reads';
import { outpointsOf, type Tx } from './transactions';

/** btcd calls the transactions `rawtx`, Bitcoin Core `tx`. */
type BlockAnswer = { hash: string; height: number; previousblockhash?: string; time: number; tx?: Tx[]; rawtx?: Tx[] };

export async function readHead(rpc: Rpc): Promise<{ height: number; hash: string; time: number }> {
  const hash = await rpc<string>('getbestblockhash');
  const header = await readHeader(rpc, hash);
  if (!header) throw new DomainError('NODE_UNREACHABLE', `The best block ${hash} is gone again`);
  return { height: header.height, hash, time: header.time };
}

export async function readSync(rpc: Rpc): Promise<NodeSync> {
  const [peers, { blocks, headers }] = await Promise.all([
    rpc<number>('getconnectioncount'),
    rpc<{ blocks: number; headers: number }>('getblockchaininfo'),
  ]);
  return { peers, missing: Math.max(0, headers - blocks) };
}

export async function readBlock(rpc: Rpc, transfersOf: (tx: Tx) => Transfer[], height: number): Promise<Block | null> {
  const hash = await readBlockHash(rpc, height);
  if (hash === null) return null;
  const block = await rpc<BlockAnswer>('getblock', [hash, 2]);
  const txs = block.rawtx ?? block.tx ?? [];
  const spent = new Map<string, string>();
  for (const tx of txs) for (const outpoint of outpointsOf(tx)) spent.set(outpoint, tx.txid);
  return {
    height,
    hash,
    parentHash: block.previousblockhash ?? '',
    time: block.time,
    transfers: txs.flatMap(transfersOf),
    txIds: txs.map((tx) => tx.txid),
    spent,
  };
}
