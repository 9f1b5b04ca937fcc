import type { Currency } from '../../domain/chains/assets';
import type { Block } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { blockOf, infosOf, isDone, someBlockOf, type BlockAnswer, type InfoAnswer } from './answers';
import type { Ask } from './http';
import type { TronChain } from './plan';
import { contractTransfers, ownTransfer, tokenTransfers, type Tokens } from './transfers';

/** Blocks as the follower takes them. Times are Unix seconds there, and milliseconds in the answers. */

export const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/** What tells deposits in a block. */
export type Reading = Readonly<{ native: Currency; tokens: Tokens }>;

/** All blocks of a node, or those alone that no reorganisation can take. Solidity HTTP API,
 *  developers.tron.network. */
export type View = 'wallet' | 'walletsolidity';

export const readNewest = (ask: Ask, view: View): Promise<BlockAnswer> => ask(`/${view}/getnowblock`, {}, someBlockOf);

/** null above the head. */
export const readAt = (ask: Ask, height: number, view: View = 'wallet'): Promise<BlockAnswer | null> =>
  ask(`/${view}/getblockbynum`, { num: height }, blockOf);

/** Checks once that the node is of the chain, and what shows its final blocks too: another would make every answer
 *  wrong. */
export function chainCheck(ask: Ask, { genesis }: TronChain): () => Promise<void> {
  let isRightChain = false;
  return async () => {
    if (isRightChain) return;
    for (const view of ['wallet', 'walletsolidity'] as const) {
      const first = await readAt(ask, 0, view);
      if (first?.id !== genesis)
        throw new DomainError('NODE_UNREACHABLE', `The node's first block is ${first?.id ?? 'none'}, not ${genesis}`);
    }
    isRightChain = true;
  };
}

/** A block with what came of its transactions; null above the newest one of the view. */
export async function readWithInfos(
  ask: Ask,
  height: number,
  view: View = 'wallet',
): Promise<Readonly<{ block: BlockAnswer; infos: readonly InfoAnswer[] }> | null> {
  const block = await readAt(ask, height, view);
  if (!block) return null;
  if (block.height !== height)
    throw new DomainError('NODE_UNREACHABLE', `The node answers block ${block.height} for ${height}`);
  if (!block.transactions.length) return { block, infos: [] };
  const infos = await ask(`/${view}/gettransactioninfobyblocknum`, { num: height }, infosOf);
  checkInfos(block, infos);
  return { block, infos };
}

export async function readBlock(ask: Ask, height: number, reading: Reading): Promise<Block | null> {
  const read = await readWithInfos(ask, height);
  return read && made(read.block, read.infos, reading);
}

/** Results are asked for by height: a reorganisation may have come between. */
function checkInfos(block: BlockAnswer, infos: readonly InfoAnswer[]): void {
  const stated = new Set(block.transactions.map(({ txId }) => txId));
  const isOfIt = infos.every(
    (info) => stated.has(info.txId) && info.height === block.height && info.time === block.time,
  );
  if (!isOfIt || new Set(infos.map(({ txId }) => txId)).size !== stated.size || infos.length !== stated.size)
    throw new DomainError('NODE_UNREACHABLE', `The results of block ${block.height} are not those of ${block.id}`);
}

/** TRX that contracts send are told by rows that credit nothing: nodes need not know of them, and what they say of
 *  them is in no signed transaction. docs/decisions/0078-following-tron.md */
function made(block: BlockAnswer, infos: readonly InfoAnswer[], { native, tokens }: Reading): Block {
  const done = infos.filter(isDone);
  const ok = new Set(done.map(({ txId }) => txId));
  return {
    height: block.height,
    hash: block.id,
    parentHash: block.parentId,
    time: seconds(block.time),
    transfers: [
      ...block.transactions.filter(({ txId }) => ok.has(txId)).flatMap((tx) => ownTransfer(tx, native)),
      ...done.flatMap((info) => tokenTransfers(info, tokens)),
      ...done.flatMap(contractTransfers),
    ],
    txIds: block.transactions.map(({ txId }) => txId),
    spent: new Map(),
  };
}
