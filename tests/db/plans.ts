import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';

type Node = { 'Node Type': string; 'Relation Name'?: string; Plans?: Node[] };
type Run = Node & { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number };

const nodesOf = (plan: Node): Node[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The nodes of what PostgreSQL plans for each statement that `act` asks for, in whatever transaction, and that begins with one of `verbs`. */
async function plansOf(act: () => Promise<unknown>, explain: string, verbs: RegExp): Promise<Node[][]> {
  const plans: Node[][] = [];
  const ask = PostgresQueryRunner.prototype.query;
  const spy = jest.spyOn(PostgresQueryRunner.prototype, 'query').mockImplementation(async function (
    this: PostgresQueryRunner,
    sql: string,
    values?: unknown[] | object,
    structured?: boolean,
  ): Promise<unknown> {
    if (verbs.test(sql)) {
      const [row] = (await ask.call(this, `${explain} ${sql}`, values)) as [{ 'QUERY PLAN': Array<{ Plan: Node }> }];
      plans.push(nodesOf(row['QUERY PLAN'][0]!.Plan));
    }
    return ask.call(this, sql, values, structured) as Promise<unknown>;
  });
  try {
    await act();
  } finally {
    spy.mockRestore();
  }
  return plans;
}

/** Rows of tables that what `act` asks of the database looks at. */
export async function rowsRead(act: () => Promise<unknown>): Promise<number> {
  const plans = await plansOf(act, 'EXPLAIN (ANALYZE, FORMAT JSON)', /^\s*SELECT\b/);
  return (plans.flat() as Run[])
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    );
}

/** Tables read from end to end by what `act` asks of the database, and how many statements that was. */
export async function readWhole(act: () => Promise<unknown>): Promise<{ asked: number; tables: Set<string> }> {
  const plans = await plansOf(act, 'EXPLAIN (FORMAT JSON)', /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/);
  const whole = plans.flat().filter((node) => node['Node Type'] === 'Seq Scan');
  return { asked: plans.length, tables: new Set(whole.map((node) => node['Relation Name']!)) };
}
