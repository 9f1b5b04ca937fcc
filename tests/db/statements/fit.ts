import ts from 'typescript';
import type { Column, Described } from './describe';
import type { Statement } from './find';

/** What JavaScript gets of a column, by the type's number in PostgreSQL: as the driver parses it, for nothing here sets
 *  a parser. */
const scalars: Readonly<Record<number, string>> = {
  16: 'boolean',
  17: 'Buffer',
  18: 'string', // "char"
  19: 'string', // name
  20: 'string', // bigint
  21: 'number',
  23: 'number',
  25: 'string',
  26: 'number', // oid
  114: 'json',
  700: 'number',
  701: 'number',
  1042: 'string', // char(n)
  1043: 'string',
  1082: 'Date', // date
  1114: 'Date',
  1184: 'Date',
  1700: 'string', // numeric
  2278: 'string', // void
  2950: 'string', // uuid
  3802: 'json',
};
const arrays: Readonly<Record<number, string>> = {
  1000: 'boolean',
  1001: 'Buffer',
  1005: 'number',
  1007: 'number',
  1009: 'string',
  1014: 'string',
  1015: 'string',
  1016: 'string', // bigint[]
  1185: 'Date',
  199: 'json',
  1231: 'number', // numeric[]: the driver makes floats of it, so money must be cast to text[]
  2951: 'string',
  3807: 'json',
};

/** What a statement does, by its first word outside the queries that it begins with. */
function commandOf(text: string): string {
  let depth = 0;
  for (const [token] of text.matchAll(/'(?:[^']|'')*'|--[^\n]*|"[^"]*"|[()]|\w+/g)) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (depth === 0 && /^(SELECT|INSERT|UPDATE|DELETE|MERGE)$/i.test(token)) return token.toUpperCase();
    if (depth === 0 && /^(LOCK|SET|CREATE|DECLARE|FETCH|LISTEN|NOTIFY|CLOSE|TRUNCATE|ANALYZE|VALUES)$/i.test(token))
      return token.toUpperCase();
  }
  return '';
}

/** What is wrong with a statement; `nullable`: the column that may be null where it is read as if it never were. */
export type Mismatch = Readonly<{ says: string; nullable?: string }>;

const asRows = 'gives a pair of rows and count, read as rows';

/** How a statement and what is read of it differ. */
export function* mismatches(
  checker: ts.TypeChecker,
  { text, way, values, read }: Statement,
  { parameters, columns }: Described,
): Generator<Mismatch> {
  if (values !== undefined && values !== parameters)
    yield { says: `takes ${parameters} values and is given ${values}` };
  const isChange = ['UPDATE', 'DELETE'].includes(commandOf(text));
  if (way !== 'as it comes' && !isChange) yield { says: `is no UPDATE or DELETE: the driver gives rows alone` };
  if (typeof read === 'string') {
    if (read === 'untyped' && (columns.length || isChange)) yield { says: 'is read as anything' };
    if (read === 'count' && way === 'as it comes' && isChange) yield { says: asRows };
    return;
  }
  if (way === 'as it comes' && isChange !== read.isPair)
    yield { says: isChange ? asRows : 'gives rows, read as a pair of rows and count' };
  yield* differences(checker, read.row, columns);
}

function* differences(checker: ts.TypeChecker, row: ts.Type, columns: readonly Column[]): Generator<Mismatch> {
  const open = checker.getIndexInfoOfType(row, ts.IndexKind.String)?.type;
  const properties = new Map(checker.getPropertiesOfType(row).map((one) => [one.name, one]));
  const name = checker.typeToString(row).slice(0, 40);
  const seen = new Set<string>();
  for (const [index, column] of columns.entries()) {
    const last = columns.findLastIndex((other) => other.name === column.name);
    // The driver keeps the last of a name. `p.*` with another form of one of its columns behind it is meant so.
    if (last > index && !columns[last]!.isOfTable) continue;
    if (last > index) yield { says: `gives ${column.name} twice` };
    seen.add(column.name);
    const property = properties.get(column.name);
    const type = property ? checker.getTypeOfSymbol(property) : open;
    if (!type) yield { says: `gives ${column.name}, which ${name} does not have` };
    else {
      const expected = scalars[column.type] ?? (arrays[column.type] ? `${arrays[column.type]}[]` : undefined);
      const declared = checker.typeToString(type).slice(0, 80);
      if (!expected) yield { says: `gives ${column.name} of type number ${column.type}, which fit.ts does not know` };
      else if (!fits(checker, type, expected))
        yield { says: `gives ${column.name}: ${expected}, declared ${declared}` };
      else if (column.isNullable && !maybeNull(type))
        yield { says: `gives ${column.name}, may be null, declared ${declared}`, nullable: column.name };
    }
  }
  for (const [missing, { flags }] of properties)
    if (!seen.has(missing) && !(flags & ts.SymbolFlags.Optional)) yield { says: `does not give ${missing} of ${name}` };
}

const parts = (type: ts.Type): readonly ts.Type[] => (type.isUnion() ? type.types : [type]);
const nullFlags = ts.TypeFlags.Null | ts.TypeFlags.Undefined;
const maybeNull = (type: ts.Type): boolean =>
  Boolean(type.flags & ts.TypeFlags.Unknown) || parts(type).some(({ flags }) => flags & ts.TypeFlags.Null);

function fits(checker: ts.TypeChecker, type: ts.Type, expected: string): boolean {
  if (expected === 'json') return true;
  const present = parts(type).filter(({ flags }) => !(flags & nullFlags));
  return present.every((one) => {
    if (expected.endsWith('[]')) {
      if (!checker.isArrayType(one)) return false;
      return fits(checker, checker.getTypeArguments(one as ts.TypeReference)[0]!, expected.slice(0, -2));
    }
    if (expected === 'string') return isOf(one, ts.TypeFlags.StringLike);
    if (expected === 'number') return isOf(one, ts.TypeFlags.NumberLike);
    if (expected === 'boolean') return isOf(one, ts.TypeFlags.BooleanLike);
    return one.symbol?.name === expected;
  });
}

const isOf = (type: ts.Type, flag: ts.TypeFlags): boolean =>
  type.isIntersection() ? type.types.some((one) => isOf(one, flag)) : Boolean(type.flags & flag);
