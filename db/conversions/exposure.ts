import { assetsOn, type Currency, type NetworkId } from '../../domain/chains/assets';
import type { PairMode } from '../../domain/conversions/conversion';
import { fit, times } from '../../domain/money';
import { recordAct, type Actor } from '../access/audit-log';
import { lightningCurrency } from '../../domain/lightning/currency';
import { ratedAsSql } from '../functions/rated-as';
import { freeSql } from './conversions';
import type { Queryable } from '../query';

/** What converting from our own balance sheet leaves the platform with, and what bounds it. */

/** Exact decimal strings; dollars at the newest rates, null where there is none. `position`: what was taken in by
 *  converting less what was given, either sign. `free`: what the treasury holds beyond what is owed and what came for
 *  conversions that are under way; by Lightning, what is in the channels. */
export type AssetExposure = Readonly<{
  currency: Currency;
  position: string;
  positionUsd: string | null;
  limitUsd: string | null;
  beyond: 'external' | 'off';
  treasury: string;
  owed: string;
  free: string;
  freeUsd: string | null;
}>;
export type PairSetting = Readonly<{
  fromCurrency: Currency;
  toCurrency: Currency;
  mode: PairMode;
  maximumUsd: string | null;
}>;

type Row = {
  asset: string;
  treasury: string;
  owed: string;
  free: string;
  position: string;
  limit_usd: string | null;
  beyond: 'external' | 'off';
  rate: string | null;
};

/** The platform's position in every asset of these networks, in bitcoin by Lightning where the books have any, and
 *  every pair that has a setting of its own. */
export async function readExposure(
  db: Queryable,
  on: readonly NetworkId[],
): Promise<{ assets: AssetExposure[]; pairs: PairSetting[] }> {
  const rows = await db.query<Row[]>(
    `SELECT held.*, coalesce(f.amount, 0)::text AS position, f.limit_usd::text, coalesce(f.beyond, 'off') AS beyond,
       r.value::text AS rate
       FROM (${freeSql}) held LEFT JOIN fx_position f ON f.asset = held.asset
       LEFT JOIN rate_latest r ON r.currency = ${ratedAsSql('held.asset')} AND r.fiat = 'USD'
      WHERE held.asset <> $2 OR f.asset IS NOT NULL OR (held.treasury::numeric, held.owed::numeric) <> (0, 0)
      ORDER BY held.asset`,
    [[...assetsOn(on).map(({ currency }) => currency), lightningCurrency], lightningCurrency],
  );
  const pairs = await db.query<PairSetting[]>(
    `SELECT from_currency AS "fromCurrency", to_currency AS "toCurrency", mode, max_usd::text AS "maximumUsd"
       FROM conversion_pair ORDER BY 1, 2`,
  );
  const exact = (amount: string): string => fit(amount, 18, 'down');
  return {
    assets: rows.map(({ asset, position, limit_usd, beyond, treasury, owed, free, rate }) => {
      const usd = (amount: string): string | null => (rate === null ? null : times(amount, rate, 2, 'down'));
      return {
        currency: asset,
        position: exact(position),
        positionUsd: usd(position),
        limitUsd: limit_usd,
        beyond,
        treasury: exact(treasury),
        owed: exact(owed),
        free: exact(free),
        freeUsd: usd(free),
      };
    }),
    pairs,
  };
}

/** Bounds the platform's position in an asset, either way. `limitUsd` null: not at all. */
export async function limitPosition(
  tx: Queryable,
  actor: Actor,
  limit: Readonly<{ currency: Currency; limitUsd: string | null; beyond: 'external' | 'off'; reason: string }>,
): Promise<void> {
  const { currency, ...after } = limit;
  await tx.query(
    `INSERT INTO fx_position (asset, limit_usd, beyond) VALUES ($1, $2, $3)
     ON CONFLICT (asset) DO UPDATE SET limit_usd = EXCLUDED.limit_usd, beyond = EXCLUDED.beyond, changed_at = now()`,
    [currency, limit.limitUsd, limit.beyond],
  );
  await recordAct(tx, actor, { merchantId: null, action: 'exposure.limited', target: currency, after });
}

/** Says how a pair is executed from now on. `maximumUsd` null: the platform's default. */
export async function setPair(
  tx: Queryable,
  actor: Actor,
  pair: PairSetting & Readonly<{ reason: string }>,
): Promise<void> {
  const { fromCurrency, toCurrency, ...after } = pair;
  await tx.query(
    `INSERT INTO conversion_pair (from_currency, to_currency, mode, max_usd) VALUES ($1, $2, $3, $4)
     ON CONFLICT (from_currency, to_currency) DO UPDATE SET mode = EXCLUDED.mode, max_usd = EXCLUDED.max_usd,
       changed_at = now()`,
    [fromCurrency, toCurrency, pair.mode, pair.maximumUsd],
  );
  const target = `${fromCurrency}/${toCurrency}`;
  await recordAct(tx, actor, { merchantId: null, action: 'conversion_pair.set', target, after });
}
