import { stringify } from 'csv-stringify/sync';
import { sendFile, type FileCall } from './file';
import type { ApiDeps } from './deps';
import type { Answer } from './route';

/** Lines of a table, a batch at a time. */
type Batches = AsyncGenerator<ReadonlyArray<readonly string[]>, void, undefined>;

/** What a spreadsheet would take for a formula has a quote before it; the sign of an amount is none. Invariants: 7,
 *  Content. */
const csv = (lines: ReadonlyArray<readonly string[]>, isAmount: readonly boolean[]): string =>
  stringify(lines as string[][], {
    escape_formulas: true,
    quoted_match: /[\r\n]/,
    cast: { string: (value, { column }) => (isAmount[column as number] ? { value, escape_formulas: false } : value) },
  });

type Table = Readonly<{
  name: string;
  head: readonly string[];
  /** Columns of amounts that may be negative. */
  amounts?: readonly string[];
  batches: () => Batches;
}>;

async function* texts({ head, amounts = [], batches }: Table): AsyncGenerator<string, void, undefined> {
  const isAmount = head.map((name) => amounts.includes(name));
  const lines = batches();
  try {
    let batch = await lines.next(); // before the head: what fails here is refused
    yield csv([head], []);
    for (; !batch.done; batch = await lines.next()) yield csv(batch.value, isAmount);
  } finally {
    await lines.return();
  }
}

/** Answers with a CSV file, as `sendFile` does. */
export const sendCsv = (call: FileCall, deps: Pick<ApiDeps, 'config' | 'logger'>, table: Table): Promise<Answer> =>
  sendFile(call, deps, {
    name: table.name,
    extension: 'csv',
    type: 'text/csv; charset=utf-8',
    chunks: () => texts(table),
  });
