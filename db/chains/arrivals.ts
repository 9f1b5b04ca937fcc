import type { EntityManager } from 'typeorm';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import type { Transfer } from '../../domain/chains/chain';
import { capitalTag, receiverOf, sharesAccount } from '../../domain/chains/tags';
import { add, compare, fromUnits } from '../../domain/money';
import { inherit, type Layer, type Replaced } from '../../domain/payments/inherited';
import { type Queryable, changedCount, changedRows } from '../query';
import { takeNewContent, type Content } from './changed-content';
import { notifyOwners } from './notify';
import type { RowOf } from '../entity';
import type { addressEntity } from './entities';
import { openIncidentAgain, resolveIncident } from '../incidents';
import type { depositEntity } from '../payments/entities';

/** Money that comes to addresses of ours: unconfirmed, in a block, and deep enough to count. */

type Matched = Pick<RowOf<typeof addressEntity>, 'address' | 'tag' | 'role' | 'payment_id'>;
type To = Pick<Transfer, 'to' | 'tag'>;

/** Which of our receivers a transfer comes to: the one with its tag, or the address itself where that is nobody's. */
export async function ourReceivers(
  db: Queryable,
  network: NetworkId,
  transfers: readonly To[],
): Promise<(transfer: To) => Matched | undefined> {
  const addresses = [...new Set(transfers.map(({ to }) => to))];
  if (!addresses.length) return () => undefined;
  const rows = await db.query<Matched[]>(
    `SELECT address, tag, role, payment_id FROM address WHERE network = $1 AND address = ANY($2) AND tag = ''`,
    [network, addresses],
  );
  const own = new Map(rows.map((row) => [row.address, row]));
  const tagged = await taggedReceivers(
    db,
    network,
    transfers.filter(({ to, tag }) => tag !== undefined && own.has(to)),
  );
  return ({ to, tag }) => (tag === undefined ? undefined : tagged.get(receiverOf({ address: to, tag }))) ?? own.get(to);
}

