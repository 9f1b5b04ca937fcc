import type { EntityManager } from 'typeorm';
import { assetOf, assets, networks, networkOf, type NetworkId } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { add, compare, fit, fromUnits, isZero, subtract, toUnits } from '../../domain/money';
import { accountOf, transferWork } from '../../domain/chains/costs';
import type { Wallet } from '../../domain/treasury/lanes';
import type { FreeCoin } from '../../domain/treasury/treasury';
import { kindsOutsideTreasury } from '../../domain/txmanager/kinds';
import { openAttempts, spendableAt } from '../txmanager/intents';
import type { Queryable } from '../query';
import { blockedAfterSeconds, heldUpColumn, heldUpJoins, laneOf } from './lanes';

/** What our own addresses hold. Who owns it the ledger says, not the address: all of them pay for everybody. */

/** SQL: the first branch of the newest seed on a network, an expression. What is on branches before it is moved away.
 *  */
const newestSeed = (network: string): string =>
  `(SELECT coalesce(max(s.from_branch), 0) FROM seed_key s WHERE s.network = ${network} AND s.role = 'treasury')`;

/** The address of the platform's own on a network, of the newest seed. Throws UPSTREAM_UNAVAILABLE before the signer
 *  has registered its keys. */
export async function ownAddress(tx: EntityManager, network: string, role: 'treasury' | 'gas'): Promise<string> {
  const [row] = await tx.query<Array<{ address: string }>>(
    `SELECT address FROM address WHERE network = $1 AND role = $2 AND key_index = 0 ORDER BY branch DESC LIMIT 1`,
    [network, role],
  );
  if (!row)
    throw new DomainError(
      'UPSTREAM_UNAVAILABLE',
      `No ${role} address on ${network}: the signer has not registered its keys`,
    );
  return row.address;
}

