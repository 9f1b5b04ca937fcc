import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './process';

/** Where Temporal keeps its workflows: in a file, as its development server does, or in the stack's own PostgreSQL, by
 *  the server of a production. */
export type TemporalStore = 'sqlite' | 'postgres';

/** What of the data folder belongs to which. */
export const placeOf = (dataDir: string, store: TemporalStore): string =>
  join(dataDir, { sqlite: 'temporal.db', postgres: 'temporal' }[store]);

/** What the launcher was told by `--temporal`; the development server unless told. */
export function chosenStore(env: NodeJS.ProcessEnv): TemporalStore {
  const { SANDBOX_TEMPORAL: given = 'sqlite' } = env;
  if (given === 'sqlite' || given === 'postgres') return given;
  throw new StartError(`SANDBOX_TEMPORAL is sqlite or postgres, not '${given}'`);
}

type Chosen = Readonly<{ dataDir: string; temporalStore: TemporalStore; env?: Readonly<Record<string, string>> }>;

/** Rejects by one clear line (StartError) what would have workflows in two places: a folder that was begun with the
 *  other store, and servers that somebody else runs. */
export function refuseOtherStore({ dataDir, temporalStore: store, env = {} }: Chosen): void {
  if (env.TEMPORAL_ADDRESS && store === 'sqlite') return;
  const other = store === 'postgres' ? 'sqlite' : 'postgres';
  if (existsSync(placeOf(dataDir, other)))
    throw new StartError(
      `The workflows of ${dataDir} are kept by --temporal ${other}: go on with that, or begin anew (npm run reset)`,
    );
  const given = ['DATABASE_URL', 'TEMPORAL_ADDRESS'].filter((name) => store === 'postgres' && env[name]);
  if (given.length)
    throw new StartError(
      `--temporal postgres is for the sandbox's own PostgreSQL: unset ${given.join(' and ')}, or leave it out`,
    );
}
