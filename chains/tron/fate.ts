import { DomainError } from '../../domain/errors';
import type { BlockAnswer } from './answers';
import { readAt, readNewest } from './blocks';
import type { Ask } from './http';
import { heightIn, taposOf, type TronPlan } from './plan';
import { readInfo } from './sightings';

/** What became of a signed transaction, as far as the final part of the chain tells.
 *  `open`: blocks may still take it. `mined`: a final block has it. `void`: no block has it and none ever can; the
 *  block named is the one that proves it. `isOffChain`: the block that it refers to is none of the final chain. */
export type Fate =
  | Readonly<{ state: 'open'; reason: string; isOffChain?: true }>
  | Readonly<{ state: 'mined'; height: number; blockHash: string }>
  | Readonly<{ state: 'void'; height: number; blockHash: string; isOffChain?: true }>;

/** What was signed, as far as its fate depends on it. */
type Signed = Readonly<{ txId: string }> & Pick<TronPlan, 'reference' | 'expiresAt'>;

/** No block takes a transaction whose parent is of its `expiration` or later, and none that does not descend from its
 *  reference (Transactions, developers.tron.network). So the blocks after the reference, up to the first that is of the
 *  expiration or later, are all that can have it: where these are final and without it, it is void. They are read one
 *  by one and each must be the parent of the next, so that the proof rests on no index of the node. Where the final
 *  block at the reference's height is another, nothing on this chain descends from the reference. The node has called
 *  two blocks final then, and one of them is none: the same blocks are read all the same, so that the chain which it
 *  calls final now has lived through the whole life of the transaction without it. Where that life is over before the
 *  chain has come to the height of the reference, no block is left that could have it. The node's final index of
 *  transactions is asked as well; where the two differ, the node is not believed (NODE_UNREACHABLE).
 *  docs/decisions/0103-what-nobody-could-end.md */
export async function fateOf(ask: Ask, signed: Signed): Promise<Fate> {
  const solid = await readNewest(ask, 'walletsolidity');
  const height = heightIn(signed.reference);
  const indexedAt = async (): Promise<number | null> =>
    (await readInfo(ask, signed.txId, 'walletsolidity'))?.height ?? null;
  const isOver = solid.time >= signed.expiresAt;
  if (solid.height < height) return isOver ? beforeReference(signed, solid, await indexedAt()) : openAt(solid);
  const first = await readFinal(ask, height);
  const off = taposOf(first.id).hash === taposOf(signed.reference).hash ? {} : { isOffChain: true as const };
  if (!isOver && (await indexedAt()) === null) return { ...openAt(solid), ...off };
  const end = await walk(ask, signed, first, solid.height);
  const indexed = await indexedAt();
  if (end === null) {
    // What the index knows of later blocks than those read is told at the next look.
    if (indexed !== null && indexed <= solid.height) throw contradiction(signed.txId, indexed, null);
    return { ...openAt(solid), ...off };
  }
  const { block, isIn } = end;
  if (isIn ? indexed !== block.height : indexed !== null)
    throw contradiction(signed.txId, indexed, isIn ? block.height : null);
  if (isIn) return { state: 'mined', height: block.height, blockHash: block.id };
  return { state: 'void', height: block.height, blockHash: block.id, ...off };
}

const openAt = ({ height }: BlockAnswer) =>
  ({ state: 'open', reason: `The newest final block, ${height}, is before its expiration` }) as const;

/** Its life is over, and the chain has not come to the height of the block that it refers to: that block is of another
 *  chain, and all that could have it on this one are of its expiration or later. */
function beforeReference({ txId }: Signed, { height, id }: BlockAnswer, indexed: number | null): Fate {
  if (indexed !== null) throw contradiction(txId, indexed, null);
  return { state: 'void', height, blockHash: id, isOffChain: true };
}

const contradiction = (txId: string, index: number | null, block: number | null): DomainError =>
  new DomainError(
    'NODE_UNREACHABLE',
    `The node contradicts itself on ${txId}: in block ${index ?? 'none'} by its index, ` +
      `${block ?? 'none'} by its blocks`,
  );

/** The block that decides: the one that has the transaction, or the first of its expiration or later. null: neither is
 *  final yet. Blocks that are not each other's children are refused. */
async function walk(
  ask: Ask,
  { txId, expiresAt }: Signed,
  first: BlockAnswer,
  solidHeight: number,
): Promise<Readonly<{ block: BlockAnswer; isIn: boolean }> | null> {
  let before = first;
  while (before.height < solidHeight) {
    const block = await readFinal(ask, before.height + 1);
    if (block.parentId !== before.id)
      throw new DomainError('NODE_UNREACHABLE', `Block ${block.id} is no child of ${before.id}`);
    const isIn = block.transactions.some((tx) => tx.txId === txId);
    if (isIn || block.time >= expiresAt) return { block, isIn };
    before = block;
  }
  return null;
}

async function readFinal(ask: Ask, height: number): Promise<BlockAnswer> {
  const block = await readAt(ask, height, 'walletsolidity');
  if (block?.height !== height) throw new DomainError('NODE_UNREACHABLE', `The node lacks its final block ${height}`);
  return block;
}
