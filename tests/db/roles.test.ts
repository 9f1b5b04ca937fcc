import { Client } from 'pg';
import { rolesOf } from '../../db/roles/grant-sql';
import { functionGrants } from '../../db/roles/function-grants';
import { ownersTables, tableGrants } from '../../db/roles/grants';
import { owner, roleName, roles, type DatabaseRole } from '../../db/roles/roles';
import { freshDatabase } from '../setup/postgres';
import { needsOf, spelled, type RoleNeeds } from './roles/needs';
import { findStatements } from './statements/find';

/** Every process connects with a role of its own, which may do what its statements need and nothing else. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let client: Client;
let needs: ReadonlyMap<DatabaseRole, RoleNeeds>;
beforeAll(async () => {
  database = await freshDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  needs = await needsOf(client, findStatements());
}, 300_000);
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

/** The lines of the file, per role and table. */
const granted = (role: DatabaseRole): Map<string, string> =>
  new Map(
    Object.entries(tableGrants).flatMap(([table, lines]) =>
      Object.entries(lines)
        .filter(([grantees]) => rolesOf(grantees).includes(role))
        .map(([, line]) => [table, line.replaceAll(/\s+/g, ' ').trim()] as const),
    ),
  );

/** Every schema but those of PostgreSQL itself. */
const schemas = `SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'`;

/** What the catalogue says of a role, in the spelling of the file. */
async function catalogued(role: DatabaseRole): Promise<Map<string, string>> {
  const { rows } = await client.query<{ table: string; whole: string[]; updated: string[]; other: string[] }>(
    `SELECT c.oid::regclass::text AS table,
            ARRAY(SELECT DISTINCT x.privilege_type FROM aclexplode(c.relacl) x
                   WHERE x.grantee IN ($1::regrole, 0)) AS whole,
            ARRAY(SELECT a.attname::text FROM pg_attribute a, aclexplode(a.attacl) x
                   WHERE a.attrelid = c.oid AND x.grantee IN ($1::regrole, 0) AND x.privilege_type = 'UPDATE'
                   ORDER BY a.attname COLLATE "C") AS updated,
            ARRAY(SELECT DISTINCT x.privilege_type || ' of a column' FROM pg_attribute a, aclexplode(a.attacl) x
                   WHERE a.attrelid = c.oid AND x.grantee IN ($1::regrole, 0)
                     AND x.privilege_type <> 'UPDATE') AS other
       FROM pg_class c WHERE c.relnamespace IN (${schemas}) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`,
    [roleName(role)],
  );
  const order = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
  return new Map(
    rows.flatMap(({ table, whole, updated, other }) => {
      const all = [...whole, ...(updated.length ? ['UPDATE'] : []), ...other];
      const known = order.filter((one) => all.includes(one));
      const strange = all.filter((one) => !order.includes(one));
      const spelt = known.map((one) =>
        one === 'UPDATE' && !whole.includes('UPDATE') ? `UPDATE (${updated.join(', ')})` : one,
      );
      return all.length ? [[table, [...spelt, ...strange].join(', ')] as const] : [];
    }),
  );
}

