import type { NodeNow } from '../../domain/lightning/availability';
import type { Queryable } from '../query';

/** What our Lightning node said last, for processes that do not speak to it. */

/** Satoshi. */
export type NodeLook = Readonly<{
  /** Its public key, hex. */
  key: string;
  height: number;
  isSynced: boolean;
  /** Channels that are up. */
  channels: number;
  receivable: bigint;
  sendable: bigint;
}>;

/** Notes what the node says now. false: it is another node than the one that the books are of, and nothing was
 *  noted. */
export async function noteNode(db: Queryable, look: NodeLook): Promise<boolean> {
  const rows = await db.query<unknown[]>(
    `INSERT INTO lightning_node (node_key, height, is_synced, channels, receivable, sendable, looked_at)
       VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())
     ON CONFLICT (id) DO UPDATE
       SET height = EXCLUDED.height, is_synced = EXCLUDED.is_synced, channels = EXCLUDED.channels,
           receivable = EXCLUDED.receivable, sendable = EXCLUDED.sendable, looked_at = EXCLUDED.looked_at
       WHERE lightning_node.node_key = EXCLUDED.node_key
     RETURNING node_key`,
    [look.key, look.height, look.isSynced, look.channels, look.receivable.toString(), look.sendable.toString()],
  );
  return rows.length > 0;
}

/** How the node is, by what it said last; null: there was none yet. */
export async function nodeNow(db: Queryable): Promise<NodeNow | null> {
  const [row] = await db.query<Array<Omit<NodeNow, 'receivable'> & { receivable: string }>>(
    `SELECT extract(epoch FROM clock_timestamp() - looked_at)::float8 AS "ageSeconds", is_synced AS "isSynced",
            receivable::text AS receivable
       FROM lightning_node`,
  );
  return row ? { ...row, receivable: BigInt(row.receivable) } : null;
}

/** The key of the node that the books are of, and for how long nobody has heard of it (seconds); null: there was none
 *  yet. */
export async function knownNode(db: Queryable): Promise<Readonly<{ key: string; ageSeconds: number }> | null> {
  const [row] = await db.query<Array<{ key: string; ageSeconds: number }>>(
    `SELECT node_key AS key, extract(epoch FROM clock_timestamp() - looked_at)::float8 AS "ageSeconds"
       FROM lightning_node`,
  );
  return row ?? null;
}
