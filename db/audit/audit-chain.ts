import type { DataSource } from 'typeorm';
import { assetOf, networks } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { fit, toUnits } from '../../domain/money';
import type { Violation } from './violation';

type Row = { address: string; currency: string; isOwn: boolean; arrived: string; gone: string; fees: string };
type Coin = { tx_id: string; out_index: number };

/** Addresses checked per look: those that moved last come first, the rest takes its turn. */
const addressesPerLook = 400;
const derivedPerLook = 50;

/** I5 against the chain, address by address at one block that is final, and I15 for the newest addresses. A network
 *  whose node does not answer, or whose rows still miss a fee, is left for the next look. */
export async function auditHoldings(db: DataSource, adapters: readonly ChainAdapter[]): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const adapter of adapters) {
    violations.push(...(await auditDerivation(db, adapter)));
    const found =
      networks[adapter.network].kind === 'utxo' ? await wrongCoins(db, adapter) : await wrongBalances(db, adapter);
    if (found.length)
      violations.push({
        invariant: 'I5',
        what: `holdings on ${adapter.network} are not what the rows say`,
        found: found.slice(0, 20),
      });
  }
  return violations;
}

async function finalHeight(db: DataSource, adapter: ChainAdapter): Promise<number | null> {
  const [cursor] = (await db.query('SELECT height::int AS height, hash FROM chain_cursor WHERE network = $1', [
    adapter.network,
  ])) as Array<{ height: number; hash: string }>;
  if (!cursor) return null;
  const canonical = await adapter.blockHash(cursor.height).catch(() => null);
  return canonical === cursor.hash ? cursor.height : null;
}

type Holding = Readonly<{ address: string; currency: string; isOwn: boolean; expected: bigint }>;
type Wrong = Holding & Readonly<{ height: number; held: bigint }>;

/** What each address must hold after a block: deposits less what our transactions took. Parameters: network, its native
 *  coin, height, how many. */
const expectedSql = `WITH seen AS (
       SELECT address, currency FROM deposit WHERE network = $1 AND currency IS NOT NULL
       UNION SELECT from_address, $2 FROM attempt WHERE network = $1),
     held AS (
       SELECT s.address, s.currency, NOT EXISTS (SELECT FROM address a WHERE a.network = $1 AND a.address = s.address
           AND a.role = 'deposit') AS "isOwn",
         coalesce((SELECT sum(d.amount) FROM deposit d WHERE d.network = $1 AND d.address = s.address
           AND d.currency = s.currency
                     AND d.status IN ('mined', 'confirmed') AND d.height <= $3), 0)::text AS arrived,
         (coalesce((SELECT sum(CASE WHEN a.moves IS NOT NULL THEN units_from(a.moves, s.address)
             WHEN a.success IS NOT FALSE THEN a.moved_units ELSE 0 END)
                     FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.network = $1
           AND a.from_address = s.address
                     AND i.currency = s.currency AND a.status IN ('mined', 'final') AND a.height <= $3
                     AND NOT EXISTS (SELECT FROM attempt_account c WHERE c.attempt_id = a.id)), 0)
          + coalesce((SELECT sum(CASE WHEN a.moves IS NOT NULL THEN units_from(a.moves, s.address)
             WHEN a.success IS NOT FALSE THEN c.units ELSE 0 END)
                     FROM attempt_account c JOIN attempt a ON a.id = c.attempt_id
            JOIN intent i ON i.id = a.intent_id
                     WHERE c.network = $1 AND c.address = s.address AND i.currency = s.currency
                       AND a.status IN ('mined', 'final') AND a.height <= $3), 0))::text AS gone,
         CASE WHEN s.currency = $2 THEN coalesce((SELECT sum(a.fee_units) FROM attempt a WHERE a.network = $1
           AND a.from_address = s.address
                     AND a.status IN ('mined', 'final') AND a.height <= $3), 0) ELSE 0 END::text AS fees,
         (SELECT max(d.id) FROM deposit d WHERE d.network = $1 AND d.address = s.address) AS newest
       FROM seen s
       WHERE NOT EXISTS (SELECT FROM attempt a WHERE a.network = $1 AND a.from_address = s.address
                            AND a.status = 'mined' AND a.fee_units IS NULL))
     SELECT address, currency, "isOwn", arrived, gone, fees FROM held ORDER BY newest DESC NULLS LAST LIMIT $4`;

async function expectedAt(db: DataSource, { network }: ChainAdapter, height: number): Promise<Holding[]> {
  const of = [network, networks[network].native, height, addressesPerLook];
  return ((await db.query(expectedSql, of)) as Row[]).map(({ address, currency, isOwn, arrived, gone, fees }) => {
    const { decimals } = assetOf(currency);
    const expected = toUnits(fit(arrived, decimals, 'down'), decimals) - BigInt(gone) - BigInt(fees);
    return { address, currency, isOwn, expected };
  });
}

/** Those of them that hold something else. What a node does not tell is not known. */
async function differing(adapter: ChainAdapter, height: number, holdings: readonly Holding[]): Promise<Wrong[]> {
  const wrong: Wrong[] = [];
  for (const one of holdings) {
    const held = await adapter.holding(one.address, one.currency, height).catch(() => null);
    if (held !== null && held !== one.expected) wrong.push({ ...one, height, held });
  }
  return wrong;
}