/** The ledger's account of an address of ours. */
export async function accountAt(
  tx: EntityManager,
  network: string,
  address: string,
): Promise<'A:treasury' | 'A:deposit'> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM address WHERE network = $1 AND address = $2 AND role = 'treasury'`,
    [network, address],
  );
  return rows.length ? 'A:treasury' : 'A:deposit';
}

/** The first treasury address of a network, locked with those of earlier seeds, the oldest first: one plan at a time
 *  decides what the treasury pays with, also while a seed begins. */
export async function lockTreasury(tx: EntityManager, network: string): Promise<string> {
  await tx.query(
    `SELECT FROM address WHERE network = $1 AND role = 'treasury' AND key_index = 0 ORDER BY branch FOR NO KEY UPDATE`,
    [network],
  );
  return ownAddress(tx, network, 'treasury');
}

/** Every journal leaves a row of what it changed; this makes one of them. Whoever sums them meanwhile finds the
 *  same. */
export const mergeHeld = (db: Queryable): Promise<unknown> =>
  db.query(
    `WITH parts AS (DELETE FROM held_part WHERE (SELECT count(*) FROM held_part) > $1 RETURNING *)
     INSERT INTO held_part (asset, treasury, owed) SELECT asset, sum(treasury), sum(owed) FROM parts GROUP BY asset`,
    [mostParts],
  );
/** So many rows are summed faster than they are merged. */
const mostParts = 100;

/** Confirmed treasury coins that no intent has locked, the largest first. `below`: only those that bring less;
 *  `ofEarlier`: only those on addresses of earlier seeds that are not frozen. */
export async function freeCoins(
  tx: Queryable,
  network: string,
  { below = null, ofEarlier = false }: Readonly<{ below?: bigint | null; ofEarlier?: boolean }> = {},
): Promise<FreeCoin[]> {
  const { decimals } = assetOf(networks[network as NetworkId].native);
  const rows = await tx.query<Array<{ id: string; units: string }>>(
    `SELECT d.id, trim_scale(d.amount * power(10::numeric, $2))::text AS units FROM deposit d
      WHERE d.network = $1 AND d.role = 'treasury' AND d.status = 'confirmed' AND d.allocation IN ('own', 'capital')
        AND d.spent_by_tx IS NULL
        AND ($3::numeric IS NULL OR d.amount * power(10::numeric, $2) < $3)
        AND (NOT $4 OR EXISTS (SELECT FROM address a WHERE a.network = d.network AND a.address = d.address
          AND a.tag = d.tag AND a.branch < ${newestSeed('$1')}
          AND NOT EXISTS (SELECT FROM wallet_sequence w WHERE w.network = a.network AND w.address = a.address
            AND w.frozen_reason IS NOT NULL)))
        AND NOT EXISTS (SELECT FROM coin_lock l WHERE l.deposit_id = d.id) ORDER BY d.amount DESC, d.id LIMIT 1000`,
    [network, decimals, below === null ? null : below.toString(), ofEarlier],
  );
  return rows.map(({ id, units }) => ({ id, units: BigInt(units) }));
}

/** Which attempts move the treasury's money on a network. */
const ofTreasury = `a.network = $1
  AND a.from_address IN (SELECT address FROM address WHERE network = $1 AND role = 'treasury')`;

/** What each treasury address of an account chain can spend of a currency beyond what signed and planned intents take,
 *  and beyond its reserve; lanes first, then by amount. Where a network has reserves, nothing is free on an address
 *  whose own is not known yet. Every address of an earlier seed is like a lane that was dropped. */
export async function treasurySources(tx: EntityManager, currency: string): Promise<Wallet[]> {
  const { decimals } = assetOf(currency);
  const { id: network, native, hasReserve } = accountOf(currency);
  const rows = await tx.query<
    Array<
      Pick<Wallet, 'address' | 'lane' | 'heldUp'> & {
        arrived: string;
        gone: string;
        planned: string;
        reserve: string | null;
      }
    >
  >(
    `SELECT t.address, CASE WHEN t.branch < newest.branch THEN 'dropped' ELSE ${laneOf('t')} END AS lane,
            ${heldUpColumn},
            coalesce(d.arrived, 0)::text AS arrived, (coalesce(d.gone, 0) + coalesce(g.open, 0))::text AS gone,
            coalesce(p.planned, 0)::text AS planned, r.units::text AS reserve
       FROM address t
       LEFT JOIN address_reserve r ON r.network = t.network AND r.address = t.address
       CROSS JOIN (SELECT ${newestSeed('$1')} AS branch) newest
       LEFT JOIN LATERAL (
         SELECT sum(arrived) FILTER (WHERE currency = $2) AS arrived,
                coalesce(sum(moved) FILTER (WHERE currency = $2), 0) + CASE WHEN $2 = $3 THEN sum(fees)
                  ELSE 0 END AS gone
           FROM wallet_total w WHERE w.network = $1 AND w.address = t.address) d ON true
       LEFT JOIN (
         SELECT from_address, sum(CASE WHEN currency <> $2 THEN 0 WHEN moves IS NOT NULL
           THEN units_from(moves, from_address) ELSE moved_units END + CASE WHEN $2 = $3
           THEN max_fee_units ELSE 0 END) AS open
           FROM (${openAttempts(ofTreasury)}) one
          GROUP BY 1) g ON g.from_address = t.address
       LEFT JOIN (
         SELECT i.from_address, sum(CASE WHEN i.currency = $2
           THEN (SELECT sum((o->>'units')::numeric) FROM jsonb_array_elements(i.outputs) o) ELSE 0 END
                    + CASE WHEN $2 <> $3 THEN 0
                           WHEN i.currency = $3 THEN least(i.max_unit_price, 2 * n.unit_price)
                                                     * coalesce(i.gas_limit, $4::numeric)
                           ELSE i.max_unit_price * coalesce(i.gas_limit, $5::numeric) END) AS planned
           FROM intent i LEFT JOIN network_fee n ON n.network = i.network
          WHERE i.network = $1 AND i.status = 'planned' AND i.kind <> ALL ($6)
          GROUP BY 1) p ON p.from_address = t.address
       ${heldUpJoins('$1', '$7')}
      WHERE t.network = $1 AND t.role = 'treasury'
      ORDER BY ${laneOf('t')} = 'used' IS TRUE DESC, t.key_index = 0 DESC, coalesce(d.arrived, 0) DESC, t.key_index`,
    [
      network,
      currency,
      native,
      ...transferWork(currency).map(String),
      kindsOutsideTreasury(),
      blockedAfterSeconds(network),
    ],
  );
  return rows.map(({ address, lane, heldUp, arrived, gone, planned, reserve }) => {
    const units = toUnits(fit(arrived, decimals, 'down'), decimals);
    const bound = currency !== native || !hasReserve ? 0n : reserve === null ? units : BigInt(reserve);
    return { address, lane, heldUp, free: units - bound - BigInt(gone) - toUnits(fit(planned, 0, 'up'), 0) };
  });
}

/** Base units on their way from one address of ours to another; `from` null: their transaction is in a block or the
 *  pool. */
export type Coming = Readonly<{ to: string; from: string | null; units: bigint }>;

/** What is on its way into the treasury from other addresses of ours. */
export async function comingIn(tx: EntityManager, network: string, currency: string): Promise<Coming[]> {
  const { decimals } = assetOf(currency);
  const rows = await tx.query<Array<{ to: string; from: string | null; units: string }>>(
    `SELECT i.outputs->0->>'address' AS "to", i.from_address AS "from",
            coalesce(sum((i.outputs->0->>'units')::numeric), 0)::text AS units
       FROM intent i
      WHERE i.kind = 'consolidate' AND i.network = $1 AND i.currency = $2 AND i.status IN ('planned', 'stored', 'sent')
        AND NOT EXISTS (SELECT FROM attempt a JOIN deposit d ON d.network = a.network AND d.tx_id = a.tx_id
                         WHERE a.intent_id = i.id)
      GROUP BY 1, 2
     UNION ALL
     SELECT address, NULL, (sum(amount) * power(10::numeric, $3))::text FROM deposit
      WHERE network = $1 AND role = 'treasury' AND currency = $2 AND allocation = 'own' AND status IN ('pool', 'mined')
      GROUP BY 1`,
    [network, currency, decimals],
  );
  return rows.map(({ to, from, units }) => ({ to, from, units: toUnits(fit(units, 0, 'down'), 0) }));
}

/** An address of ours with something on it. `taken`: by coins that are locked, or by what is signed or planned. */
export type Holding = Readonly<{
  address: string;
  role: 'treasury' | 'gas';
  lane: 'used' | 'dropped' | null;
  held: string;
  free: string;
  taken: string;
}>;

/** What one asset is where, as the rows say: the ledger's accounts, what is owed, and each address with something on
 *  it. */
export type TreasuryLine = Readonly<{
  currency: string;
  accounts: Readonly<Record<string, string>>;
  owed: Readonly<Record<string, string>>;
  surplus: string;
  addresses: readonly Holding[];
}>;

type Sum = { asset: string; name: string; amount: string };
const of = (rows: readonly Sum[], currency: string): Record<string, string> =>
  Object.fromEntries(rows.filter((row) => row.asset === currency).map((row) => [row.name, row.amount]));

/** What is owed of an asset, by what it is owed for. */
export async function owedByAsset(tx: EntityManager): Promise<(currency: string) => Record<string, string>> {
  const owed = await tx.query<Sum[]>(
    `SELECT asset, split_part(account, ':', 2) AS name, trim_scale(sum(amount))::text AS amount FROM balance
      WHERE account LIKE 'L:%' GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return (currency) => of(owed, currency);
}

