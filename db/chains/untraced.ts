import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Block } from '../../domain/chains/chain';
import { openIncidentAgain, resolveIncident } from '../incidents';
import { changedCount, type Queryable } from '../query';

/** Blocks whose traces a node did not tell. Each is remembered, and read again until its trace comes or every address
 *  that was watched in it was looked at by balance. */

/** So often a trace is asked for before balances are looked at, and in all. */
const triesBeforeScan = 3;
const mostTries = 8;

const offIncident = (network: NetworkId) =>
  ({ kind: 'traces-off', subject: { kind: 'network', id: network } }) as const;
const untracedIncident = (network: NetworkId) =>
  ({ kind: 'untraced-block', subject: { kind: 'network', id: network } }) as const;

/** Keeps what the node told of the traces of a block, in the transaction that takes the block. */
export async function noteTraces(tx: EntityManager, network: NetworkId, block: Block): Promise<void> {
  const { traces } = block;
  if (!traces) return;
  if (traces.state === 'failed') {
    await tx.query(
      `INSERT INTO untraced_block (network, hash, height, reason, next_try_at)
       VALUES ($1, $2, $3, $4, clock_timestamp() + interval '15 seconds') ON CONFLICT (network, hash) DO NOTHING`,
      [network, block.hash, block.height, traces.reason],
    );
    const { height, hash } = block;
    await openIncidentAgain(tx, { ...untracedIncident(network), details: { height, hash, reason: traces.reason } });
  }
  if (traces.state === 'off') await noteTracesOff(tx, network, traces.reason);
  if (traces.state === 'read') await noteTracesOn(tx, network, block);
}

async function noteTracesOff(tx: EntityManager, network: NetworkId, reason: string): Promise<void> {
  const changed = await changedCount(
    tx,
    'UPDATE chain_cursor SET traces_off_since = clock_timestamp() WHERE network = $1 AND traces_off_since IS NULL',
    [network],
  );
  if (changed) await openIncidentAgain(tx, { ...offIncident(network), details: { reason } });
}

/** Traces came back: what the blocks without them brought to addresses that nobody looked at is found by a scan. */
async function noteTracesOn(tx: EntityManager, network: NetworkId, { height }: Block): Promise<void> {
  const changed = await changedCount(
    tx,
    'UPDATE chain_cursor SET traces_off_since = NULL WHERE network = $1 AND traces_off_since IS NOT NULL',
    [network],
  );
  if (!changed) return;
  await resolveIncident(tx, offIncident(network));
  // A scan under way has passed addresses before these blocks came: it begins again.
  await tx.query(
    `INSERT INTO balance_scan (network, height) VALUES ($1, $2)
     ON CONFLICT (network) DO UPDATE
       SET height = EXCLUDED.height, after_address = '', started_at = clock_timestamp()`,
    [network, height],
  );
}

/** A block to ask the trace of once more, the one that waits longest; null: none is due. */
export type DueBlock = Readonly<{ height: number; hash: string; tries: number }>;
export async function dueBlock(db: Queryable, network: NetworkId): Promise<DueBlock | null> {
  const [row] = await db.query<DueBlock[]>(
    `SELECT height::int AS height, hash, tries FROM untraced_block
      WHERE network = $1 AND next_try_at <= clock_timestamp() AND tries < $2 ORDER BY next_try_at LIMIT 1`,
    [network, mostTries],
  );
  return row ?? null;
}

/** The trace failed again: next time later, at most ten minutes. */
export const noteFailedAgain = (db: Queryable, network: NetworkId, hash: string, reason: string): Promise<unknown> =>
  db.query(
    `UPDATE untraced_block SET tries = tries + 1, reason = $3,
            next_try_at = clock_timestamp() + least(interval '10 minutes', interval '15 seconds' * power(2, tries))
      WHERE network = $1 AND hash = $2`,
    [network, hash, reason],
  );

/** The trace was read, or the block is gone. */
export async function forgetUntraced(tx: EntityManager, network: NetworkId, hash: string): Promise<void> {
  await tx.query('DELETE FROM untraced_block WHERE network = $1 AND hash = $2', [network, hash]);
  await resolveIfScanned(tx, network);
}

