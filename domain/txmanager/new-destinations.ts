import { assetOf, type Currency } from '../chains/assets';

/** How much the signer releases to destinations that it does not know yet, whatever the rows of the database say. */
export type NewDestinationRules = Readonly<{
  /** A destination is new for this long after the signer first saw it; 0: none is. */
  coolingOffHours: number;
  /** What may go to new destinations in 24 hours, in whole units, by currency; others have the cap of the registry. */
  dailyCaps: Readonly<Record<Currency, string>>;
}>;

/** In force where nothing else is set. */
export const usualRules: NewDestinationRules = { coolingOffHours: 24, dailyCaps: {} };

/** In whole units. */
export const dailyCapOf = ({ dailyCaps }: NewDestinationRules, currency: Currency): string =>
  dailyCaps[currency] ?? assetOf(currency).newDestinationCap;
