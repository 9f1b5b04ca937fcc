import type { Client } from 'pg';

/** What a statement asks PostgreSQL for, by PostgreSQL's own account: the parse tree names each table with the
 *  privileges and the columns that are checked when it runs, and each function that is called. */

type Need = Readonly<{ table: string; privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE'; columns: string[] }>;
export type Needs = Readonly<{ tables: Need[]; functions: string[] }>;

const bits = { INSERT: 1, SELECT: 2, UPDATE: 4, DELETE: 8 } as const;
/** Attribute numbers in a set of columns are counted from the lowest system column. */
const firstAttribute = 7;

type Catalogue = Readonly<{
  relations: ReadonlyMap<number, Readonly<{ name: string; columns: ReadonlyMap<number, string> }>>;
  functions: ReadonlyMap<number, string>;
}>;

export class Privileges {
  private constructor(
    private readonly client: Client,
    private readonly catalogue: Catalogue,
  ) {}

  static async on(client: Client): Promise<Privileges> {
    const { rows } = await client.query<{ oid: number; name: string; n: number; column: string }>(
      `SELECT c.oid::int, c.relname AS name, a.attnum::int AS n, a.attname AS column
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'S') AND a.attnum > 0`,
    );
    const relations = new Map<number, { name: string; columns: Map<number, string> }>();
    for (const { oid, name, n, column } of rows) {
      const known = relations.get(oid) ?? { name, columns: new Map<number, string>() };
      relations.set(oid, known);
      known.columns.set(n, column);
    }
    const made = await client.query<{ oid: number; name: string }>(
      `SELECT oid::int, oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
    );
    await client.query('SET debug_print_parse = on');
    await client.query('SET debug_pretty_print = off');
    await client.query('SET client_min_messages = log');
    return new Privileges(client, {
      relations,
      functions: new Map(made.rows.map(({ oid, name }) => [oid, name])),
    });
  }

  /** What the text of a statement needs; its tables and cursors of before are there. Throws what PostgreSQL says. */
  async of(text: string): Promise<Needs> {
    const trees: string[] = [];
    const note = ({ message, detail }: { message?: string; detail?: string }): void => {
      if (message === 'parse tree:' && detail) trees.push(detail);
    };
    this.client.on('notice', note);
    try {
      const name = 'looked_at';
      await this.client.query(`PREPARE ${name} AS ${text}`);
      await this.client.query(`DEALLOCATE ${name}`);
    } finally {
      this.client.off('notice', note);
    }
    return this.read(trees.join(' ').replaceAll(/\s+/g, ' '));
  }

  private read(tree: string): Needs {
    const tables: Need[] = [];
    const item = new RegExp(
      String.raw`\{RTEPERMISSIONINFO :relid (\d+) :inh \w+ :requiredPerms (\d+) :checkAsUser \d+` +
        String.raw` :selectedCols \(b([\d ]*)\) :insertedCols \(b([\d ]*)\) :updatedCols \(b([\d ]*)\)`,
      'g',
    );
    for (const [, relid, perms, selected, inserted, updated] of tree.matchAll(item)) {
      const relation = this.catalogue.relations.get(Number(relid));
      if (!relation) continue;
      const columnsOf = (set: string | undefined): string[] =>
        (set ?? '')
          .trim()
          .split(' ')
          .filter(Boolean)
          .map((n) => relation.columns.get(Number(n) - firstAttribute) ?? '*');
      const sets = { SELECT: selected, INSERT: inserted, UPDATE: updated, DELETE: '' };
      for (const privilege of Object.keys(bits) as Array<keyof typeof bits>)
        if (Number(perms) & bits[privilege])
          tables.push({ table: relation.name, privilege, columns: columnsOf(sets[privilege]) });
    }
    const functions = [...tree.matchAll(/:(?:funcid|aggfnoid|winfnoid) (\d+)/g)]
      .map(([, oid]) => this.catalogue.functions.get(Number(oid)))
      .filter((name): name is string => name !== undefined);
    return { tables, functions: [...new Set(functions)] };
  }
}
