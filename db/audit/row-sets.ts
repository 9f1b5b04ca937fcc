import { assets, networks, networkOf } from '../../domain/chains/assets';
import { kinds, type KindFacts } from '../../domain/txmanager/kinds';
import { isPosted } from './posted';

/** What the checks of the books share: sets of rows, as SQL. */

/** Its SQL answers the offenders as one text column. */
export type Check = Readonly<{ invariant: string; what: string; sql: string }>;

/** The registry as a row set: `(currency, network, kind, native, decimals, native_decimals)`. */
const registry = JSON.stringify(
  assets.map((asset) => ({
    currency: asset.currency,
    network: asset.network,
    kind: networks[asset.network].kind,
    native: networkOf(asset.currency).native,
    decimals: asset.decimals,
    native_decimals: assets.find((other) => other.currency === networks[asset.network].native)!.decimals,
  })),
);
export const registrySql = `(SELECT * FROM jsonb_to_recordset('${registry}') AS r (currency text, network text,
  kind text, native text, decimals int, native_decimals int))`;

/** Σ debits − Σ credits of the asset accounts on chains, by asset; of all of them with what a provider holds for us,
 *  `allAssets`. */
export const heldAssets = `SELECT asset, sum(amount) AS amount FROM (
    SELECT asset, amount FROM posting WHERE debit LIKE 'A:%' AND debit <> 'A:provider'
    UNION ALL SELECT asset, -amount FROM posting WHERE credit LIKE 'A:%' AND credit <> 'A:provider') moved
      GROUP BY asset`;
export const allAssets = `SELECT asset, sum(amount) AS amount FROM (
    SELECT asset, amount FROM posting WHERE debit LIKE 'A:%' UNION ALL SELECT asset, -amount FROM posting
      WHERE credit LIKE 'A:%') moved GROUP BY asset`;

/** Intents whose end is in the ledger: sweeps with their payment's settlement, everything else and what was reverted
 *  when booked. */
export const postedIntents = `SELECT i.* FROM intent i WHERE ${isPosted('i')}`;

/** The parts of batches whose payments are settled. */
export const postedShares = `sweep_share s JOIN intent i ON i.id = s.intent_id
  JOIN ${registrySql} r ON r.currency = i.currency
   WHERE s.dropped_at IS NULL AND EXISTS (SELECT FROM journal j WHERE j.key = 'sweep/' || i.id || '/' || s.payment_id)`;
/** Rows of one kind: what each holds, what arrives, where, and how it stands. */
const rowsOf = (kind: string, from: string): string =>
  `SELECT '${kind}' AS kind, id, merchant_id, currency, gross_amount AS gross, net_amount AS net, address,
          destination_tag, tx_id, status FROM ${from}`;
/** Everything that holds a merchant's money on its way out. */
export const holds = `(${Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { holdsIn }]) => (holdsIn === null ? [] : [rowsOf(kind, holdsIn)]))
  .join(' UNION ALL ')})`;
/** The same rows, and those of the same tables that hold nothing: refunds from the address that their money came to. */
export const paid = `(${Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { holdsIn, record }]) => (holdsIn === null || record === null ? [] : [rowsOf(kind, record)]))
  .join(' UNION ALL ')})`;

/** Is it in force? `j`: a row of `journal`, or none. */
const isInForce = (j: string): string =>
  `(${j}.id IS NOT NULL AND (NOT EXISTS (SELECT FROM journal back WHERE back.reverses = ${j}.id)
     OR journal_stands(${j}.key)))`;
/** The capture or the release of the hold under `key`, whichever is in force: `id`, and whether both are. */
export const captureOrReleaseOf = (
  key: string,
): string => `LEFT JOIN journal e ON e.key = ${key} || '/end' LEFT JOIN journal o ON o.key = ${key} || '/2/end'
           CROSS JOIN LATERAL (SELECT CASE WHEN ${isInForce('e')} THEN e.id WHEN ${isInForce('o')} THEN o.id END AS id,
             ${isInForce('e')} AND ${isInForce('o')} AS is_double) f`;
