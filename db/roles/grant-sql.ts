import { functionGrants } from './function-grants';
import { lockColumns, tableGrants } from './grants';
import { roleName, roles, type DatabaseRole } from './roles';

/** The privileges of a line of `tableGrants`, as PostgreSQL spells them. */
function privilegesOf(table: string, line: string): string[] {
  return line
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/, (?![^(]*\))/)
    .map((one) => {
      if (one !== 'LOCK') return one;
      const column = lockColumns[table];
      if (!column) throw new Error(`db/roles/grants.ts: lockColumns names no column of ${table}`);
      return `UPDATE (${column})`;
    });
}

/** The roles of a line: `api, payments`. */
export const rolesOf = (grantees: string): DatabaseRole[] =>
  grantees.split(', ').map((name) => {
    const role = roles.find((one) => one === name);
    if (!role) throw new Error(`db/roles/grants.ts: there is no role '${name}'`);
    return role;
  });

/** Sequences of derivation indexes: these roles make addresses. The function that registers a key grants them too. */
const drawers: readonly DatabaseRole[] = ['api', 'payments'];

/** Takes every right away and gives those of grants.ts: what it leaves is what the file says, whatever was there. */
export function grantStatements(functions: ReadonlyArray<Readonly<{ name: string; signature: string }>>): string[] {
  const everybody = roles.map(roleName).join(', ');
  const statements = [
    'ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC',
    'REVOKE ALL ON SCHEMA public FROM PUBLIC',
    `GRANT USAGE ON SCHEMA public TO ${everybody}`,
    ...['TABLES', 'SEQUENCES', 'FUNCTIONS'].map(
      (all) => `REVOKE ALL ON ALL ${all} IN SCHEMA public FROM PUBLIC, ${everybody}`,
    ),
  ];
  for (const [table, lines] of Object.entries(tableGrants))
    for (const [grantees, line] of Object.entries(lines))
      statements.push(
        `GRANT ${privilegesOf(table, line).join(', ')} ON ${table} TO ${rolesOf(grantees).map(roleName).join(', ')}`,
      );
  for (const { name, signature } of functions) {
    const callers = functionGrants[name];
    if (callers?.length)
      statements.push(`GRANT EXECUTE ON FUNCTION ${signature} TO ${callers.map(roleName).join(', ')}`);
  }
  return statements;
}

/** Gives the right to draw from the sequences that are there already. */
export const sequenceGrants = (sequences: readonly string[]): string[] =>
  sequences.map((name) => `GRANT USAGE ON SEQUENCE ${name} TO ${drawers.map(roleName).join(', ')}`);
