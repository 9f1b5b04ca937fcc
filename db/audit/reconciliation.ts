import { wholeSums, type Sums, type SumsReader } from './own-sums';
import { isOurs } from './own-address';
import { isPosted } from './posted';
import { takeSurplus, type SurplusPlace } from './surplus';
import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, assets, networks, type Currency, type NetworkId } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { add, fit, fromUnits, isPositive, isZero, negate, subtract, toUnits } from '../../domain/money';
import { freeze } from '../limits/outbound';
import { openIncidentAgain } from '../incidents';

/** What the books say that we hold of an asset, against what the chain says at one final block. Whole units; the parts
 *  of `ledger` to `leaving` add up to what the chain must hold. Invariants: I4, I5. */
export type AssetPosition = Readonly<{
  currency: Currency;
  /** Of the block that both sides are taken at. */
  height: number;
  /** Asset accounts on our own addresses. */
  ledger: string;
  /** In the chain and not in the ledger yet: deposits that wait for depth, dust, what nobody has claimed; less what a
   *  reorganisation took and the ledger does not know yet. */
  arriving: string;
  /** Gone from the chain and not from the ledger yet: what is mined and not booked, with its fees. */
  leaving: string;
  /** What is planned or signed and not mined will take this; nothing of it has left. */
  open: string;
  chain: string;
  /** chain − (ledger + arriving − leaving): 0. */
  unexplained: string;
  /** Addresses or coins that differ by themselves, where there are such. */
  where: readonly string[];
  /** Addresses that hold more than their rows say; on account chains alone. */
  beyond: readonly SurplusPlace[];
  /** The newest deposit that the rows had; what came after it is not in these figures. */
  lastDeposit: string;
}>;

type Place = { address: string; currency: string; units: string; recent: boolean };
type Beside = { currency: string; arriving: string; leaving: string; open: string };
type Snapshot = { height: number; hash: string; lastDeposit: string; places: Place[]; ledger: Sums; beside: Beside[] };

/** Node questions at once. */
const width = 16;
/** Addresses that the rows call empty are asked about while something moved on them within so many blocks. */
const recentBlocks = 300;

const registry = JSON.stringify(
  assets.map(({ currency, decimals, network }) => ({ currency, decimals, network, native: networks[network].native })),
);

/** Attempts of ours in the chain up to $2, with what each took from its address, whether its journals are there, and of
 *  a batch what is settled already with the payments in it. What it gave others is what was signed, and `more_units`
 *  above that while the ledger does not have the difference. */
const movesSql = `moved AS (
  SELECT a.id, a.from_address, i.currency, r.decimals, r.native, n.decimals AS native_decimals, a.height,
         CASE WHEN a.moves IS NOT NULL THEN units_from(a.moves, a.from_address)
              WHEN a.success IS FALSE THEN 0 ELSE a.moved_units END AS units,
           coalesce(a.fee_units, a.max_fee_units) AS fee_units, a.success, a.moves,
         signed.units AS out_units,
         CASE WHEN a.moves IS NULL OR i.booked THEN 0
              ELSE (SELECT coalesce(sum((m->>'units')::numeric), 0) FROM jsonb_array_elements(a.moves) m
                     WHERE ${isOurs('i.network', "m->>'to'")} IS NULL) - signed.units END AS more_units,
         ${isPosted('i')} AS posted,
         shared.fee_units AS shared_fee_units, shared.net_units AS shared_out_units
    FROM attempt a JOIN intent i ON i.id = a.intent_id JOIN registry r ON r.currency = i.currency
      JOIN registry n ON n.currency = r.native
    CROSS JOIN LATERAL (SELECT CASE WHEN a.success IS FALSE OR a.decision = 'failed' THEN 0
      ELSE (SELECT coalesce(sum((o->>'units')::numeric), 0) FROM jsonb_array_elements(a.outputs) o
             WHERE ${isOurs('i.network', "o->>'address'")} IS NULL) END AS units) signed
    CROSS JOIN LATERAL (SELECT coalesce(sum(s.fee_units), 0) AS fee_units, coalesce(sum(s.net_units) FILTER (
           WHERE a.decision IS DISTINCT FROM 'failed'), 0) AS net_units
      FROM sweep_share s
      WHERE s.intent_id = i.id AND s.dropped_at IS NULL AND EXISTS (SELECT FROM journal j
        WHERE j.key = 'sweep/' || i.id || '/' || s.payment_id)) shared
   WHERE a.network = $1 AND a.status IN ('mined', 'final') AND a.height <= $2)`;

