import type { Queryable } from '../pricing/pricing';

/** How many seconds the follower of each network is behind the database's clock; networks never scanned are missing. */
export async function scanProgress(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<Array<{ network: string; lag: number }>>(
    'SELECT network, extract(epoch FROM clock_timestamp() - scanned_through)::float8 AS lag FROM chain_cursor',
  );
  return new Map(rows.map(({ network, lag }) => [network, lag]));
}