const tablesThere = async (): Promise<string[]> =>
  (
    await client.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
        WHERE relnamespace IN (${schemas}) AND relkind IN ('r', 'p', 'v', 'm')`,
    )
  ).rows.map(({ name }) => name);

describe('A10: database roles', () => {
  it('lists every table: what is new says who may do what with it', async () => {
    const listed = new Set([...Object.keys(tableGrants), ...ownersTables]);
    const unlisted = (await tablesThere()).filter((table) => !listed.has(table));
    const advice = unlisted.map((table) => {
      const lines = roles.flatMap((role) => {
        const line = needs.get(role)!.tables.get(table);
        return line ? [`${role}: '${line}'`] : [];
      });
      return `add to tableGrants in db/roles/grants.ts: ${table}: { ${lines.join(', ')} }`;
    });
    expect(advice).toEqual([]);
    const there = await tablesThere();
    expect([...listed].filter((table) => !there.includes(table))).toEqual([]);
  });

  it.each(roles)('%s has in the catalogue what the file says, table by table', async (role) => {
    const inFile = new Map([...granted(role)].map(([table, line]) => [table, spelled(table, line)]));
    expect(Object.fromEntries([...(await catalogued(role))].sort())).toEqual(Object.fromEntries([...inFile].sort()));
  });

  it.each(roles)('%s may do what its statements need, and nothing else', (role) => {
    const inFile = granted(role);
    const needed = needs.get(role)!.tables;
    const advice = [...new Set([...inFile.keys(), ...needed.keys()])]
      .sort()
      .filter((table) => inFile.get(table) !== needed.get(table))
      .map((table) => `db/roles/grants.ts: ${table}: ${role}: '${needed.get(table) ?? 'no line'}'`);
    expect(advice).toEqual([]);
  });

  it.each(roles)('%s calls the functions that its statements name, and no other', async (role) => {
    const listed = Object.keys(functionGrants).filter((name) => functionGrants[name]!.includes(role));
    expect(listed.sort()).toEqual([...needs.get(role)!.functions].sort());
    const { rows } = await client.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
          AND has_function_privilege($1, oid, 'EXECUTE') ORDER BY proname COLLATE "C"`,
      [roleName(role)],
    );
    expect(rows.map(({ name }) => name)).toEqual(listed.sort());
  });

  it('runs functions that write with the rights of the owner, on a fixed search_path', async () => {
    const { rows } = await client.query<{ name: string; owner: string; definer: boolean; config: string[] | null }>(
      `SELECT proname AS name, proowner::regrole::text AS owner, prosecdef AS definer, proconfig AS config FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace`,
    );
    expect(rows.filter((one) => one.owner !== owner)).toEqual([]);
    const named = rows.filter(({ name }) => name in functionGrants);
    expect(named.map(({ name }) => name).sort()).toEqual(Object.keys(functionGrants).sort());
    expect(named.filter(({ definer }) => !definer)).toEqual([]);
    const open = rows.filter(({ definer, config }) => definer && String(config) !== 'search_path=public, pg_temp');
    expect(open).toEqual([]);
  });

  it('lets nobody write the books but through functions, nor change what is only added to', async () => {
    const { rows: appendOnly } = await client.query<{ name: string }>(
      `SELECT tgrelid::regclass::text AS name FROM pg_trigger WHERE tgfoid = 'refuse_change'::regproc`,
    );
    const books = ['journal', 'posting', 'balance', 'ledger_entry'];
    expect(appendOnly.length).toBeGreaterThan(8);
    for (const role of roles) {
      const may = await catalogued(role);
      for (const table of books) expect(may.get(table) ?? 'SELECT').toBe('SELECT');
      for (const { name } of appendOnly) expect(may.get(name) ?? '').not.toMatch(/UPDATE|DELETE|TRUNCATE/);
    }
  });

  it('lets nobody into the schema of the signer, which a function of the signer alone writes', async () => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT r AS name FROM unnest($1::text[]) r
        WHERE has_schema_privilege(r, 'signer', 'USAGE') OR has_schema_privilege(r, 'signer', 'CREATE')`,
      [roles.map(roleName)],
    );
    expect(rows).toEqual([]);
    expect(functionGrants.admit_destinations).toEqual(['signer']);
  });

  it('gives no role more than a login', async () => {
    const names = [owner, ...roles.map(roleName)];
    const { rows } = await client.query(
      `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles r
        WHERE rolname = ANY($1) AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
          OR EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid))`,
      [names],
    );
    expect(rows).toEqual([]);
    const { rows: schema } = await client.query<{ may: boolean }>(
      `SELECT has_schema_privilege(r, 'public', 'CREATE') AS may FROM unnest($1::text[]) r`,
      [roles.map(roleName)],
    );
    expect(schema.filter(({ may }) => may)).toEqual([]);
  });
});
