import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';

/** How a table is declared: its columns, their types in PostgreSQL, what may be null and which are its key. The type of
 *  a row follows from it. Indexes, checks, foreign keys and defaults are those of the migrations alone.
 *  docs/decisions/0035-entities.md */

declare const value: unique symbol;
/** A column, and what the driver makes of its values. */
export interface Column<Value> extends EntitySchemaColumnOptions {
  readonly [value]?: (of: Value) => Value;
}
type Columns<Row> = { readonly [Name in keyof Row]: Column<Row[Name]> };

/** The row of a table as `SELECT *` gives it. */
export type RowOf<Entity> = Entity extends EntitySchema<infer Row> ? Row : never;

/** A table. With a type argument, a row type of the domain, the compiler holds the columns to it. */
export const entity = <Row extends object>(name: string, columns: Columns<Row>): EntitySchema<Row> =>
  new EntitySchema<Row>({ name, columns, synchronize: false });

const column = <Value>(options: EntitySchemaColumnOptions): Column<Value> => options;
/** Part of the primary key. */
export const key = <Value>(of: Column<Value>): Column<Value> => column({ ...of, primary: true });
export const nullable = <Value>(of: Column<Value>): Column<Value | null> => {
  const options: EntitySchemaColumnOptions = of;
  return column({ ...options, nullable: true });
};

/** Of domain/ids.ts. */
export const id = () => column<string>({ type: 'character', length: 24 });
export const text = <Value extends string = string>() => column<Value>({ type: 'text' });
export const texts = <Value extends string = string>() => column<Value[]>({ type: 'text', array: true });
export const boolean = () => column<boolean>({ type: 'boolean' });
export const smallint = () => column<number>({ type: 'smallint' });
export const integer = () => column<number>({ type: 'integer' });
/** As decimal text: not every one is a safe number. */
export const bigint = () => column<string>({ type: 'bigint' });
export const bigints = () => column<string[]>({ type: 'bigint', array: true });
/** As decimal text, with all digits of the scale. */
export const numeric = (precision: number, scale: number) => column<string>({ type: 'numeric', precision, scale });
export const timestamptz = () => column<Date>({ type: 'timestamp with time zone' });
export const date = () => column<Date>({ type: 'date' });
export const bytea = () => column<Buffer>({ type: 'bytea' });
export const jsonb = <Value = unknown>() => column<Value>({ type: 'jsonb' });
/** Keeps the text as it came. */
export const json = <Value = unknown>() => column<Value>({ type: 'json' });
