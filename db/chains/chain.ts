import type { EntityManager } from 'typeorm';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import type { Block, FeeEstimate, Transfer } from '../../domain/chains/chain';
import { add, compare, fromUnits, subtract } from '../../domain/money';
import { freeze } from '../limits/egress';
import { failPoint } from '../fail-point';
import type { Queryable } from '../pricing/pricing';
import { changedCount, changedRows } from '../query';
import { requestSignal, workflowTypeOf } from '../temporal/temporal-requests';

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
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through) VALUES ($1, $2, $3, $2, clock_timestamp()) ON CONFLICT DO NOTHING`,
    [network, at.height, at.hash],
  );
  await tx.query(
    `INSERT INTO chain_block (network, height, hash, block_time) VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING`,
    [network, at.height, at.hash],
  );
}

/** Another follower has moved the cursor: this one must stop, its reads are void. */
export class CursorLost extends Error {}

async function moveCursor(tx: EntityManager, network: NetworkId, from: Cursor, to: Cursor): Promise<void> {
  const count = await changedCount(
    tx,
    `UPDATE chain_cursor SET height = $4, hash = $5, head_height = greatest(head_height, $4), updated_at = now() WHERE network = $1 AND height = $2 AND hash = $3`,
    [network, from.height, from.hash, to.height, to.hash],
  );
  if (count !== 1) throw new CursorLost(`The cursor of ${network} is no longer at ${from.height}`);
}

type Matched = { address: string; role: 'deposit' | 'treasury' | 'gas'; payment_id: string | null };

async function ourAddresses(
  tx: Queryable,
  network: NetworkId,
  addresses: readonly string[],
): Promise<Map<string, Matched>> {
  if (!addresses.length) return new Map();
  const rows = await tx.query<Matched[]>(
    'SELECT address, role, payment_id FROM address WHERE network = $1 AND address = ANY($2)',
    [network, addresses],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

const tellPayment = (tx: EntityManager, id: string): Promise<unknown> =>
  requestSignal(tx, { workflow: 'payment', workflowId: `payment/${id}`, args: [id], signal: 'news', attributes: {} });

/** Tells the workflows of the payments that own these deposits. */
async function tellOwners(tx: EntityManager, depositIds: readonly string[]): Promise<void> {
  if (!depositIds.length) return;
  const owners = await tx.query<Array<{ owner: string }>>(
    `SELECT DISTINCT coalesce(child_payment_id, payment_id) AS owner FROM deposit
      WHERE id = ANY($1::bigint[]) AND role = 'deposit' AND NOT is_dust AND home IS DISTINCT FROM 'own'`,
    [depositIds],
  );
  for (const { owner } of owners) await tellPayment(tx, owner);
}

/** Tells the workflows that carry these intents, each once. */
async function tellSenders(tx: EntityManager, intentIds: readonly string[], only = '%'): Promise<void> {
  if (!intentIds.length) return;
  const rows = await tx.query<Array<{ owner: string }>>(
    `SELECT DISTINCT owner_workflow AS owner FROM intent WHERE id = ANY($1::bigint[]) AND owner_workflow LIKE $2`,
    [intentIds, only],
  );
  for (const { owner } of rows)
    await requestSignal(tx, {
      workflow: workflowTypeOf(owner),
      workflowId: owner,
      args: [owner.split('/')[1]],
      signal: 'news',
      attributes: {},
    });
}

/** Tells those mass payouts alone: many are sent one after the other, and there is room for more. Whoever carries a single intent looks
 *  by itself, and a signal would only lengthen its history. */
export const tellPayouts = (tx: EntityManager, intentIds: readonly string[]): Promise<void> =>
  tellSenders(tx, intentIds, 'payout-batch/%');

/** `since`: Unix seconds by transaction, where the node knows. */
type Arrival = Readonly<
  | { status: 'pool'; since: ReadonlyMap<string, number> }
  | { status: 'mined'; blockHash: string; height: number; time: number }
>;

/** Ids of the transactions among these that pay an address of ours. */
export async function payingUs(db: Queryable, network: NetworkId, transfers: readonly Transfer[]): Promise<string[]> {
  const ours = await ourAddresses(db, network, [...new Set(transfers.map((transfer) => transfer.to))]);
  return [...new Set(transfers.filter((transfer) => ours.has(transfer.to)).map((transfer) => transfer.txId))];
}

const outputsOf = ({ txId, to, currency }: Transfer): string => `${txId} ${to} ${currency ?? ''}`;

/** What each transaction pays to each address, in whole units; an output that was read twice counts once. */
function sumsOf(transfers: readonly Transfer[]): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  for (const transfer of new Map(transfers.map((one) => [`${one.txId}:${one.index}`, one])).values()) {
    if (transfer.currency === null) continue;
    const amount = fromUnits(transfer.units, assetOf(transfer.currency).decimals);
    sums.set(outputsOf(transfer), add(sums.get(outputsOf(transfer)) ?? '0', amount));
  }
  return sums;
}

/** Stores transfers to addresses of ours, and signals payments to which money is new. Returns how many there were. What replaces an
 *  unconfirmed deposit and pays its address at least as much was first seen when that was. Invariants: 3. */
async function storeArrivals(
  tx: EntityManager,
  network: NetworkId,
  transfers: readonly Transfer[],
  arrival: Arrival,
): Promise<number> {
  const ours = await ourAddresses(tx, network, [...new Set(transfers.map((transfer) => transfer.to))]);
  const matched = transfers.filter((transfer) => ours.has(transfer.to) && transfer.units > 0n);
  if (!matched.length) return 0;
  const own = new Set(
    (
      await tx.query<Array<{ tx_id: string }>>('SELECT tx_id FROM attempt WHERE network = $1 AND tx_id = ANY($2)', [
        network,
        [...new Set(matched.map((transfer) => transfer.txId))],
      ])
    ).map((row) => row.tx_id),
  );
  const mined = arrival.status === 'mined' ? arrival : null;
  const since = (txId: string): number | undefined =>
    arrival.status === 'pool' ? arrival.since.get(txId) : arrival.time;
  const fresh: string[] = [];
  const paidTo = sumsOf(matched);
  for (const transfer of matched) {
    const { role, payment_id } = ours.get(transfer.to)!;
    const asset = transfer.currency === null ? null : assetOf(transfer.currency);
    const amount = asset ? fromUnits(transfer.units, asset.decimals) : '0';
    const isDust = !asset || compare(amount, asset.dust) < 0;
    const [row] = await tx.query<Array<{ id: string; was: string | null }>>(
      `WITH before AS (SELECT status FROM deposit WHERE network = $1 AND tx_id = $2 AND out_index = $3)
       INSERT INTO deposit AS d (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount, is_dust, status, block_hash,
                            height, inputs, first_seen_at, home, mined_at, first_seen_height)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12::bigint, $13::text[],
              least(clock_timestamp(), to_timestamp($14), replaced.first_seen_at), $15, to_timestamp($16),
              least(coalesce($12::bigint, c.height), replaced.first_seen_height)
         FROM (SELECT) one LEFT JOIN chain_cursor c ON c.network = $1
         LEFT JOIN LATERAL (
           SELECT min(b.first_seen_at) AS first_seen_at, min(b.first_seen_height) AS first_seen_height FROM (
             SELECT min(o.first_seen_at) AS first_seen_at, min(o.first_seen_height) AS first_seen_height FROM deposit o
              WHERE o.network = $1 AND o.address = $4 AND o.currency = $7 AND o.status IN ('pool', 'orphaned') AND o.inputs && $13::text[]
                AND o.tx_id <> $2 GROUP BY o.tx_id HAVING sum(o.amount) <= $17) b) replaced ON true
       ON CONFLICT (network, tx_id, out_index) DO UPDATE
         SET status = EXCLUDED.status, block_hash = EXCLUDED.block_hash, height = EXCLUDED.height, mined_at = EXCLUDED.mined_at, missing_since = NULL
         WHERE EXCLUDED.status = 'mined' OR d.status IN ('orphaned', 'replaced', 'pool')
       RETURNING d.id, (SELECT status FROM before) AS was`,
      [
        network,
        transfer.txId,
        transfer.index,
        transfer.to,
        role,
        payment_id,
        transfer.currency,
        amount,
        isDust,
        arrival.status,
        mined?.blockHash ?? null,
        mined?.height ?? null,
        [...transfer.inputs],
        since(transfer.txId) ?? null,
        own.has(transfer.txId) ? 'own' : null,
        mined?.time ?? null,
        paidTo.get(outputsOf(transfer)) ?? '0',
      ],
    );
    if (row && row.was !== 'pool' && row.was !== 'mined' && row.was !== 'confirmed') fresh.push(row.id);
  }
  await tellOwners(tx, fresh);
  return matched.length;
}

/** Takes the next block: deposits, our own transactions, spent coins and conflicts, with the cursor, in the caller's transaction. */
export async function applyBlock(
  tx: EntityManager,
  network: NetworkId,
  from: Cursor,
  block: Block,
  reorgWindow: number,
): Promise<void> {
  await moveCursor(tx, network, from, { height: block.height, hash: block.hash });
  await tx.query(
    `INSERT INTO chain_block (network, height, hash, block_time) VALUES ($1, $2, $3, to_timestamp($4))
     ON CONFLICT (network, height) DO UPDATE SET hash = EXCLUDED.hash, block_time = EXCLUDED.block_time`,
    [network, block.height, block.hash, block.time],
  );
  await tx.query('DELETE FROM chain_block WHERE network = $1 AND height < $2', [network, block.height - reorgWindow]);
  await storeArrivals(tx, network, block.transfers, {
    status: 'mined',
    blockHash: block.hash,
    height: block.height,
    time: block.time,
  });
  if (block.txIds.length) {
    const mined = await changedRows<{ id: string }>(
      tx,
      `WITH taken AS (
         UPDATE attempt SET status = 'mined', block_hash = $3, height = $4, missing_at_height = NULL
          WHERE network = $1 AND tx_id = ANY($2) AND status IN ('stored', 'sent', 'replaced') RETURNING intent_id)
       UPDATE intent SET status = 'mined', updated_at = now() WHERE id IN (SELECT intent_id FROM taken) AND status IN ('planned', 'stored', 'sent', 'dead')
        RETURNING id`,
      [network, block.txIds, block.hash, block.height],
    );
    await tellPayouts(
      tx,
      mined.map((one) => one.id),
    );
  }
  await applySpends(tx, network, block);
  await failPoint('follower.beforeCommit');
}

/** UTXO: which of our coins the block spends, and which unconfirmed deposits can no longer come. */
async function applySpends(tx: EntityManager, network: NetworkId, block: Block): Promise<void> {
  if (!block.spent.size) return;
  for (const { coin, spender } of await ourCoins(tx, network, block.spent)) {
    await tx.query('UPDATE deposit SET spent_by_tx = $2, spent_height = $3 WHERE id = $1', [
      coin.id,
      spender,
      block.height,
    ]);
    await noteForeignSpend(tx, network, coin, spender, block.height);
  }
  await replaceConflicting(tx, network, [...block.spent.keys()], block.txIds);
}

type SpentCoin = { id: string; outpoint: string; currency: string };

/** Which of these outpoints are coins of ours, and who spends them. */
async function ourCoins(
  tx: EntityManager,
  network: NetworkId,
  spent: ReadonlyMap<string, string>,
): Promise<Array<{ coin: SpentCoin; spender: string }>> {
  const txIds = new Set([...spent.keys()].map((outpoint) => outpoint.slice(0, outpoint.lastIndexOf(':'))));
  const coins = await tx.query<SpentCoin[]>(
    `SELECT id, tx_id || ':' || out_index AS outpoint, currency FROM deposit WHERE network = $1 AND tx_id = ANY($2)`,
    [network, [...txIds]],
  );
  return coins.flatMap((coin) => {
    const spender = spent.get(coin.outpoint);
    return spender ? [{ coin, spender }] : [];
  });
}

/** A transaction that we know nothing of spends a coin of ours: somebody else has the key, or this database is an old one. */
async function noteForeignSpend(
  tx: EntityManager,
  network: NetworkId,
  coin: SpentCoin,
  spender: string,
  height: number | null,
): Promise<void> {
  const [known] = await tx.query<unknown[]>('SELECT 1 FROM attempt WHERE network = $1 AND tx_id = $2', [
    network,
    spender,
  ]);
  if (known) return;
  await tx.query(
    `INSERT INTO incident (kind, key, details) VALUES ('foreign-spend', $1, $2) ON CONFLICT (key) DO NOTHING`,
    [`foreign-spend/${network}/${coin.outpoint}`, { depositId: coin.id, spender, height }],
  );
  await freeze(tx, coin.currency, `Coin ${coin.outpoint} was spent by ${spender}, which is not ours`);
}

/** Unconfirmed deposits that spend an outpoint which another transaction has taken are gone. */
async function replaceConflicting(
  tx: EntityManager,
  network: NetworkId,
  taken: readonly string[],
  takers: readonly string[],
): Promise<void> {
  const gone = await changedRows<{ id: string }>(
    tx,
    `UPDATE deposit SET status = 'replaced', block_hash = NULL, height = NULL
      WHERE network = $1 AND status IN ('pool', 'orphaned') AND inputs && $2::text[] AND NOT tx_id = ANY($3) RETURNING id`,
    [network, taken, takers],
  );
  await tellOwners(
    tx,
    gone.map((row) => row.id),
  );
}

/** Goes back to the last block that both we and the chain know; what was above it is orphaned. Returns the journals' deposits that
 *  must be reversed by the caller: own money that had been booked as capital. */
export async function rewind(tx: EntityManager, network: NetworkId, from: Cursor, ancestor: Cursor): Promise<string[]> {
  await moveCursor(tx, network, from, ancestor);
  await tx.query('UPDATE chain_cursor SET head_height = $2 WHERE network = $1', [network, ancestor.height]);
  await tx.query('DELETE FROM chain_block WHERE network = $1 AND height > $2', [network, ancestor.height]);
  const orphans = await changedRows<{ id: string; home: string | null }>(
    tx,
    `UPDATE deposit SET status = 'orphaned', block_hash = NULL, height = NULL, confirmed_at = NULL
      WHERE network = $1 AND height > $2 AND status IN ('mined', 'confirmed') RETURNING id, home`,
    [network, ancestor.height],
  );
  await tx.query(
    'UPDATE deposit SET spent_by_tx = NULL, spent_height = NULL WHERE network = $1 AND spent_height > $2',
    [network, ancestor.height],
  );
  const dropped = await changedRows<{ intent_id: string }>(
    tx,
    `UPDATE attempt SET status = 'sent', block_hash = NULL, height = NULL, success = NULL, fee_units = NULL, final_at = NULL
      WHERE network = $1 AND height > $2 AND status IN ('mined', 'final') RETURNING intent_id`,
    [network, ancestor.height],
  );
  const intentIds = dropped.map((row) => row.intent_id);
  await tx.query(`UPDATE intent SET status = 'sent', booked = false, updated_at = now() WHERE id = ANY($1::bigint[])`, [
    intentIds,
  ]);
  await tellOwners(
    tx,
    orphans.map((row) => row.id),
  );
  const waiting = await tx.query<Array<{ id: string }>>(
    `SELECT id FROM intent WHERE network = $1 AND status NOT IN ('final', 'failed', 'dead') AND deposit_ids && $2::bigint[]`,
    [network, orphans.map((row) => row.id)],
  );
  await tellSenders(tx, [...intentIds, ...waiting.map((row) => row.id)]);
  return orphans.filter((row) => row.home === 'capital').map((row) => row.id);
}

/** Our transactions that are final in a block above `height`. `booked`: their end is in the ledger. */
export type FinalAttempt = {
  txId: string;
  blockHash: string;
  success: boolean;
  intentId: string;
  kind: string;
  booked: boolean;
};
export const finalAbove = (tx: EntityManager, network: NetworkId, height: number): Promise<FinalAttempt[]> =>
  tx.query(
    `SELECT a.tx_id AS "txId", a.block_hash AS "blockHash", a.success, i.id::text AS "intentId", i.kind, i.booked
       FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' ORDER BY a.id`,
    [network, height],
  );

