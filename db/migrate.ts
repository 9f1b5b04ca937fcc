import { MigrationExecutor, type QueryRunner } from 'typeorm';
import { createDataSource } from './data-source';
import { functionFiles, type FunctionFile } from './functions';
import { recordMode } from './instance';
import { ConfigError } from '../domain/config';
import { modes, type Mode } from '../domain/mode';
import { grantStatements, sequenceGrants } from './roles/grant-sql';
import { actAsOwner, passwordsOf, prepareRoles, type Passwords } from './roles/roles';

/** What a run of `migrate` changed; `missing`: files that were applied once and are no longer there. */
export type Migrated = Readonly<{ migrations: string[]; functions: string[]; missing: string[] }>;

/** Brings the database at `url` to the newest schema: the roles that are missing, new migrations, every file of
 *  functions whose text is not the one that was applied last, and the rights of each role. All of it or nothing, but
 *  the roles. A new database is marked as that of an instance of this `mode`; one of the other mode is refused. Safe to
 *  run twice and by two at once: the second waits for the first. See docs/changing-the-schema.md. */
export async function migrate(
  url: string,
  files: readonly FunctionFile[] = functionFiles(),
  passwords: Passwords = {},
  mode: Mode = 'live',
): Promise<Migrated> {
  const db = createDataSource(url, { pool: 1, name: 'migrate' });
  await db.initialize();
  const runner = db.createQueryRunner();
  try {
    await lock(runner);
    await prepareRoles(runner, passwords);
    await runner.startTransaction();
    await actAsOwner(runner);
    const migrations = await new MigrationExecutor(db, runner).executePendingMigrations();
    await recordMode(runner, mode);
    const functions = await applyFunctions(runner, files);
    await giveRights(runner);
    await runner.commitTransaction();
    return { migrations: migrations.map(({ name }) => name), ...functions };
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    throw error;
  } finally {
    await runner.release();
    await db.destroy();
  }
}

/** Waits for another run for as long as it takes; the lock ends with the connection. */
async function lock(runner: QueryRunner): Promise<void> {
  await runner.query('SET statement_timeout = 0');
  await runner.query('SET lock_timeout = 0');
  await runner.query("SELECT pg_advisory_lock(hashtext('crypto-payments migration'))");
  await runner.query('SET lock_timeout TO DEFAULT');
}

/** Applies the files whose text is new. The functions of a file that is no longer there stay until a migration drops
 *  them: a process of the version before may still call them. */
async function applyFunctions(
  runner: QueryRunner,
  files: readonly FunctionFile[],
): Promise<Pick<Migrated, 'functions' | 'missing'>> {
  const rows = (await runner.query('SELECT file, hash FROM applied_function ORDER BY file')) as Array<{
    file: string;
    hash: string;
  }>;
  const applied = new Map(rows.map(({ file, hash }) => [file, hash]));
  const changed = files.filter(({ name, hash }) => applied.get(name) !== hash);
  for (const { name, text, hash } of changed) {
    await runner.query(text).catch((error: unknown) => {
      throw new Error(`db/functions/${name}.sql: ${(error as Error).message}`, { cause: error });
    });
    await runner.query(
      `INSERT INTO applied_function (file, hash) VALUES ($1, $2)
         ON CONFLICT (file) DO UPDATE SET hash = EXCLUDED.hash, applied_at = EXCLUDED.applied_at`,
      [name, hash],
    );
  }
  const present = new Set(files.map(({ name }) => name));
  return {
    functions: changed.map(({ name }) => name),
    missing: [...applied.keys()].filter((name) => !present.has(name)),
  };
}

/** The rights that db/roles/grants.ts gives, and no other. */
async function giveRights(runner: QueryRunner): Promise<void> {
  const functions = (await runner.query(
    `SELECT proname AS name, oid::regprocedure::text AS signature FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace ORDER BY 2`,
  )) as Array<{ name: string; signature: string }>;
  const sequences = (await runner.query(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' AND relname LIKE 'key_index_%'`,
  )) as Array<{ name: string }>;
  const statements = [...grantStatements(functions), ...sequenceGrants(sequences.map(({ name }) => name))];
  await runner.query(statements.join(';\n'));
}

/** MODE of the environment; live where it says nothing. */
function modeIn(env: Readonly<Record<string, string | undefined>>): Mode {
  const named = env.MODE || 'live';
  const mode = modes.find((one) => one === named);
  if (!mode) throw new ConfigError(`MODE=${named} is neither live nor test`);
  return mode;
}

async function run(): Promise<void> {
  const url = process.env.DATABASE_URL;
  if (!url) throw new ConfigError('DATABASE_URL is missing');
  const mode = modeIn(process.env);
  const { migrations, functions, missing } = await migrate(url, functionFiles(), passwordsOf(process.env), mode);
  for (const name of migrations) console.log(`Migrated: ${name}`);
  for (const name of functions) console.log(`Applied: db/functions/${name}.sql`);
  for (const name of missing)
    console.log(`Still in the database: what db/functions/${name}.sql made, which is no longer there`);
  console.log('Database is up to date');
}

if (require.main === module)
  run().catch((error: unknown) => {
    console.error(error instanceof ConfigError ? error.message : error);
    process.exit(1);
  });
