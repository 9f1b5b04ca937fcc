import { Baseline1798000000000 } from './1798000000000-baseline';

/** Every migration, oldest first; only ever added to. Functions, triggers and views are in db/functions. */
export const migrations = [Baseline1798000000000];