/** The newest block that we remember and that the chain still has. `canonical` answers a height's hash now. */
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
  throw new Error(
    `The reorganisation of ${network} goes below the ${known.length} blocks kept; see docs/operations/reorganisation.md`,
  );
}

/** Takes a look at the mempool: new money, and unconfirmed money that is gone or replaced. */
export async function applyMempool(
  tx: EntityManager,
  network: NetworkId,
  pool: Readonly<{ ids: ReadonlySet<string>; transfers: readonly Transfer[]; since: ReadonlyMap<string, number> }>,
  missingLimitSeconds: number,
): Promise<void> {
  await storeArrivals(tx, network, pool.transfers, { status: 'pool', since: pool.since });
  const spent = new Map(pool.transfers.flatMap(({ txId, inputs }) => inputs.map((input) => [input, txId] as const)));
  if (spent.size)
    for (const { coin, spender } of await ourCoins(tx, network, spent))
      await noteForeignSpend(tx, network, coin, spender, null);
  for (const transfer of pool.transfers) {
    if (transfer.inputs.length) await replaceConflicting(tx, network, transfer.inputs, [transfer.txId]);
  }
  await tx.query(
    `UPDATE deposit SET missing_since = CASE WHEN tx_id = ANY($2) THEN NULL ELSE coalesce(missing_since, now()) END
      WHERE network = $1 AND status = 'pool' AND (missing_since IS NULL) <> (tx_id = ANY($2))`,
    [network, [...pool.ids]],
  );
  const gone = await changedRows<{ id: string }>(
    tx,
    `UPDATE deposit SET status = 'replaced' WHERE network = $1 AND status = 'pool' AND missing_since < now() - make_interval(secs => $2) RETURNING id`,
    [network, missingLimitSeconds],
  );
  await tellOwners(
    tx,
    gone.map((row) => row.id),
  );
}

