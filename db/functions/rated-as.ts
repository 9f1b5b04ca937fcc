import { ratedAs } from '../../domain/chains/assets';
import { lightningCurrency } from '../../domain/lightning/currency';

/** SQL: whose rates a currency has, as `ratedAs` says it. `currency`: an SQL expression. */
export const ratedAsSql = (currency: string): string =>
  `CASE ${currency} WHEN '${lightningCurrency}' THEN '${ratedAs(lightningCurrency)}' ELSE ${currency} END`;

/** The same for the texts of functions. */
export const ratedAsFunction = (): string => `-- Whose rates a currency has: bitcoin by Lightning is bitcoin.
CREATE OR REPLACE FUNCTION rated_as(p_currency text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT ${ratedAsSql('p_currency')} $$;
`;