const headSql = `WITH registry AS (SELECT * FROM jsonb_to_recordset($3) AS r (currency text, decimals integer,
  network text, native text)), ${movesSql}`;

/** What explains that the chain has more or less of each currency at a height than the ledger. Parameters: network,
 *  height, the registry of currencies. */
const besideSql = `${headSql}
 SELECT r.currency, trim_scale(coalesce(d.amount, 0) - coalesce(u.amount, 0))::text AS arriving,
        trim_scale(coalesce(o.amount, 0) + coalesce(f.amount, 0))::text AS leaving,
          trim_scale(coalesce(p.amount, 0))::text AS open
   FROM registry r
   LEFT JOIN (
     SELECT currency, sum(amount) AS amount FROM deposit WHERE network = $1 AND status IN ('mined', 'confirmed')
       AND height <= $2 AND allocation IS NULL GROUP BY 1
   ) d ON d.currency = r.currency
   LEFT JOIN (
     SELECT d.currency, sum(d.amount) AS amount FROM deposit d WHERE d.network = $1
       AND d.status NOT IN ('mined', 'confirmed')
       AND d.allocation NOT IN ('own') AND NOT EXISTS (
         SELECT FROM journal j WHERE j.key = 'loss/' || d.network || '/' || d.tx_id || '/' || d.out_index)
           GROUP BY 1
   ) u ON u.currency = r.currency
   LEFT JOIN (SELECT currency, sum((CASE WHEN posted THEN 0 ELSE out_units - shared_out_units END + more_units)
       / power(10::numeric, decimals)) AS amount FROM moved WHERE NOT posted OR more_units <> 0 GROUP BY 1) o
     ON o.currency = r.currency
   LEFT JOIN (SELECT native, sum((fee_units - shared_fee_units) / power(10::numeric, native_decimals)) AS amount
     FROM moved WHERE NOT posted GROUP BY 1) f ON f.native = r.currency
   LEFT JOIN (SELECT i.currency, sum((o->>'units')::numeric / power(10::numeric, g.decimals)) AS amount
                FROM intent i JOIN registry g ON g.currency = i.currency
                  CROSS JOIN jsonb_array_elements(i.outputs) o
               WHERE i.network = $1 AND i.status IN ('planned', 'stored', 'sent') AND o->>'units' IS NOT NULL
                 AND ${isOurs('i.network', "o->>'address'")} IS NULL GROUP BY 1) p ON p.currency = r.currency
  WHERE r.network = $1 ORDER BY r.currency`;

/** What an account chain must hold at each address of ours; nothing where a contract has sent native coins that
 *  credit nothing (`currency` null, and an index below that of the transaction's own value). Parameters: those
 *  above, and how many blocks are recent. */
const heldSql = `${headSql}
 SELECT address, currency, trim_scale(sum(units))::text AS units, max(height) > $2 - $4
   OR bool_or(own) AS recent FROM (
   SELECT d.address, d.currency, d.amount * power(10::numeric, r.decimals) AS units, d.height,
     d.role <> 'deposit' AS own
     FROM deposit d JOIN registry r ON r.currency = d.currency
    WHERE d.network = $1 AND d.status IN ('mined', 'confirmed') AND d.height <= $2
   UNION ALL SELECT d.address, r.native, 0, d.height, false FROM deposit d CROSS JOIN (SELECT DISTINCT native
     FROM registry WHERE network = $1) r
              WHERE d.network = $1 AND d.status IN ('mined', 'confirmed') AND d.height <= $2 AND d.currency IS NULL
                AND d.out_index < -1
   UNION ALL SELECT from_address, currency, -units, height, false FROM moved m
              WHERE NOT EXISTS (SELECT FROM attempt_account c WHERE c.attempt_id = m.id)
   UNION ALL SELECT c.address, m.currency, CASE WHEN m.moves IS NOT NULL THEN -units_from(m.moves, c.address)
              WHEN m.success IS FALSE THEN 0 ELSE -c.units END, m.height, false
               FROM attempt_account c JOIN moved m ON m.id = c.attempt_id
   UNION ALL SELECT from_address, native, -fee_units, height, false FROM moved
   UNION ALL SELECT a.address, r.currency, 0, 0, true FROM address a
     JOIN registry r ON r.network = a.network
              WHERE a.network = $1 AND a.role <> 'deposit' AND (a.key_index = 0 OR a.lane IS NOT NULL)) held
  GROUP BY 1, 2 HAVING sum(units) <> 0 OR max(height) > $2 - $4 OR bool_or(own)`;

