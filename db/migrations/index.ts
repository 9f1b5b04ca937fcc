import { Baseline1798000000000 } from './1798000000000-baseline';
import { KeyMakers1798310000000 } from './1798310000000-key-makers';
import { FeeLimits1798320000000 } from './1798320000000-fee-limits';
import { DepositRates1798330000000 } from './1798330000000-deposit-rates';

/** Every migration, oldest first; only ever added to. Functions, triggers and views are in db/functions. */
export const migrations = [
  Baseline1798000000000,
  KeyMakers1798310000000,
  FeeLimits1798320000000,
  DepositRates1798330000000,
];
