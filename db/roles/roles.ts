import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { QueryRunner } from 'typeorm';

/** Who connects to the database: one role per kind of process. See docs/decisions/0025-database-roles.md. */
export const roles = ['api', 'payments', 'chain', 'signer', 'audit', 'operator', 'retention'] as const;
export type DatabaseRole = (typeof roles)[number];
/** A role belongs to the whole server, so its name says whose it is. */
export const roleName = (role: DatabaseRole | 'migrate'): string => `cp_${role}`;
/** Owns every table and function, and runs the functions that write for others. */
export const owner = roleName('migrate');

/** Passwords of the login roles, by role; a role without one keeps the password that it has. */
export type Passwords = Readonly<Partial<Record<DatabaseRole | 'migrate', string>>>;

/** `url` with the name and the password of a role. */
export function urlOf(url: string, role: DatabaseRole, password: string): string {
  const own = new URL(url);
  own.username = roleName(role);
  own.password = encodeURIComponent(password);
  return own.href;
}

/** The environment variable of the migration step that holds the password of a role. */
export const passwordVariable = (role: DatabaseRole | 'migrate'): string => `DATABASE_PASSWORD_${role.toUpperCase()}`;

/** Of a variable that holds several passwords with commas between, the first is set: see db/connection.ts. */
export const passwordsOf = (env: Readonly<Record<string, string | undefined>>): Passwords =>
  Object.fromEntries(
    (['migrate', ...roles] as const).flatMap((role) => {
      const password = env[passwordVariable(role)]?.split(',')[0];
      return password ? [[role, password]] : [];
    }),
  );

/** What PostgreSQL keeps of a password: its server and its log never see the password itself. RFC 5803. */
function verifierOf(password: string): string {
  const [salt, rounds] = [randomBytes(16), 4096];
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, rounds, 32, 'sha256');
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}

const anotherIsAtIt = ['42710', '23505', 'XX000', '40001'];

/** A change of a role, which other databases of the server share: where another step makes the same change, again. */
async function onServer(runner: QueryRunner, sql: string, isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    if (await isDone()) return;
    try {
      await runner.query(sql);
      return;
    } catch (error) {
      if (!anotherIsAtIt.includes((error as { code?: string }).code ?? '') || tries === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

type Self = { name: string; is_super: boolean; may_create: boolean };

/** Makes the roles that are missing, sets the passwords that are given, and hands the database to its owner. Where the
 *  connected user may not create roles, checks that all are there. Outside of a transaction. */
export async function prepareRoles(runner: QueryRunner, passwords: Passwords): Promise<void> {
  const [self] = (await runner.query(
    `SELECT rolname AS name, rolsuper AS is_super, rolcreaterole OR rolsuper AS may_create
       FROM pg_roles WHERE rolname = current_user`,
  )) as Self[];
  const names = [owner, ...roles.map(roleName)];
  if (!self!.may_create) {
    const there = (await runner.query('SELECT rolname AS name FROM pg_roles WHERE rolname = ANY($1)', [
      names,
    ])) as Array<{ name: string }>;
    const missing = names.filter((name) => !there.some((one) => one.name === name));
    if (missing.length)
      throw new Error(
        `These database roles are missing, and ${self!.name} may not create them: ${missing.join(', ')}. ` +
          'See docs/operations/database-roles.md',
      );
    return;
  }
  for (const role of ['migrate', ...roles] as const) {
    const name = roleName(role);
    const isThere = async (): Promise<boolean> =>
      ((await runner.query('SELECT FROM pg_roles WHERE rolname = $1', [name])) as unknown[]).length > 0;
    await onServer(runner, `CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS`, isThere);
    const password = passwords[role];
    if (password)
      await onServer(runner, `ALTER ROLE ${name} PASSWORD '${verifierOf(password)}'`, () => Promise.resolve(false));
  }
  await handOver(runner, self!);
}

/** The database, its schema and what is in it belong to the owner; nobody else connects without a grant. */
async function handOver(runner: QueryRunner, self: Self): Promise<void> {
  const [database] = (await runner.query('SELECT quote_ident(current_database()) AS name')) as Array<{ name: string }>;
  if (!self.is_super) await runner.query(`GRANT ${owner} TO CURRENT_USER`);
  await runner.query(`ALTER DATABASE ${database!.name} OWNER TO ${owner}`);
  await runner.query(`REVOKE ALL ON DATABASE ${database!.name} FROM PUBLIC`);
  const everybody = roles.map(roleName).join(', ');
  await runner.query(`GRANT CONNECT, TEMPORARY ON DATABASE ${database!.name} TO ${everybody}`);
  await runner.query(`GRANT ALL ON SCHEMA public TO ${owner}`);
  const foreign = (await runner.query(
    `SELECT format('ALTER %s public.%I OWNER TO ${owner}', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE'
              ELSE 'TABLE' END, relname) AS sql
       FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S')
        AND relowner <> '${owner}'::regrole
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i') AND relkind = 'S')
     UNION ALL
     SELECT format('ALTER FUNCTION %s OWNER TO ${owner}', oid::regprocedure) FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND proowner <> '${owner}'::regrole`,
  )) as Array<{ sql: string }>;
  for (const { sql } of foreign) await runner.query(sql);
}

/** Within the transaction: what is made from here on belongs to the owner. */
export async function actAsOwner(runner: QueryRunner): Promise<void> {
  await runner.query(`SET LOCAL ROLE ${owner}`);
}
