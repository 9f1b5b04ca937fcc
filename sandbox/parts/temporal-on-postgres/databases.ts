import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { temporalSqlToolBinary } from '../../binaries';
import { StartError } from '../../process';
import { databases, role, type PostgresPlace } from './settings';

const run = promisify(execFile);

/** Temporal's role and its two databases, with the schema that its server wants: made, or brought up to date. Nobody
 *  else may enter them, and the role enters no other. As db/roles/temporal.sh makes them for a production. `url`: of a
 *  superuser. */
export async function prepareDatabases(url: string, postgres: PostgresPlace): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const is = async (sql: string, name: string): Promise<boolean> =>
      ((await client.query(sql, [name])).rowCount ?? 0) > 0;
    const verb = (await is('SELECT FROM pg_roles WHERE rolname = $1', role)) ? 'ALTER' : 'CREATE';
    const password = client.escapeLiteral(postgres.password);
    await client.query(`${verb} ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${password}`);
    for (const name of Object.values(databases)) {
      if (!(await is('SELECT FROM pg_database WHERE datname = $1', name)))
        await client.query(`CREATE DATABASE ${name} OWNER ${role}`);
      await client.query(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
    }
  } finally {
    await client.end();
  }
  await Promise.all([
    prepareSchema(databases.default, 'postgresql/v12/temporal', postgres),
    prepareSchema(databases.visibility, 'postgresql/v12/visibility', postgres),
  ]);
}

/** The tool has the schema of its version in itself, and does nothing where that is there. */
async function prepareSchema(database: string, schema: string, { host, port, password }: PostgresPlace): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    ...{ SQL_PLUGIN: 'postgres12', SQL_HOST: host, SQL_PORT: port, SQL_USER: role, SQL_PASSWORD: password },
    SQL_DATABASE: database,
  };
  for (const args of [
    ['setup-schema', '--version', '0.0'],
    ['update-schema', '--schema-name', schema],
  ])
    try {
      await run(temporalSqlToolBinary(), args, { env });
    } catch (error) {
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
      const told = `${stdout}${stderr}`.trim().split('\n').slice(-3).join('\n  ') || message;
      throw new StartError(`The schema of Temporal in the database ${database} could not be made:\n  ${told}`);
    }
}