export type Maturing = {
  id: string;
  tx_id: string;
  out_index: number;
  address: string;
  role: 'deposit' | 'treasury' | 'gas';
  currency: string | null;
  amount: string;
  block_hash: string;
  height: number;
  home: string | null;
};

/** Deposits that have just become deep enough. */
export const maturingDeposits = (tx: EntityManager, network: NetworkId, height: number): Promise<Maturing[]> =>
  tx.query<Maturing[]>(
    `SELECT id, tx_id, out_index, address, role, currency, amount::text, block_hash, height::int AS height, home FROM deposit
      WHERE network = $1 AND status = 'mined' AND height <= $2 ORDER BY height, id LIMIT 500`,
    [network, height],
  );

/** A deposit that was verified in the block it was stored with. `amount`: what really arrived; '0' makes it void. */
export async function confirmDeposit(tx: EntityManager, deposit: Maturing, amount: string): Promise<boolean> {
  const count = await changedCount(
    tx,
    `UPDATE deposit SET status = CASE WHEN $3::numeric = 0 AND stated_amount > 0 THEN 'void' ELSE 'confirmed' END, amount = $3, confirmed_at = clock_timestamp()
      WHERE id = $1 AND status = 'mined' AND block_hash = $2`,
    [deposit.id, deposit.block_hash, amount],
  );
  if (count === 1) await tellOwners(tx, [deposit.id]);
  return count === 1;
}

