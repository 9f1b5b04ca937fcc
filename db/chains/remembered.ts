import type { NetworkId } from '../../domain/chains/assets';
import type { Block } from '../../domain/chains/chain';
import type { Queryable } from '../query';
import type { Cursor } from './cursor';

/** The blocks that a follower remembers, to find after a reorganisation where the old branch and the new one part. Not
 *  every block is remembered, but every one that has rows of ours is: between two neighbours there is nothing of ours.
 *  Going back to the newest one that the chain still has therefore takes back no row whose block is still there. */

type Remembered = Pick<Block, 'height' | 'hash' | 'time'>;

/** Remembers these blocks, and forgets those that are older than the window before the last of them; the newest of the
 *  older ones stays, so that a reorganisation as deep as the window finds a block below it. */
export async function rememberBlocks(
  tx: Queryable,
  network: NetworkId,
  blocks: readonly Remembered[],
  reorgWindow: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO chain_block (network, height, hash, block_time)
     SELECT $1, b.height, b.hash, to_timestamp(b.time)
       FROM unnest($2::bigint[], $3::text[], $4::float8[]) AS b (height, hash, time)
     ON CONFLICT (network, height) DO UPDATE SET hash = EXCLUDED.hash, block_time = EXCLUDED.block_time`,
    [network, blocks.map(({ height }) => height), blocks.map(({ hash }) => hash), blocks.map(({ time }) => time)],
  );
  await tx.query(
    `DELETE FROM chain_block WHERE network = $1
        AND height < (SELECT max(height) FROM chain_block WHERE network = $1 AND height <= $2)`,
    [network, blocks.at(-1)!.height - reorgWindow],
  );
}

/** The newest block at or below a height that we remember. */
export async function rememberedAt(db: Queryable, network: NetworkId, height: number): Promise<Cursor | null> {
  const [block] = await db.query<Cursor[]>(
    `SELECT height::int AS height, hash FROM chain_block WHERE network = $1 AND height <= $2
      ORDER BY height DESC LIMIT 1`,
    [network, height],
  );
  return block ?? null;
}
