import { Foundation1795200000000 } from './1795200000000-foundation';

/** Every migration, oldest first; only ever added to. */
export const migrations = [Foundation1795200000000];