async function snapshot(
  db: DataSource,
  adapter: ChainAdapter,
  depth: number,
  own: SumsReader | undefined,
): Promise<Snapshot | null> {
  const { network } = adapter;
  const { kind } = networks[network];
  return db.transaction('REPEATABLE READ', async (tx: EntityManager) => {
    await tx.query('SET LOCAL statement_timeout = 60000');
    const [cursor] = await tx.query<Array<{ height: number; hash: string; lastDeposit: string }>>(
      `SELECT height::int AS height, hash, (SELECT coalesce(max(id), 0)::text FROM deposit) AS "lastDeposit"
         FROM chain_cursor WHERE network = $1`,
      [network],
    );
    // Unspent outputs are known at the tip alone.
    const height = kind === 'utxo' ? cursor?.height : cursor && cursor.height - depth + 1;
    if (!cursor || height === undefined || height < 0) return null;
    // On account chains a fee is known once its transaction is deep enough.
    const [unknown] = await tx.query<Array<{ n: number }>>(
      `SELECT count(*)::int AS n FROM attempt WHERE network = $1 AND status = 'mined' AND fee_units IS NULL
         AND height <= $2`,
      [network, kind === 'utxo' ? -1 : height],
    );
    if (unknown!.n) return null;
    const ledger = await (own ? own.read(tx) : wholeSums(tx));
    const beside = await tx.query<Beside[]>(besideSql, [network, height, registry]);
    const places =
      kind === 'utxo'
        ? await tx.query<Place[]>(
            `SELECT tx_id || ':' || out_index AS address, currency,
               trim_scale(amount * power(10::numeric, $2))::text AS units, true AS recent FROM deposit
              WHERE network = $1 AND status IN ('mined', 'confirmed') AND spent_by_tx IS NULL AND currency IS NOT NULL
                AND height <= $3`,
            [network, assetOf(networks[network].native).decimals, height],
          )
        : await tx.query<Place[]>(heldSql, [network, height, registry, recentBlocks]);
    return { height, hash: cursor.hash, lastDeposit: cursor.lastDeposit, places, ledger, beside };
  });
}

/** What the chain holds at each place, in base units. */
async function holdings(adapter: ChainAdapter, { places, height }: Snapshot): Promise<bigint[]> {
  const held: bigint[] = [];
  for (let n = 0; n < places.length; n += width)
    held.push(
      ...(await Promise.all(
        places.slice(n, n + width).map(async ({ address, currency, units }) => {
          if (networks[adapter.network].kind !== 'utxo')
            return (await adapter.holding(address, currency, height)) ?? 0n;
          const at = address.lastIndexOf(':');
          const isThere = await adapter.unspent(address.slice(0, at), parseInt(address.slice(at + 1), 10));
          return isThere ? BigInt(units) : 0n;
        }),
      )),
    );
  return held;
}

async function look(
  db: DataSource,
  adapter: ChainAdapter,
  depth: number,
  own?: SumsReader,
): Promise<AssetPosition[] | null> {
  const taken = await snapshot(db, adapter, depth, own);
  if (!taken) return null;
  const isUtxo = networks[adapter.network].kind === 'utxo';
  const isStill = async (): Promise<boolean> => {
    const tip = isUtxo ? await adapter.head() : null;
    const [row] = (await db.query('SELECT hash FROM chain_cursor WHERE network = $1', [adapter.network])) as Array<{
      hash: string;
    }>;
    return tip ? tip.hash === taken.hash && row?.hash === taken.hash : true;
  };
  if (!(await isStill())) return null;
  const held = await holdings(adapter, taken);
  // A tip that moved while we read proves nothing.
  if (!(await isStill())) return null;
  return taken.beside.map(({ currency, arriving, leaving, open }) => {
    const { decimals } = assetOf(currency);
    const ledger = taken.ledger[currency] ?? '0';
    let chain = 0n;
    const where: string[] = [];
    const beyond: SurplusPlace[] = [];
    for (const [index, place] of taken.places.entries()) {
      if (place.currency !== currency) continue;
      chain += held[index]!;
      const known = toUnits(fit(place.units, 0, 'down'), 0);
      if (!isUtxo && held[index]! > known)
        beyond.push({
          address: place.address,
          held: fromUnits(held[index]!, decimals),
          beyond: fromUnits(held[index]! - known, decimals),
        });
      if (held[index] !== known)
        where.push(
          `${place.address}: chain ${fromUnits(held[index]!, decimals)}, ` +
            `rows ${fromUnits(BigInt(place.units), decimals)}`,
        );
    }
    const onChain = fromUnits(chain, decimals);
    return {
      currency,
      height: taken.height,
      ledger,
      arriving,
      leaving,
      open,
      chain: onChain,
      unexplained: subtract(onChain, add(ledger, arriving, negate(leaving))),
      where: where.slice(0, 10),
      beyond,
      lastDeposit: taken.lastDeposit,
    };
  });
}

