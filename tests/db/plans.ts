import type { Client } from 'pg';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';

type Node = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
};

/** PostgreSQL tells how each statement ran, those inside functions and triggers too. */
const explaining = `LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_level = notice;
  SET auto_explain.log_format = json; SET auto_explain.log_analyze = on; SET auto_explain.log_buffers = on;
  SET auto_explain.log_nested_statements = on`;

/** The request log is written in groups behind the answers: what it costs is no part of what a request asks. */
const behindAnswers = 'INSERT INTO api_request';

const nodesOf = (plan: Node): Node[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The nodes of the plan of each statement that runs for `act`, in whatever transaction. */
async function plansOf(act: () => Promise<unknown>): Promise<Node[][]> {
  const plans: Node[][] = [];
  // What ran in a transaction may be told with the statement after it: so connections are listened to, not statements.
  const heard = ({ message = '' }: { message?: string }): void => {
    const [json] = /\{[^]*\}/.exec(message) ?? [];
    if (!json || !message.includes('plan:')) return;
    const told = JSON.parse(json) as { 'Query Text': string; Plan: Node };
    if (!told['Query Text'].includes(behindAnswers)) plans.push(nodesOf(told.Plan));
  };
  const clients = new Set<Client>();
  const ask = PostgresQueryRunner.prototype.query;
  const spy = jest.spyOn(PostgresQueryRunner.prototype, 'query').mockImplementation(async function (
    this: PostgresQueryRunner,
    sql: string,
    values?: unknown[] | object,
    structured?: boolean,
  ): Promise<unknown> {
    const client = (await this.connect()) as Client;
    if (!clients.has(client)) {
      clients.add(client);
      await ask.call(this, explaining);
      client.on('notice', heard);
    }
    return ask.call(this, sql, values, structured) as Promise<unknown>;
  });
  try {
    await act();
  } finally {
    spy.mockRestore();
    for (const client of clients) client.off('notice', heard);
  }
  return plans;
}

/** Rows of tables that what `act` asks of the database looks at. */
export async function rowsRead(act: () => Promise<unknown>): Promise<number> {
  return (await plansOf(act))
    .flat()
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    );
}

/** Tables read from end to end by what `act` asks of the database, and how many statements that was. */
export async function readWhole(act: () => Promise<unknown>): Promise<{ asked: number; tables: Set<string> }> {
  const plans = await plansOf(act);
  const whole = plans.flat().filter((node) => node['Node Type'] === 'Seq Scan');
  return { asked: plans.length, tables: new Set(whole.map((node) => node['Relation Name']!)) };
}

/** Pages of PostgreSQL that what `act` asks of the database touches, in its cache or not. */
export async function buffersRead(act: () => Promise<unknown>): Promise<number> {
  const roots = (await plansOf(act)).map(([root]) => root!); // a node counts those below it too
  return roots.reduce((sum, root) => sum + root['Shared Hit Blocks'] + root['Shared Read Blocks'], 0);
}
