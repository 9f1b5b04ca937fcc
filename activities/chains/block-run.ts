import type { Block, ChainNode } from '../../domain/chains/chain';
import type { GoOn } from './deps';

/** A run: blocks that a follower reads before it takes them, each the child of the one before it. The first run is
 *  short, so that a payment in the next block does not wait for many others to be read. */
export const firstRun = 32;
export const nextRun = (most: number): number => Math.min(8 * most, 1000);

/** A run ends once its blocks are this heavy together. */
const mostWeight = 5000;
/** After blocks up to this weight several are read at once; heavier ones are read one by one, as their traces cost the
 *  node much. */
const lightWeight = 100;
const atOnce = 4;

/** Transfers, transactions and spent outputs. */
const weightOf = ({ transfers, txIds, spent }: Block): number => transfers.length + txIds.length + spent.size;

/** `isForked`: the next block of the node is not the child of the last one of these. */
type BlockRun = Readonly<{ blocks: readonly Block[]; isForked: boolean }>;

/** Reads the blocks after `from`: at most `most`, up to the height `upTo`, and as far as the node has them. Throws only
 *  where the first of them cannot be read: a block that cannot be read does not hold up those before it. */
export async function readRun(
  node: Pick<ChainNode, 'readBlock'>,
  from: Readonly<{ height: number; hash: string }>,
  upTo: number,
  most: number,
  goOn: GoOn,
): Promise<BlockRun> {
  const blocks: Block[] = [];
  const last = Math.min(upTo, from.height + most);
  for (let weight = 0, width = 1; weight <= mostWeight && from.height + blocks.length < last;) {
    goOn();
    const next = from.height + blocks.length + 1;
    const heights = Array.from({ length: Math.min(width, last - next + 1) }, (_, n) => next + n);
    const answers = await Promise.allSettled(heights.map((height) => node.readBlock(height)));
    width = atOnce;
    for (const answer of answers) {
      if (answer.status === 'rejected' && !blocks.length) throw answer.reason;
      if (answer.status === 'rejected' || !answer.value) return { blocks, isForked: false };
      const block = answer.value;
      if (block.parentHash !== (blocks.at(-1) ?? from).hash) return { blocks, isForked: true };
      blocks.push(block);
      weight += weightOf(block);
      if (weightOf(block) > lightWeight) width = 1;
    }
  }
  return { blocks, isForked: false };
}
