import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';

type Plan = {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Relation Name'?: string;
  Plans?: Plan[];
};
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Rows of tables that what `act` asks of the database looks at. */
export async function rowsRead(act: () => Promise<unknown>): Promise<number> {
  let rows = 0;
  const ask = PostgresQueryRunner.prototype.query;
  const spy = jest.spyOn(PostgresQueryRunner.prototype, 'query').mockImplementation(async function (
    this: PostgresQueryRunner,
    sql: string,
    values?: unknown[] | object,
    structured?: boolean,
  ): Promise<unknown> {
    if (/^\s*SELECT\b/.test(sql)) {
      const [row] = (await ask.call(this, `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, values)) as [
        { 'QUERY PLAN': Array<{ Plan: Plan }> },
      ];
      for (const node of nodesOf(row['QUERY PLAN'][0]!.Plan))
        if (node['Relation Name'] !== undefined)
          rows += (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    }
    return ask.call(this, sql, values, structured) as Promise<unknown>;
  });
  try {
    await act();
  } finally {
    spy.mockRestore();
  }
  return rows;
}
