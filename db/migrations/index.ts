import { Baseline1798000000000 } from './1798000000000-baseline';
import { KeyMakers1798310000000 } from './1798310000000-key-makers';
import { FeeLimits1798320000000 } from './1798320000000-fee-limits';

/** Every migration, oldest first; only ever added to. */
export const migrations = [Baseline1798000000000, KeyMakers1798310000000, FeeLimits1798320000000];