/** What the ledger expects on an address: deposits that stand, less what final transactions of ours took. Decimal string. */
export async function expectedHolding(
  tx: EntityManager,
  network: NetworkId,
  address: string,
  currency: string,
  exceptDepositId: string,
): Promise<string> {
  const [row] = await tx.query<Array<{ arrived: string; units: string }>>(
    `SELECT coalesce((SELECT sum(amount) FROM deposit WHERE network = $1 AND address = $2 AND currency = $3 AND status IN ('mined', 'confirmed') AND id <> $4), 0)::text AS arrived,
            (coalesce((SELECT sum(a.moved_units) FROM attempt a JOIN intent i ON i.id = a.intent_id
                       WHERE a.network = $1 AND a.from_address = $2 AND i.currency = $3 AND a.status IN ('mined', 'final') AND a.success IS DISTINCT FROM false), 0)
            + coalesce((SELECT sum(c.units) FROM attempt_account c JOIN attempt a ON a.id = c.attempt_id JOIN intent i ON i.id = a.intent_id
                       WHERE c.network = $1 AND c.address = $2 AND i.currency = $3 AND a.status IN ('mined', 'final') AND a.success IS DISTINCT FROM false), 0))::text AS units`,
    [network, address, currency, exceptDepositId],
  );
  const left = subtract(row!.arrived, fromUnits(BigInt(row!.units), assetOf(currency).decimals));
  return compare(left, '0') > 0 ? left : '0';
}

