import type { DataSource } from 'typeorm';
import { functionFiles } from '../../db/functions';
import { faultOfMode } from '../../db/instance';
import { migrations } from '../../db/migrations';
import type { Config } from '../../domain/config';
import { fault, good, warning, type Finding } from '../../domain/finding';

const leastVersion = 150_000;
/** Codes of an authenticator hold for 30 seconds. */
const clockFaultSeconds = 20;
const clockWarningSeconds = 2;

type Server = {
  version: string;
  number: string;
  synchronous_commit: string;
  fsync: string;
  full_page_writes: string;
  user: string;
  is_super: boolean;
};

/** Version, durability, role, clock, schema and instance of the database. */
export async function checkPostgres(db: DataSource, { MODE }: Pick<Config, 'MODE'>): Promise<Finding[]> {
  const [server] = await db.query<Server[]>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
            current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
            current_setting('full_page_writes') AS full_page_writes, current_user AS "user", r.rolsuper AS is_super
       FROM pg_roles r WHERE r.rolname = current_user`,
  );
  const { version, number, user, is_super } = server!;
  const findings = [
    parseInt(number, 10) < leastVersion
      ? fault(`PostgreSQL ${version} is too old`, 'Use PostgreSQL 15 or newer')
      : good(`PostgreSQL ${version} answers to ${user}`),
  ];
  for (const name of ['synchronous_commit', 'fsync', 'full_page_writes'] as const)
    if (server![name] === 'off')
      findings.push(
        fault(`${name} is off: a crash of the server loses what it has confirmed`, `Set ${name} = on in PostgreSQL`),
      );
  if (is_super)
    findings.push(
      warning(
        `${user} is a superuser: a stolen process owns the ledger`,
        'Connect as the role of the process: docs/operations/database-roles.md',
      ),
    );
  return [...findings, await clock(db), ...(await schema(db)), ...(await instance(db, MODE))];
}

async function clock(db: DataSource): Promise<Finding> {
  const before = Date.now();
  const [row] = await db.query<Array<{ now: Date }>>('SELECT clock_timestamp() AS now');
  const apart = Math.abs(row!.now.getTime() - (before + Date.now()) / 2) / 1000;
  const what = `The clocks of this machine and of PostgreSQL are ${apart.toFixed(1)} s apart`;
  const fix = 'Let all machines follow the same time servers (NTP)';
  if (apart > clockFaultSeconds) return fault(what, fix);
  return apart > clockWarningSeconds ? warning(what, fix) : good('The clocks agree');
}

async function schema(db: DataSource): Promise<Finding[]> {
  const applied = await db.query<Array<{ name: string }>>('SELECT name FROM migration');
  const functions = await db.query<Array<{ file: string; hash: string }>>('SELECT file, hash FROM applied_function');
  const hashes = new Map(functions.map(({ file, hash }) => [file, hash]));
  const missing = [
    ...migrations.map(({ name }) => name).filter((name) => !applied.some((row) => row.name === name)),
    ...functionFiles().flatMap(({ name, hash }) => (hashes.get(name) === hash ? [] : [`db/functions/${name}.sql`])),
  ];
  const named = missing.slice(0, 3).join(', ') + (missing.length > 3 ? ' …' : '');
  return missing.length
    ? [
        fault(
          `The schema is not the one of this build: ${named}`,
          'Run the migration step of this build (db/migrate.js)',
        ),
      ]
    : [good('The schema is the one of this build')];
}

async function instance(db: DataSource, mode: Config['MODE']): Promise<Finding[]> {
  const of = await faultOfMode(db, mode);
  return of === null ? [] : [fault(of, 'Set MODE, or DATABASE_URL to the database of this instance')];
}