/** Account chains: what each address holds at the cursor's block against deposits less what our transactions took. */
async function wrongBalances(db: DataSource, adapter: ChainAdapter): Promise<string[]> {
  const height = await finalHeight(db, adapter);
  if (height === null) return [];
  const found = await differing(adapter, height, await expectedAt(db, adapter, height));
  const beyond = found.filter(({ held, expected }) => held > expected);
  const open = beyond.length ? await unexplained(db, adapter, beyond) : [];
  const wrong = [...found.filter(({ held, expected }) => held < expected), ...open];
  // A block that was replaced while we read proves nothing.
  if ((await finalHeight(db, adapter)) === null) return [];
  return wrong.map(
    ({ currency, address, height: at, expected, held }) =>
      `${currency} on ${address} at ${at}: rows ${expected}, chain ${held}`,
  );
}

/** Anybody can send us money by a way that nothing tells of. The comparison of books and chain writes it down some
 *  blocks later, so that it counts here where that comparison has seen its block and left it as it was. On wallets of
 *  ours it may be booked as unexplained, all of a currency together. docs/decisions/0077-trx-from-contracts.md */
async function unexplained(db: DataSource, adapter: ChainAdapter, beyond: readonly Wrong[]): Promise<Wrong[]> {
  const compared = (await db.query(
    `SELECT currency, height::int AS height, (SELECT coalesce(sum(CASE WHEN p.credit = 'Q:unexplained' THEN p.amount
              ELSE -p.amount END), 0)::text FROM posting p WHERE p.asset = r.currency
              AND 'Q:unexplained' IN (p.credit, p.debit)) AS booked
       FROM reconciliation r WHERE currency = ANY($1)`,
    [[...new Set(beyond.map(({ currency }) => currency))]],
  )) as Array<{ currency: string; height: number; booked: string }>;
  const left: Wrong[] = [];
  for (const currency of new Set(beyond.map((one) => one.currency))) {
    const own = beyond.filter((one) => one.currency === currency);
    const last = compared.find((one) => one.currency === currency);
    const isThere = (one: Holding): boolean =>
      one.currency === currency && own.some(({ address }) => address === one.address);
    const seen = last
      ? (await differing(adapter, last.height, (await expectedAt(db, adapter, last.height)).filter(isThere))).filter(
          ({ held, expected }) => held > expected,
        )
      : own;
    const { decimals } = assetOf(currency);
    const sum = seen.reduce((units, { isOwn, held, expected }) => (isOwn ? units + held - expected : units), 0n);
    const isBooked = last !== undefined && sum <= toUnits(fit(last.booked, decimals, 'down'), decimals);
    left.push(...seen.filter(({ isOwn }) => !isOwn || !isBooked));
  }
  return left;
}

/** UTXO chains: each coin that the rows call ours and unspent is in the chain's set, and each that is spent went by a
 *  transaction of ours. */
async function wrongCoins(db: DataSource, adapter: ChainAdapter): Promise<string[]> {
  if ((await finalHeight(db, adapter)) === null) return [];
  const coins = (await db.query(
    `SELECT tx_id, out_index FROM deposit WHERE network = $1 AND status IN ('mined', 'confirmed')
       AND spent_by_tx IS NULL ORDER BY id DESC LIMIT $2`,
    [adapter.network, addressesPerLook],
  )) as Coin[];
  const wrong: string[] = [];
  for (const coin of coins) {
    const isThere = await adapter.unspent(coin.tx_id, coin.out_index).catch(() => null);
    if (isThere === false) wrong.push(`coin ${coin.tx_id}:${coin.out_index} is not in the chain's unspent set`);
  }
  const taken = (await db.query(
    `SELECT tx_id, out_index, spent_by_tx FROM (
       SELECT * FROM deposit WHERE network = $1 AND status IN ('mined', 'confirmed') AND spent_by_tx IS NOT NULL
         ORDER BY id DESC LIMIT $2) d
      WHERE NOT EXISTS (SELECT FROM attempt a WHERE a.network = $1 AND a.tx_id = d.spent_by_tx)`,
    [adapter.network, addressesPerLook],
  )) as Array<Coin & { spent_by_tx: string }>;
  for (const coin of taken)
    wrong.push(`coin ${coin.tx_id}:${coin.out_index} was spent by ${coin.spent_by_tx}, which is not ours`);
  return wrong;
}

async function auditDerivation(db: DataSource, adapter: ChainAdapter): Promise<Violation[]> {
  const rows = (await db.query(
    `SELECT a.address, o.branch, o.key_index, branch_key(k.network, k.role, o.branch) AS xpub FROM address a
       LEFT JOIN address o ON o.network = a.network AND o.address = a.address AND o.tag = ''
       LEFT JOIN extended_key k ON k.network = o.network AND k.role = o.role
      WHERE a.network = $1 ORDER BY a.created_at DESC LIMIT $2`,
    [adapter.network, derivedPerLook],
  )) as Array<{ address: string; branch: number; key_index: number; xpub: string | null }>;
  const found = rows
    .filter((row) => row.xpub === null || adapter.derive(row.xpub, row.key_index, row.branch) !== row.address)
    .map((row) => row.address);
  return found.length
    ? [{ invariant: 'I15', what: `addresses on ${adapter.network} that do not derive again`, found }]
    : [];
}
