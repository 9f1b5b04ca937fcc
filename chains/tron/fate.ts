import { DomainError } from '../../domain/errors';
import type { BlockAnswer } from './answers';
import { readAt, readNewest } from './blocks';
import type { Ask } from './http';
import { heightIn, taposOf, type TronPlan } from './plan';
import { readInfo } from './sightings';

/** What became of a signed transaction, as far as the final part of the chain tells.
 *  `open`: blocks may still take it. `mined`: a final block has it. `void`: no block has it and none ever can; the
 *  block named is the one that proves it. */
export type Fate =
  | Readonly<{ state: 'open'; reason: string }>
  | Readonly<{ state: 'mined'; height: number; blockHash: string }>
  | Readonly<{ state: 'void'; height: number; blockHash: string }>;

/** What was signed, as far as its fate depends on it. */
type Signed = Readonly<{ txId: string }> & Pick<TronPlan, 'reference' | 'expiresAt'>;

/** No block takes a transaction whose parent is of its `expiration` or later, and none that does not descend from its
 *  reference (Transactions, developers.tron.network). So the blocks after the reference, up to the first that is of the
 *  expiration or later, are all that can have it: where these are final and without it, it is void. They are read one
 *  by one and each must be the parent of the next, so that the proof rests on no index of the node. Where the final
 *  block at the reference's height is another, nothing on this chain descends from the reference, and it is void at
 *  once. The node's final index of transactions is asked as well; where the two differ, the node is not believed
 *  (NODE_UNREACHABLE). */
export async function fateOf(ask: Ask, signed: Signed): Promise<Fate> {
  const solid = await readNewest(ask, 'walletsolidity');
  const open = { state: 'open', reason: `The newest final block, ${solid.height}, is before its expiration` } as const;
  const indexedAt = async (): Promise<number | null> =>
    (await readInfo(ask, signed.txId, 'walletsolidity'))?.height ?? null;
  if (solid.height < heightIn(signed.reference)) return open;
  const first = await readFinal(ask, heightIn(signed.reference));
  const descends = taposOf(first.id).hash === taposOf(signed.reference).hash;
  if (descends && solid.time < signed.expiresAt && (await indexedAt()) === null) return open;
  const end = descends ? await walk(ask, signed, first, solid.height) : { block: first, isIn: false };
  const indexed = await indexedAt();
  if (end === null) {
    // What the index knows of later blocks than those read is told at the next look.
    if (indexed !== null && indexed <= solid.height) throw contradiction(signed.txId, indexed, null);
    return open;
  }
  const { block, isIn } = end;
  if (isIn ? indexed !== block.height : indexed !== null)
    throw contradiction(signed.txId, indexed, isIn ? block.height : null);
  return { state: isIn ? 'mined' : 'void', height: block.height, blockHash: block.id };
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
