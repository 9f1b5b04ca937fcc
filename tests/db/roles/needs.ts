import type { Client } from 'pg';
import { lockColumns } from '../../../db/roles/grants';
import { roles, type DatabaseRole } from '../../../db/roles/roles';
import type { Source, Statement } from '../statements/find';
import { Privileges, type Needs } from './privileges';
import { Reach } from './reach';

/** What each role needs: the privileges of every statement that its processes can come to. */

/** The files that start the processes of a role. */
const processes: Readonly<Record<DatabaseRole, readonly string[]>> = {
  api: ['api/server.ts'],
  payments: ['workers/payments.ts'],
  chain: ['workers/chain.ts'],
  signer: ['workers/signer.ts'],
  audit: ['sandbox/audit.ts', 'sandbox/reconcile.ts', 'sandbox/liabilities.ts'],
  operator: ['api/operator.ts', 'workers/screening.ts'],
  retention: ['api/erase.ts'],
};

/** What is needed beside the statements that the source shows. */
const unseen: ReadonlyArray<readonly [role: DatabaseRole, table: string, line: string]> = [
  // rate-limiter-flexible writes its own statements.
  ['api', 'rate_limit', 'SELECT, INSERT, UPDATE (expire, points), DELETE'],
  // The release before replays events by requests, and holds those of slow receivers back: these go with the next one.
  ['api', 'temporal_request', 'SELECT, INSERT'],
  ['payments', 'temporal_request', 'SELECT, INSERT, UPDATE (claimed_until, is_behind, last_error, tries), DELETE'],
];

/** Functions that only the release before calls: they go with the next one. */
const formerFunctions: Readonly<Record<string, readonly DatabaseRole[]>> = {
  emit_event: ['api', 'payments', 'chain', 'signer', 'operator'],
  emit_event_2: ['api', 'payments', 'chain', 'signer', 'operator'],
  register_network_key: ['signer'],
  insert_payment: ['payments'],
  request_workflow: ['api', 'payments', 'chain', 'signer', 'operator'],
};

/** Functions that a view calls with the rights of who reads it: the statement does not name them. */
const calledByViews: Readonly<Record<string, string>> = { live_key: 'database_incarnation' };

/** Statements that PostgreSQL cannot prepare, and what they ask for as a query. */
const asQuery = (text: string): string | null => {
  const cursor = /^\s*DECLARE\s[^$]*?\sCURSOR\s+FOR\s+([\s\S]*)$/.exec(text);
  if (cursor) return cursor[1]!;
  const table = /^\s*CREATE TEMP TABLE \w+ ON COMMIT DROP AS\s+([\s\S]*)$/.exec(text);
  if (table) return table[1]!;
  return /^\s*(SET|LISTEN|FETCH|CLOSE)\b/.test(text) ? null : text;
};

/** Tables of one transaction, which belong to whom made them. */
const temporary = ['CREATE TEMP TABLE newer (LIKE screening_list)'];

export type RoleNeeds = Readonly<{
  /** Per table: privileges in their order, columns of an UPDATE sorted. */
  tables: ReadonlyMap<string, string>;
  functions: ReadonlySet<string>;
}>;

type Found = { privileges: Set<string>; updated: Set<string> };

export async function needsOf(client: Client, source: Source): Promise<ReadonlyMap<DatabaseRole, RoleNeeds>> {
  const privileges = await Privileges.on(client);
  for (const sql of temporary) await client.query(sql);
  const reach = new Reach(source);
  const statementsOf = new Map(
    roles.map((role) => {
      const places = new Set(processes[role].flatMap((entry) => [...reach.of(entry)]));
      return [role, source.statements.filter(({ at }) => places.has(at))];
    }),
  );
  const known = new Map<string, Needs>();
  for (const { text } of [...statementsOf.values()].flat()) {
    const query = asQuery(text);
    if (query !== null && !known.has(text)) known.set(text, await privileges.of(query));
  }
  return new Map(roles.map((role) => [role, ofStatements(role, statementsOf.get(role)!, known)]));
}

function ofStatements(
  role: DatabaseRole,
  statements: readonly Statement[],
  known: ReadonlyMap<string, Needs>,
): RoleNeeds {
  const tables = new Map<string, Found>();
  const functions = new Set<string>();
  for (const { text } of statements) {
    for (const { table, privilege, columns } of known.get(text)?.tables ?? []) {
      const found = tables.get(table) ?? { privileges: new Set(), updated: new Set() };
      tables.set(table, found);
      found.privileges.add(privilege);
      if (privilege === 'UPDATE') for (const column of columns) found.updated.add(column);
    }
    for (const name of known.get(text)?.functions ?? []) functions.add(name.replace(/\(.*/, ''));
  }
  for (const [name, callers] of Object.entries(formerFunctions)) if (callers.includes(role)) functions.add(name);
  for (const table of tables.keys()) if (calledByViews[table]) functions.add(calledByViews[table]);
  const lines = new Map([...tables].map(([table, found]) => [table, lineOf(found)]));
  for (const [whose, table, line] of unseen) if (whose === role) lines.set(table, line);
  return { tables: lines, functions };
}

/** As db/roles/grants.ts spells it. */
function lineOf({ privileges, updated }: Found): string {
  return ['SELECT', 'INSERT', 'UPDATE', 'DELETE']
    .filter((one) => privileges.has(one))
    .map((one) => (one !== 'UPDATE' ? one : updated.size ? `UPDATE (${[...updated].sort().join(', ')})` : 'LOCK'))
    .join(', ');
}

/** A line with its lock spelled out, to compare it with what the catalogue says. */
export const spelled = (table: string, line: string): string => line.replace('LOCK', `UPDATE (${lockColumns[table]})`);