/** The incident is over once no block is left whose money might be unseen. */
async function resolveIfScanned(tx: EntityManager, network: NetworkId): Promise<void> {
  const [open] = await tx.query<unknown[]>(
    'SELECT FROM untraced_block WHERE network = $1 AND scanned_at IS NULL LIMIT 1',
    [network],
  );
  if (!open) await resolveIncident(tx, untracedIncident(network));
}

/** Whether money may have come that no transfer tells of: balances are looked at then. */
export async function isUntraced(db: Queryable, network: NetworkId): Promise<boolean> {
  const [row] = await db.query<Array<{ untraced: boolean }>>(
    `SELECT traces_off_since IS NOT NULL
         OR EXISTS (SELECT FROM untraced_block WHERE network = $1 AND scanned_at IS NULL) AS untraced
       FROM chain_cursor WHERE network = $1`,
    [network],
  );
  return row?.untraced ?? false;
}

/** A scan of every address by balance, which covers the blocks up to `height`; the one under way stays. */
const startScan = (tx: Queryable, network: NetworkId, height: number): Promise<unknown> =>
  tx.query('INSERT INTO balance_scan (network, height) VALUES ($1, $2) ON CONFLICT (network) DO NOTHING', [
    network,
    height,
  ]);

/** Blocks above `height` are gone: nobody waits for their traces, and looks at their balances say nothing. */
export async function rewindLooks(tx: EntityManager, network: NetworkId, height: number): Promise<void> {
  const of = [network, height];
  await tx.query('DELETE FROM untraced_block WHERE network = $1 AND height > $2', of);
  await tx.query('DELETE FROM identified_transfer WHERE network = $1 AND height > $2', of);
  await tx.query(
    `UPDATE address SET balance_height = NULL, balance_through = NULL WHERE network = $1 AND balance_height > $2`,
    of,
  );
  // The blocks that come instead are not covered by what the scan has passed.
  await tx.query('UPDATE balance_scan SET height = $2 WHERE network = $1 AND height > $2', of);
  await resolveIfScanned(tx, network);
}

/** Starts a scan where a trace has failed too often, and returns the next addresses of the scan under way, if any. */
export async function nextOfScan(
  db: Queryable,
  network: NetworkId,
  height: number,
  limit: number,
): Promise<{ addresses: string[] } | null> {
  const [failed] = await db.query<unknown[]>(
    'SELECT FROM untraced_block WHERE network = $1 AND scanned_at IS NULL AND tries >= $2 LIMIT 1',
    [network, triesBeforeScan],
  );
  if (failed) await startScan(db, network, height);
  const [scan] = await db.query<Array<{ after_address: string; started_at: Date }>>(
    'SELECT after_address, started_at FROM balance_scan WHERE network = $1',
    [network],
  );
  if (!scan) return null;
  const rows = await db.query<Array<{ address: string }>>(
    `SELECT address FROM address WHERE network = $1 AND address > $2 AND tag = '' AND role = 'deposit'
        AND created_at <= $3
      ORDER BY address LIMIT $4`,
    [network, scan.after_address, scan.started_at, limit],
  );
  return { addresses: rows.map(({ address }) => address) };
}

/** These addresses of the scan were looked at; none: it is over, and so is the wait of the blocks that it covers. */
export async function advanceScan(tx: EntityManager, network: NetworkId, addresses: readonly string[]): Promise<void> {
  const last = addresses.at(-1);
  if (last !== undefined) {
    await tx.query('UPDATE balance_scan SET after_address = $2 WHERE network = $1', [network, last]);
    return;
  }
  await tx.query(
    `UPDATE untraced_block u SET scanned_at = clock_timestamp() FROM balance_scan s
      WHERE s.network = $1 AND u.network = $1 AND u.height <= s.height AND u.scanned_at IS NULL`,
    [network],
  );
  await tx.query('DELETE FROM balance_scan WHERE network = $1', [network]);
  // A trace that comes later than a day after its block names nothing that anybody looks for.
  await tx.query(
    `DELETE FROM untraced_block
      WHERE network = $1 AND scanned_at IS NOT NULL AND created_at < clock_timestamp() - interval '1 day'`,
    [network],
  );
  await resolveIfScanned(tx, network);
}
