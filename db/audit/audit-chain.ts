import type { DataSource } from 'typeorm';
import { assetOf, networks } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { fit, toUnits } from '../../domain/money';
import type { Violation } from './violation';

type Row = { address: string; currency: string; arrived: string; gone: string; fees: string };
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

/** Account chains: what each address holds at the cursor's block against deposits less what our transactions took. */
async function wrongBalances(db: DataSource, adapter: ChainAdapter): Promise<string[]> {
  const height = await finalHeight(db, adapter);
  if (height === null) return [];
  const { native } = networks[adapter.network];
  const decimalsOf = (currency: string): number => assetOf(currency).decimals;
  const rows = (await db.query(
    `WITH seen AS (
       SELECT address, currency FROM deposit WHERE network = $1 AND currency IS NOT NULL
       UNION SELECT from_address, $2 FROM attempt WHERE network = $1),
     held AS (
       SELECT s.address, s.currency,
         coalesce((SELECT sum(d.amount) FROM deposit d WHERE d.network = $1 AND d.address = s.address
           AND d.currency = s.currency
                     AND d.status IN ('mined', 'confirmed') AND d.height <= $3), 0)::text AS arrived,
         (coalesce((SELECT sum(a.moved_units) FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.network = $1
           AND a.from_address = s.address
                     AND i.currency = s.currency AND a.status IN ('mined', 'final') AND a.success IS NOT FALSE
                       AND a.height <= $3
                     AND NOT EXISTS (SELECT FROM attempt_account c WHERE c.attempt_id = a.id)), 0)
          + coalesce((SELECT sum(c.units) FROM attempt_account c JOIN attempt a ON a.id = c.attempt_id
            JOIN intent i ON i.id = a.intent_id
                     WHERE c.network = $1 AND c.address = s.address AND i.currency = s.currency
                       AND a.status IN ('mined', 'final')
                     AND a.success IS NOT FALSE AND a.height <= $3), 0))::text AS gone,
         CASE WHEN s.currency = $2 THEN coalesce((SELECT sum(a.fee_units) FROM attempt a WHERE a.network = $1
           AND a.from_address = s.address
                     AND a.status IN ('mined', 'final') AND a.height <= $3), 0) ELSE 0 END::text AS fees,
         (SELECT max(d.id) FROM deposit d WHERE d.network = $1 AND d.address = s.address) AS newest
       FROM seen s
       WHERE NOT EXISTS (SELECT FROM attempt a WHERE a.network = $1 AND a.from_address = s.address
                            AND a.status = 'mined' AND a.fee_units IS NULL))
     SELECT address, currency, arrived, gone, fees FROM held ORDER BY newest DESC NULLS LAST LIMIT $4`,
    [adapter.network, native, height, addressesPerLook],
  )) as Row[];
  const wrong: string[] = [];
  for (const row of rows) {
    const decimals = decimalsOf(row.currency);
    const expected = toUnits(fit(row.arrived, decimals, 'down'), decimals) - BigInt(row.gone) - BigInt(row.fees);
    const held = await adapter.holding(row.address, row.currency, height).catch(() => null);
    if (held !== null && held !== expected)
      wrong.push(`${row.currency} on ${row.address} at ${height}: rows ${expected}, chain ${held}`);
  }
  // A block that was replaced while we read proves nothing.
  return (await finalHeight(db, adapter)) === null ? [] : wrong;
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