async function taggedReceivers(
  db: Queryable,
  network: NetworkId,
  transfers: readonly To[],
): Promise<ReadonlyMap<string, Matched>> {
  if (!transfers.length) return new Map();
  const rows = await db.query<Matched[]>(
    `SELECT address, tag, role, payment_id FROM address
      WHERE network = $1 AND (address, tag) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
    [network, transfers.map(({ to }) => to), transfers.map(({ tag }) => tag)],
  );
  return new Map(rows.map((row) => [receiverOf(row), row]));
}

/** `since`: Unix seconds by transaction, where the node knows. */
export type Arrival = Readonly<
  | { status: 'pool'; since: ReadonlyMap<string, number> }
  | { status: 'mined'; blockHash: string; height: number; time: number }
>;

/** `ownRole`: of the address itself, for what a transaction of ours has brought. */
type Arrived = Content & Readonly<{ inputs: readonly string[]; ownRole: Matched['role'] }>;
const keyOf = ({ txId, index }: Pick<Content, 'txId' | 'index'>): string => `${txId}:${index}`;

/** Whom money at an address is for. What comes to the account that payments share, without a tag of ours, may be a
 *  payer's: it is the treasury's only where operators have said so by their tag. */
const roleOf = (network: NetworkId, { tag, role }: Matched, statedTag: string | undefined): Matched['role'] =>
  sharesAccount(network) && tag === '' && statedTag !== capitalTag(network) ? 'deposit' : role;

function contentOf(
  network: NetworkId,
  { txId, index, to, tag: statedTag, currency, units, inputs }: Transfer,
  matched: Matched,
): Arrived {
  const { tag, payment_id: paymentId } = matched;
  const asset = currency === null ? null : assetOf(currency);
  const amount = asset ? fromUnits(units, asset.decimals) : '0';
  const isDust = !asset || compare(amount, asset.dust) < 0;
  const role = roleOf(network, matched, statedTag);
  const at = { address: to, tag, statedTag: statedTag ?? null, role, paymentId };
  return { txId, index, ...at, ownRole: matched.role, currency, amount, isDust, inputs };
}

/** Stores transfers to addresses of ours, and signals payments to which money is new. What replaces an unconfirmed
 *  deposit, and pays its address at least as much, was first seen when that was, as far as its amount goes.
 *  Invariants: 3. */
export async function storeArrivals(
  tx: EntityManager,
  network: NetworkId,
  transfers: readonly Transfer[],
  arrival: Arrival,
): Promise<void> {
  const receiverAt = await ourReceivers(tx, network, transfers);
  const read = transfers
    .filter((transfer) => transfer.units > 0n)
    .flatMap((transfer) => {
      const own = receiverAt(transfer);
      return own ? [contentOf(network, transfer, own)] : [];
    });
  if (!read.length) return;
  // An output may be read twice.
  const contents = [...new Map(read.map((content) => [keyOf(content), content])).values()];
  const mined = arrival.status === 'mined' ? arrival : null;
  const refused = mined
    ? await takeNewContent(tx, network, contents, { ...mined, hash: mined.blockHash })
    : new Set<string>();
  const arrived = contents.filter((content) => !refused.has(keyOf(content)));
  const inherited = await inheritedOf(tx, network, arrived);
  const since = (txId: string): number | null =>
    arrival.status === 'pool' ? (arrival.since.get(txId) ?? null) : arrival.time;
  const fresh = await tx.query<Array<{ id: string }>>(
    `WITH arrived AS (
       SELECT a.*, d.status AS was,
              EXISTS (SELECT FROM attempt t WHERE t.network = $1 AND t.tx_id = a."txId") AS is_own
         FROM jsonb_to_recordset($2) AS a ("txId" text, index integer, address text, tag text, "statedTag" text,
                role text, "ownRole" text, "paymentId" text, currency text, amount numeric, "isDust" boolean,
                inputs text[], since float8, "seenAt" timestamptz, "seenHeight" bigint, parts jsonb, position integer)
         LEFT JOIN deposit d ON d.network = $1 AND d.tx_id = a."txId" AND d.out_index = a.index),
     stored AS (
       INSERT INTO deposit AS d (network, tx_id, out_index, address, tag, stated_tag, role, payment_id, currency,
                amount, stated_amount, is_dust, status, block_hash, height, inputs, first_seen_at, allocation, mined_at,
                first_seen_height)
       SELECT $1, a."txId", a.index, a.address, a.tag, a."statedTag",
              CASE WHEN a.is_own THEN a."ownRole" ELSE a.role END, a."paymentId", a.currency, a.amount, a.amount,
              a."isDust", $3, $4, $5::bigint, a.inputs,
              least(clock_timestamp(), to_timestamp(a.since), a."seenAt"),
              CASE WHEN a.is_own THEN 'own' END, to_timestamp($6),
              least(coalesce($5::bigint, c.height), a."seenHeight")
         FROM arrived a LEFT JOIN chain_cursor c ON c.network = $1 ORDER BY a.position
       ON CONFLICT (network, tx_id, out_index) DO UPDATE
         SET status = EXCLUDED.status, block_hash = EXCLUDED.block_hash, height = EXCLUDED.height,
             mined_at = EXCLUDED.mined_at, missing_since = NULL
         WHERE EXCLUDED.status = 'mined' OR d.status IN ('orphaned', 'replaced', 'pool')
       RETURNING d.id, d.tx_id, d.out_index),
     parts AS (
       INSERT INTO deposit_part (deposit_id, n, amount, first_seen_at, first_seen_height)
       SELECT s.id, p.n, p.amount, p.at, p.height
         FROM arrived a JOIN stored s ON s.tx_id = a."txId" AND s.out_index = a.index,
              jsonb_to_recordset(a.parts) AS p (n integer, amount numeric, at timestamptz, height bigint)
        WHERE a.was IS NULL)
     SELECT s.id FROM arrived a JOIN stored s ON s.tx_id = a."txId" AND s.out_index = a.index
      WHERE a.was IS NULL OR a.was NOT IN ('pool', 'mined', 'confirmed') ORDER BY a.position`,
    [
      network,
      JSON.stringify(
        arrived.map((content, position) => ({
          ...content,
          ...seenOf(content.amount, inherited.get(keyOf(content)) ?? []),
          since: since(content.txId),
          position,
        })),
      ),
      arrival.status,
      mined?.blockHash ?? null,
      mined?.height ?? null,
      mined?.time ?? null,
    ],
  );
  await notifyOwners(
    tx,
    fresh.map((row) => row.id),
  );
}

/** In UTC, to the microsecond, so that texts compare as moments do. */
type Seen = Readonly<{ at: string; height: string | null }>;

/** A deposit that inherits all of its amount was first seen with the last of it; otherwise its rest is new. */
function seenOf(amount: string, layers: ReadonlyArray<Layer<Seen>>) {
  const isWhole = compare(add('0', ...layers.map((layer) => layer.amount)), amount) === 0;
  const own = isWhole ? layers.at(-1) : undefined;
  const parts = isWhole ? layers.slice(0, -1) : layers;
  return {
    seenAt: own?.seen.at ?? null,
    seenHeight: own?.seen.height ?? null,
    parts: parts.map((layer, index) => ({ n: index + 1, amount: layer.amount, ...layer.seen })),
  };
}

type ReplacedRow = {
  txId: string;
  address: string;
  tag: string;
  currency: string | null;
  inputs: string[];
  amount: string;
} & Seen;

/** What these inherit from unconfirmed deposits that spend the same coins, by the key of a deposit. Each is inherited
 *  once, however many transactions share its coins. */
async function inheritedOf(
  tx: EntityManager,
  network: NetworkId,
  arrived: readonly Arrived[],
): Promise<ReadonlyMap<string, ReadonlyArray<Layer<Seen>>>> {
  const found = new Map<string, ReadonlyArray<Layer<Seen>>>();
  const inputs = [...new Set(arrived.flatMap((content) => content.inputs))];
  if (!inputs.length) return found;
  const rows = await tx.query<ReplacedRow[]>(
    `SELECT d.tx_id AS "txId", d.address, d.tag, d.currency, d.inputs, l.amount::text, l.height::text,
            to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
       FROM deposit d CROSS JOIN LATERAL (
         SELECT i.amount, i.first_seen_at AS at, i.first_seen_height AS height FROM deposit_part i
          WHERE i.deposit_id = d.id
         UNION ALL
         SELECT d.amount - coalesce(sum(i.amount), 0), d.first_seen_at, d.first_seen_height FROM deposit_part i
          WHERE i.deposit_id = d.id) l
      WHERE d.network = $1 AND d.status IN ('pool', 'orphaned') AND d.inputs && $2::text[] AND d.address = ANY($3)
      ORDER BY l.at, d.id`,
    [network, inputs, [...new Set(arrived.map(({ address }) => address))]],
  );
  const inheritedBy = new Map<string, string>();
  const perReceiver = Map.groupBy(arrived, (one) => `${one.txId} ${receiverOf(one)} ${one.currency ?? ''}`);
  for (const outputs of perReceiver.values()) {
    const { txId, currency, inputs: spent } = outputs[0]!;
    const receiver = receiverOf(outputs[0]!);
    const conflicting = rows.filter(
      (row) =>
        receiverOf(row) === receiver &&
        row.currency === currency &&
        row.txId !== txId &&
        !inheritedBy.has(`${row.txId} ${receiver}`) &&
        row.inputs.some((input) => spent.includes(input)),
    );
    const { layers, from } = inherit(
      outputs.map(({ amount }) => amount),
      replacedOf(conflicting),
      (a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0),
    );
    for (const one of from) inheritedBy.set(`${one} ${receiver}`, txId);
    outputs.forEach((output, index) => found.set(keyOf(output), layers[index]!));
  }
  return found;
}

const replacedOf = (rows: readonly ReplacedRow[]): Array<Replaced<Seen>> =>
  [...Map.groupBy(rows, ({ txId }) => txId)].map(([txId, layers]) => ({
    txId,
    layers: layers.map(({ amount, at, height }) => ({ amount, seen: { at, height } })),
  }));

/** A deposit that is about to count. */
export type Maturing = Pick<
  RowOf<typeof depositEntity>,
  'id' | 'tx_id' | 'out_index' | 'address' | 'stated_tag' | 'role' | 'currency' | 'amount' | 'allocation' | 'found_by'
> & { block_hash: string; height: number };

/** Deposits that have just become deep enough, but for those that could not be verified and wait. Those that were not
 *  asked for yet go first: however many cannot be verified, and however slow the node is, they keep nothing back. */
export const maturingDeposits = (tx: EntityManager, network: NetworkId, height: number): Promise<Maturing[]> =>
  tx.query<Maturing[]>(
    `SELECT id, tx_id, out_index, address, stated_tag, role, currency, amount::text, block_hash, height::int AS height,
            allocation, found_by
       FROM deposit
      WHERE network = $1 AND status = 'mined' AND height <= $2 AND coalesce(verify_after <= clock_timestamp(), true)
      ORDER BY verify_after NULLS FIRST, height, id LIMIT 500`,
    [network, height],
  );

/** How often a deposit is asked for before operators are told. */
const triesBeforeIncident = 5;

/** A deposit could not be verified: it is asked for again later, at most ten minutes, and lets others go first. */
export async function noteUnverified(tx: EntityManager, deposit: Maturing, reason: string): Promise<void> {
  const [row] = await changedRows<{ tries: number }>(
    tx,
    `UPDATE deposit SET verify_tries = verify_tries + 1,
            verify_after = clock_timestamp()
              + least(interval '10 minutes', interval '5 seconds' * power(2, verify_tries))
      WHERE id = $1 AND status = 'mined' AND block_hash = $2 RETURNING verify_tries AS tries`,
    [deposit.id, deposit.block_hash],
  );
  if (!row || row.tries < triesBeforeIncident) return;
  const { id, tx_id: txId, block_hash: blockHash, height } = deposit;
  await openIncidentAgain(tx, { ...unverified(id), details: { txId, blockHash, height, reason } });
}

const unverified = (id: string) => ({ kind: 'deposit-unverified', subject: { kind: 'deposit', id } }) as const;

/** A deposit that was verified in the block it was stored with. `amount`: what really arrived; '0' makes it void. */
export async function confirmDeposit(tx: EntityManager, deposit: Maturing, amount: string): Promise<boolean> {
  const count = await changedCount(
    tx,
    `UPDATE deposit SET status = CASE WHEN $3::numeric = 0 AND stated_amount > 0 THEN 'void' ELSE 'confirmed' END,
       amount = $3, confirmed_at = clock_timestamp()
      WHERE id = $1 AND status = 'mined' AND block_hash = $2`,
    [deposit.id, deposit.block_hash, amount],
  );
  if (count === 1) await notifyOwners(tx, [deposit.id]);
  if (count === 1) await resolveIncident(tx, unverified(deposit.id));
  return count === 1;
}