/** Compares books and chains, asset by asset. What does not add up is looked at again after `settleMs`, and counts only
 *  where the same amount is missing both times. `unknown`: networks that could not be read now; `unclear`: assets that
 *  differed by another amount the second time, of which nothing is known. `own`: what this process knows of the ledger
 *  from its earlier looks; the second look never relies on it. */
export async function reconcileAssets(
  db: DataSource,
  adapters: readonly ChainAdapter[],
  depthOf: (network: NetworkId) => number,
  settleMs = 1500,
  own?: SumsReader,
): Promise<{ positions: AssetPosition[]; unknown: NetworkId[]; unclear: Currency[] }> {
  const positions: AssetPosition[] = [];
  const unknown: NetworkId[] = [];
  const unclear: Currency[] = [];
  for (const adapter of adapters) {
    const ask = (): Promise<AssetPosition[] | null> =>
      look(db, adapter, depthOf(adapter.network), own).catch(() => null);
    let found = await ask();
    if (found?.some((one) => !isZero(one.unexplained))) {
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      own?.forget();
      const before = new Map(found.map(({ currency, unexplained }) => [currency, unexplained]));
      const again = await ask();
      const isClear = (one: AssetPosition): boolean =>
        isZero(one.unexplained) || before.get(one.currency) === one.unexplained;
      unclear.push(...(again ?? []).filter((one) => !isClear(one)).map(({ currency }) => currency));
      found = again?.filter(isClear) ?? null;
    }
    if (found) positions.push(...found);
    else unknown.push(adapter.network);
  }
  return { positions, unknown, unclear };
}

/** Up to how much of an asset is booked as unexplained without an operator. Decimal strings; none: nothing. */
export type UnexplainedBounds = Readonly<Record<string, string>>;

/** A position after its surplus went to whom it belongs. */
async function withoutSurplus(
  tx: EntityManager,
  one: AssetPosition,
  bounds: UnexplainedBounds,
): Promise<AssetPosition> {
  if (!isPositive(one.unexplained)) return one;
  const { currency, height, unexplained, lastDeposit, beyond: places } = one;
  const { network } = assetOf(currency);
  const surplus = { network, currency, height, unexplained, lastDeposit, places };
  const { given, booked } = await takeSurplus(tx, surplus, bounds[currency] ?? '0');
  return {
    ...one,
    arriving: add(one.arriving, given),
    ledger: add(one.ledger, booked),
    unexplained: subtract(unexplained, add(given, booked)),
  };
}

/** Keeps the newest position of each asset. A surplus goes to the payment whose address holds it, or is booked; what is
 *  left of it pages. A deficit stops the asset from leaving and pages, until an operator has looked. Returns the assets
 *  that were stopped by it. */
export const storePositions = (
  db: DataSource,
  positions: readonly AssetPosition[],
  bounds: UnexplainedBounds = {},
): Promise<Currency[]> =>
  db.transaction(async (tx) => {
    const stopped: Currency[] = [];
    for (const found of positions) {
      const one = await withoutSurplus(tx, found, bounds);
      const { beyond: _places, lastDeposit: _last, ...shown } = one;
      const { currency, where, ...figures } = shown;
      await tx.query(
        `INSERT INTO reconciliation (currency, height, ledger, arriving, leaving, open, chain, unexplained, details)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (currency) DO UPDATE SET at = now(),
           height = EXCLUDED.height, ledger = EXCLUDED.ledger,
           arriving = EXCLUDED.arriving, leaving = EXCLUDED.leaving, open = EXCLUDED.open,
           chain = EXCLUDED.chain, unexplained = EXCLUDED.unexplained,
           details = EXCLUDED.details`,
        [
          currency,
          figures.height,
          figures.ledger,
          figures.arriving,
          figures.leaving,
          figures.open,
          figures.chain,
          figures.unexplained,
          JSON.stringify(where),
        ],
      );
      if (isZero(one.unexplained)) continue;
      const reason = `The books and the chain differ by ${one.unexplained} ${currency} at block ${one.height}`;
      if (!isPositive(one.unexplained) && (await freeze(tx, currency, reason))) stopped.push(currency);
      await openIncidentAgain(tx, {
        kind: 'unreconciled',
        subject: { kind: 'asset', id: currency },
        distinction: one.unexplained,
        details: shown,
      });
    }
    return stopped;
  });