export type OpenAttempt = { id: string; intent_id: string; tx_id: string; block_hash: string; height: number };

/** Our transactions that have just become deep enough. */
export const maturingAttempts = (tx: EntityManager, network: NetworkId, height: number): Promise<OpenAttempt[]> =>
  tx.query<OpenAttempt[]>(
    `SELECT id, intent_id, tx_id, block_hash, height::int AS height FROM attempt WHERE network = $1 AND status = 'mined' AND height <= $2 ORDER BY id LIMIT 500`,
    [network, height],
  );

/** These transactions of ours are final; their siblings on the same nonces or inputs never will be. Those that are in another block by
 *  now stay as they are. Returns the intents of the others: whoever sent them is the caller's to tell. */
export async function finalizeAttempts(
  tx: EntityManager,
  ends: ReadonlyArray<Readonly<{ attempt: OpenAttempt; success: boolean; feeUnits: bigint }>>,
): Promise<string[]> {
  if (!ends.length) return [];
  const final = await changedRows<{ id: string; intent_id: string; success: boolean }>(
    tx,
    `UPDATE attempt a SET status = 'final', success = e.success, fee_units = e.fee_units, final_at = clock_timestamp()
       FROM (SELECT one.id, e.success, e.fee_units FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::numeric[]) AS e (id, block_hash, success, fee_units)
               JOIN attempt one ON one.id = e.id WHERE one.status = 'mined' AND one.block_hash = e.block_hash ORDER BY one.id FOR UPDATE OF one) e
      WHERE a.id = e.id RETURNING a.id, a.intent_id, a.success`,
    [
      ends.map(({ attempt }) => attempt.id),
      ends.map(({ attempt }) => attempt.block_hash),
      ends.map(({ success }) => success),
      ends.map(({ feeUnits }) => feeUnits.toString()),
    ],
  );
  const intents = final.map((one) => one.intent_id);
  await tx.query(
    `UPDATE attempt SET status = 'replaced' WHERE intent_id = ANY($1::bigint[]) AND NOT id = ANY($2::bigint[]) AND status IN ('stored', 'sent')`,
    [intents, final.map((one) => one.id)],
  );
  await tx.query(
    `UPDATE intent i SET status = e.status, updated_at = now() FROM (
       SELECT one.id, CASE WHEN e.success THEN 'final' ELSE 'failed' END AS status FROM unnest($1::bigint[], $2::boolean[]) AS e (id, success)
         JOIN intent one ON one.id = e.id ORDER BY one.id FOR UPDATE OF one) e
      WHERE i.id = e.id`,
    [intents, final.map((one) => one.success)],
  );
  return intents;
}

export const storeFee = (tx: EntityManager, network: NetworkId, fee: FeeEstimate): Promise<unknown> =>
  tx.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, taken_at) VALUES ($1, $2, $3, clock_timestamp())
     ON CONFLICT (network) DO UPDATE SET unit_price = EXCLUDED.unit_price, tip_price = EXCLUDED.tip_price, taken_at = EXCLUDED.taken_at`,
    [network, fee.unitPrice, fee.tipPrice],
  );

/** Everything that happened up to `through` (database clock) has been taken: what expiry waits for. Invariants: 1.5. */
export const markScanned = (
  tx: EntityManager,
  network: NetworkId,
  through: Date,
  headHeight: number,
): Promise<unknown> =>
  tx.query('UPDATE chain_cursor SET scanned_through = $2, head_height = $3, updated_at = now() WHERE network = $1', [
    network,
    through,
    headHeight,
  ]);
