import type { ChainNode, Sighting } from '../../domain/chains/chain';
import { base58Of } from './address';
import { fields, infoOf, isDone, type InfoAnswer } from './answers';
import { readAt, readBlock, readNewest, type Reading, type View } from './blocks';
import type { Ask } from './http';
import { heightIn } from './plan';
import { tokenMoves, tokenSender } from './transfers';

/** Where a transaction is, whether it moved what was seen, and who sent it. */

export const readInfo = (ask: Ask, txId: string, view: View = 'wallet'): Promise<InfoAnswer | null> =>
  ask(`/${view}/gettransactioninfobyid`, { value: txId }, infoOf);

const isPending = (ask: Ask, txId: string): Promise<boolean> =>
  ask('/wallet/gettransactionfrompending', { value: txId }, (answer) => fields(answer, 'A transaction').txID === txId);

export async function lookUp(ask: Ask, { tokens }: Reading, txId: string): Promise<Sighting> {
  const info = await readInfo(ask, txId);
  if (!info) return (await isPending(ask, txId)) ? { state: 'pool' } : { state: 'unknown' };
  const [block, head] = await Promise.all([readAt(ask, info.height), readNewest(ask, 'wallet')]);
  if (!block?.transactions.some((tx) => tx.txId === txId)) return { state: 'unknown' };
  return {
    state: 'mined',
    blockHash: block.id,
    height: block.height,
    confirmations: Math.max(0, head.height - block.height + 1),
    success: isDone(info),
    feeUnits: info.fee,
    moves: tokenMoves(info, tokens),
  };
}

type Seen = Parameters<ChainNode['verify']>[0];

/** The transfer again, from the block with this id and no other of its height. */
export async function verify(
  ask: Ask,
  reading: Reading,
  { txId, index, to, tag, currency }: Seen,
  hash: string,
): Promise<bigint | null> {
  const block = await readBlock(ask, heightIn(hash), reading);
  if (block?.hash !== hash || tag !== undefined) return null;
  const found = block.transfers.find((one) => one.txId === txId && one.index === index);
  return found && found.to === to && found.currency === currency ? found.units : null;
}

export async function sourcesOf(ask: Ask, { txId, index }: Pick<Seen, 'txId' | 'index'>): Promise<string[]> {
  const info = await readInfo(ask, txId);
  if (!info) return [];
  if (index >= 0) return tokenSender(info.logs[index]);
  const tx = (await readAt(ask, info.height))?.transactions.find((one) => one.txId === txId);
  const from = tx?.transfer && base58Of(tx.transfer.from);
  return from ? [from] : [];
}
