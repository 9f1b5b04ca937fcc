import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import { changedCount } from '../query';

/** How far the follower of a network has come. `hash` is the block it stands on. */

export type Cursor = { height: number; hash: string };

export async function readCursor(tx: EntityManager, network: NetworkId): Promise<Cursor | null> {
  const [row] = await tx.query<Cursor[]>('SELECT height::int AS height, hash FROM chain_cursor WHERE network = $1', [
    network,
  ]);
  return row ?? null;
}

/** Where a network is followed from when it is followed for the first time. */
export async function startCursor(tx: EntityManager, network: NetworkId, at: Cursor): Promise<void> {
  await tx.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ($1, $2, $3, $2, clock_timestamp()) ON CONFLICT DO NOTHING`,
    [network, at.height, at.hash],
  );
  await tx.query(
    `INSERT INTO chain_block (network, height, hash, block_time) VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING`,
    [network, at.height, at.hash],
  );
}

/** Another follower has moved the cursor: this one must stop, its reads are void. */
export class CursorLost extends Error {}
export async function moveCursor(tx: EntityManager, network: NetworkId, from: Cursor, to: Cursor): Promise<void> {
  const count = await changedCount(
    tx,
    `UPDATE chain_cursor SET height = $4, hash = $5, head_height = greatest(head_height, $4), updated_at = now()
       WHERE network = $1 AND height = $2 AND hash = $3`,
    [network, from.height, from.hash, to.height, to.hash],
  );
  if (count !== 1) throw new CursorLost(`The cursor of ${network} is no longer at ${from.height}`);
}

/** Keeps how deep a reorganisation was, for the metrics. */
export const noteReorganisation = (tx: EntityManager, network: NetworkId, depth: number): Promise<unknown> =>
  tx.query('UPDATE chain_cursor SET reorganised_at = now(), reorganised_depth = $2 WHERE network = $1', [
    network,
    depth,
  ]);

/** The node has none of the blocks that we remember: it is on another chain, or was reset. The message says so. */
export class NoCommonBlock extends Error {}

/** The newest block that we remember and that the chain still has. `canonical` answers a height's hash now. Throws
 *  NoCommonBlock. */
export async function commonAncestor(
  tx: EntityManager,
  network: NetworkId,
  from: Cursor,
  canonical: (height: number) => Promise<string | null>,
): Promise<Cursor> {
  const known = await tx.query<Cursor[]>(
    'SELECT height::int AS height, hash FROM chain_block WHERE network = $1 AND height <= $2 ORDER BY height DESC',
    [network, from.height],
  );
  for (const block of known) if ((await canonical(block.height)) === block.hash) return block;
  throw new NoCommonBlock(`The node has none of the ${known.length} newest blocks that it had before`);
}

/** Everything that happened up to `through` has been taken, of a node that is fresh: expiry and sending wait
 *  for it. What was taken once stays taken. Invariants: 1.5. */
export const markScanned = (
  tx: EntityManager,
  network: NetworkId,
  through: Date,
  headHeight: number,
): Promise<unknown> =>
  tx.query(
    `UPDATE chain_cursor SET scanned_through = greatest(scanned_through, $2), head_height = $3, updated_at = now(),
            stale_reason = NULL, stale_since = NULL WHERE network = $1`,
    [network, through, headHeight],
  );

/** What the node says is not of now: nothing may expire, and nothing may be sent. */
export const markStale = (tx: EntityManager, network: NetworkId, reason: string): Promise<unknown> =>
  tx.query(
    `UPDATE chain_cursor SET stale_reason = $2, stale_since = coalesce(stale_since, clock_timestamp()),
            updated_at = now() WHERE network = $1`,
    [network, reason],
  );