/** Every asset of these networks, and every other that the books know, on one snapshot. */
export async function treasuryReport(tx: EntityManager, on: readonly NetworkId[]): Promise<TreasuryLine[]> {
  const accounts = await tx.query<Sum[]>(
    `SELECT asset, account AS name, trim_scale(sum(amount))::text AS amount FROM (
       SELECT asset, debit AS account, amount FROM posting WHERE debit LIKE 'A:%'
       UNION ALL SELECT asset, credit, -amount FROM posting WHERE credit LIKE 'A:%') moved GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  const owed = await owedByAsset(tx);
  const lines: TreasuryLine[] = [];
  for (const { currency, network } of assets) {
    const [has, owes] = [of(accounts, currency), owed(currency)];
    if (!on.includes(network) && !Object.keys({ ...has, ...owes }).length) continue;
    lines.push({
      currency,
      accounts: has,
      owed: owes,
      surplus: subtract(add('0', ...Object.values(has)), add('0', ...Object.values(owes))),
      addresses: await holdings(tx, currency),
    });
  }
  return lines;
}

/** Treasury and gas addresses that hold something, the fullest first. */
export async function holdings(tx: EntityManager, currency: string): Promise<Holding[]> {
  const { id: network, kind, native } = networkOf(currency);
  const { decimals } = assetOf(currency);
  if (kind === 'utxo')
    return tx.query<Holding[]>(
      `SELECT d.address, d.role, ${laneOf('a')} AS lane, trim_scale(sum(d.amount))::text AS held,
              trim_scale(coalesce(sum(d.amount) FILTER (WHERE l.deposit_id IS NULL), 0))::text AS free,
              trim_scale(coalesce(sum(d.amount) FILTER (WHERE l.deposit_id IS NOT NULL), 0))::text AS taken
         FROM deposit d JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
         LEFT JOIN coin_lock l ON l.deposit_id = d.id
        WHERE d.network = $1 AND d.currency = $2 AND d.role = 'treasury' AND d.status = 'confirmed'
          AND d.spent_by_tx IS NULL
        GROUP BY d.address, d.role, a.role, a.key_index, a.lane ORDER BY sum(d.amount) DESC`,
      [network, currency],
    );
  const rows = await tx.query<Array<Pick<Holding, 'address' | 'role' | 'lane'>>>(
    `SELECT DISTINCT a.address, a.role, ${laneOf('a')} AS lane
       FROM wallet_total t JOIN address a ON a.network = t.network AND a.address = t.address
      WHERE t.network = $1 AND t.currency = $2 AND t.arrived > 0 AND a.role IN ('treasury', 'gas')`,
    [network, currency],
  );
  const sources = new Map((await treasurySources(tx, currency)).map(({ address, free }) => [address, free]));
  const found: Holding[] = [];
  for (const one of rows) {
    const { arrived, goneUnits } = await spendableAt(tx, { network, address: one.address, currency, native });
    const held = subtract(arrived, fromUnits(BigInt(goneUnits), decimals));
    const free = one.role === 'gas' ? held : fromUnits(sources.get(one.address) ?? 0n, decimals);
    if (isZero(held) && isZero(free)) continue;
    found.push({ ...one, held, free, taken: subtract(held, free) });
  }
  return found.toSorted((a, b) => compare(b.free, a.free));
}
