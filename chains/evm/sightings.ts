import { getAddress, type Hex } from 'viem';
import type { Currency } from '../../domain/chains/assets';
import type { Sighting, Transfer } from '../../domain/chains/chain';
import type { Rpc } from '../json-rpc';
import { isMined, numberOf, readBlockBy, readReceipt, readTx, type BlockAnswer, type Receipt } from './answers';
import type { Tracer } from './traces';
import { ownTransfer, tokenMoves, tokenSender, tokenTransfers, type Tokens } from './transfers';

/** Where a transaction is, whether it moved what was seen, and who sent it. */

/** Looks for transactions. Who asks for a block while it is asked for shares the answer: many are looked up at once. */
export function lookUpOf(rpc: Rpc, tokens: Tokens): (txId: string) => Promise<Sighting> {
  const headers = new Map<string, Promise<BlockAnswer | null>>();
  const readHeader = (height: string): Promise<BlockAnswer | null> => {
    const asked = headers.get(height) ?? readBlockBy(rpc, height, false).finally(() => headers.delete(height));
    headers.set(height, asked);
    return asked;
  };
  return async (txId) => {
    const receipt = await readReceipt(rpc, txId);
    if (receipt) {
      const [canonical, head] = await Promise.all([readHeader(receipt.blockNumber), readHeader('latest')]);
      if (canonical?.hash !== receipt.blockHash || !head) return { state: 'unknown' };
      return minedAt(receipt, numberOf(head.number), tokens);
    }
    const tx = await readTx(rpc, txId);
    return tx && tx.blockHash === null ? { state: 'pool' } : { state: 'unknown' };
  };
}

function minedAt(receipt: Receipt, head: number, tokens: Tokens): Sighting {
  const height = numberOf(receipt.blockNumber);
  return {
    state: 'mined',
    blockHash: receipt.blockHash,
    height,
    confirmations: head - height + 1,
    success: isMined(receipt),
    feeUnits: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) + BigInt(receipt.l1Fee ?? 0),
    moves: tokenMoves(receipt, tokens),
  };
}

/** What a second look at a transfer needs. */
type Looking = Readonly<{ native: Currency; tokens: Tokens; tracer: Tracer }>;
type Seen = Pick<Transfer, 'txId' | 'index' | 'to'> & Readonly<{ currency: Currency }>;

export async function verify(
  rpc: Rpc,
  looking: Looking,
  { txId, index, to, currency }: Seen,
  hash: string,
): Promise<bigint | null | 'untraceable'> {
  const receipt = await readReceipt(rpc, txId);
  if (!receipt || receipt.blockHash !== hash || !isMined(receipt)) return null;
  const canonical = await readBlockBy(rpc, receipt.blockNumber, false);
  if (canonical?.hash !== hash) return null;
  const found = await transferAt(rpc, looking, receipt, { txId, index });
  if (found === null) return 'untraceable';
  return found && found.to === to && found.currency === currency ? found.units : null;
}

/** undefined: it is not in the transaction; null: nobody can tell. */
async function transferAt(
  rpc: Rpc,
  { native, tokens, tracer }: Looking,
  receipt: Receipt,
  { txId, index }: Pick<Transfer, 'txId' | 'index'>,
): Promise<Transfer | undefined | null> {
  if (index >= 0) return tokenTransfers(receipt, tokens).find((transfer) => transfer.index === index);
  if (index < -1) return tracer.find(txId, index);
  const tx = await readTx(rpc, txId);
  return tx ? ownTransfer(tx, native) : undefined;
}

export async function sourcesOf(rpc: Rpc, { txId, index }: Pick<Transfer, 'txId' | 'index'>): Promise<string[]> {
  if (index >= 0) return tokenSender((await readReceipt(rpc, txId))?.logs[index]);
  const tx = await readTx(rpc, txId);
  return tx ? [getAddress(tx.from as Hex)] : [];
}
