import type { Client, Connection, FieldDef, Submittable } from 'pg';

export type Column = Readonly<{ name: string; type: number; isOfTable: boolean; isNullable: boolean }>;
export type Described = Readonly<{ parameters: number; columns: readonly Column[] }>;

type Fields = readonly FieldDef[];

/** Has PostgreSQL parse and describe a statement, which is never run. */
const parse = (client: Client, text: string): Promise<{ parameters: number; fields: Fields }> =>
  new Promise((resolve, reject) => {
    let parameters = 0;
    let fields: Fields = [];
    const noteParameters = ({ parameterCount }: { parameterCount: number }): void => {
      parameters = parameterCount;
    };
    const description: Submittable & Record<string, unknown> = {
      submit(connection: Connection): void {
        connection.once('parameterDescription', noteParameters);
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S' }, true);
        connection.sync();
      },
      handleRowDescription(message: { fields: Fields }): void {
        fields = message.fields;
      },
      handleError(error: Error, connection: Connection): void {
        connection.off('parameterDescription', noteParameters);
        reject(error);
      },
      handleReadyForQuery: () => resolve({ parameters, fields }),
    };
    client.query(description);
  });

/** Statements of one file after another, in a transaction in which what they need of each other is there. */
export class Describer {
  private constructor(
    private readonly client: Client,
    private readonly nullable: ReadonlySet<string>,
  ) {}

  static async on(client: Client): Promise<Describer> {
    const { rows } = await client.query<{ attribute: string }>(
      `SELECT a.attrelid || '/' || a.attnum AS attribute FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE NOT a.attnotnull AND a.attnum > 0 AND c.relkind = 'r'`,
    );
    return new Describer(client, new Set(rows.map(({ attribute }) => attribute)));
  }

  /** What the statements of a file take and give: each by itself, or the error that PostgreSQL has. Temporary tables
   *  and cursors are made, empty, for the statements after them. */
  async inTurn(texts: readonly string[]): Promise<Array<Described | Error>> {
    const results: Array<Described | Error> = [];
    await this.client.query('BEGIN');
    for (const text of texts) {
      await this.client.query('SAVEPOINT before');
      try {
        const { parameters, fields } = await parse(this.client, text);
        if (/^\s*DECLARE\s/.test(text)) await this.client.query('CLOSE ALL');
        if (/^\s*(CREATE TEMP|DECLARE)\s/.test(text)) await this.client.query(text, Array<null>(parameters).fill(null));
        results.push({ parameters, columns: fields.map((field) => this.columnOf(field)) });
      } catch (error) {
        await this.client.query('ROLLBACK TO before');
        results.push(error as Error);
      }
    }
    await this.client.query('ROLLBACK');
    return results;
  }

  /** A column of a table that may be null; of an expression nothing is known. */
  private readonly columnOf = ({ name, dataTypeID, tableID, columnID }: FieldDef): Column => ({
    name,
    type: dataTypeID,
    isOfTable: tableID > 0,
    isNullable: this.nullable.has(`${tableID}/${columnID}`),
  });
}
