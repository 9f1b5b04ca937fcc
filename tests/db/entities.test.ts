import { DataSource, type EntitySchema } from 'typeorm';
import { entities } from '../../db/entities';
import { entity, id, key, nullable, text, type RowOf } from '../../db/entity';
import { freshDatabase } from '../setup/postgres';

/** What db/.../entities.ts declares of tables is what the migrations make of them. */

/** Tables without an entity, and why. */
const ofSqlAlone: Readonly<Record<string, string>> = {
  held_part: 'no key, which TypeORM needs; only its sums are read',
  migration: 'that of TypeORM',
  rate_limit: 'that of rate-limiter-flexible',
  'signer.destination': 'only functions/admit_destinations.sql reads and writes it',
  'signer.new_payment': 'only functions/admit_destinations.sql reads and writes it',
  'signer.validity': 'only keep_validity, note_absence, validities_of and is_all_void in functions read and write it',
};

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
beforeAll(async () => {
  database = await freshDatabase();
  db = new DataSource({ type: 'postgres', url: database.url, entities: [...entities], synchronize: false });
  await db.initialize();
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

/** `character(24) not null, key`, by column. */
type Columns = Readonly<Record<string, string>>;
type Column = Readonly<{ type: string; isNullable: boolean; isKey: boolean }>;
const inWords = ({ type, isNullable, isKey }: Column): string =>
  `${type}${isNullable ? '' : ' not null'}${isKey ? ', key' : ''}`;

function declaredIn({ options: { columns } }: EntitySchema): Columns {
  const named = Object.entries(columns).map(([name, options]) => {
    const { type, length, precision, scale, array, nullable: isNullable = false, primary: isKey = false } = options!;
    const size = length ?? (precision === undefined ? undefined : `${precision},${scale}`);
    const whole = `${String(type)}${size === undefined ? '' : `(${size})`}${array ? '[]' : ''}`;
    return [name, inWords({ type: whole, isNullable, isKey })];
  });
  return Object.fromEntries(named) as Columns;
}

async function migrated(): Promise<Map<string, Columns>> {
  const rows = await db.query<Array<Column & { table: string; name: string }>>(
    `WITH keys AS MATERIALIZED (
       SELECT k.table_schema, k.table_name, u.column_name FROM information_schema.table_constraints k
         JOIN information_schema.key_column_usage u USING (constraint_schema, constraint_name, table_schema, table_name)
        WHERE k.constraint_type = 'PRIMARY KEY'),
     elements AS MATERIALIZED (
       SELECT object_schema AS table_schema, object_name AS table_name, collection_type_identifier AS dtd_identifier,
              data_type AS element_type
         FROM information_schema.element_types WHERE object_type = 'TABLE')
     SELECT CASE table_schema WHEN 'public' THEN '' ELSE table_schema || '.' END || table_name AS table,
            column_name AS name,
            coalesce(e.element_type || '[]', c.data_type) || CASE
              WHEN c.data_type = 'numeric' THEN format('(%s,%s)', c.numeric_precision, c.numeric_scale)
              WHEN c.character_maximum_length IS NOT NULL THEN format('(%s)', c.character_maximum_length)
              ELSE '' END AS type,
            c.is_nullable = 'YES' AS "isNullable", k.column_name IS NOT NULL AS "isKey"
       FROM information_schema.columns c
       JOIN information_schema.tables t USING (table_schema, table_name)
       LEFT JOIN keys k USING (table_schema, table_name, column_name)
       LEFT JOIN elements e USING (table_schema, table_name, dtd_identifier)
      WHERE t.table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  return new Map(
    [...Map.groupBy(rows, ({ table }) => table)].map(([table, columns]) => [
      table,
      Object.fromEntries(columns.map((column) => [column.name, inWords(column)])),
    ]),
  );
}

it('has every table, with its columns, their types, what may be null and the key', async () => {
  const tables = await migrated();
  for (const name of Object.keys(ofSqlAlone)) {
    expect([...tables.keys()]).toContain(name);
    tables.delete(name);
  }
  const declared = new Map(entities.map((one) => [one.options.name, declaredIn(one)]));
  expect(declared.size).toBe(entities.length);
  expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(tables));
});

it('is what TypeORM reads tables by', async () => {
  for (const one of entities) expect(await db.getRepository(one).find({ take: 1 })).toBeInstanceOf(Array);
});

it('gives the type of a row, and is held to a row type of the domain', () => {
  const sample = entity('sample', { id: key(id()), state: text<'on' | 'off'>(), note: nullable(text()) });
  const row: RowOf<typeof sample> = { id: '1', state: 'on', note: null };
  expect(Object.keys(sample.options.columns)).toEqual(Object.keys(row));
  // @ts-expect-error: may be null in the table alone
  entity<{ id: string; note: string }>('sample', { id: key(id()), note: nullable(text()) });
  // @ts-expect-error: a column that the row type does not have
  entity<{ id: string }>('sample', { id: key(id()), note: text() });
  // @ts-expect-error: a column is missing
  entity<{ id: string; note: string }>('sample', { id: key(id()) });
});
