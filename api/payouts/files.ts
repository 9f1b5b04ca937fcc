import { parse } from 'csv-parse/sync';
import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { maxPayoutRows, type PayoutRow } from '../../domain/payouts/payout';
import { batchBytes } from '../http/body';
import { route } from '../http/route';
import { tag, rows } from './schemas';

/** Rows from a file, and the file to fill in. They change nothing. Contract: 4.7. */

const rowHead = ['currency', 'address', 'amount', 'destinationTag'] as const;

export const payoutTemplate = route({
  name: 'payoutTemplate',
  method: 'get',
  path: '/api/v1/mass-payouts/template.csv',
  summary: 'A file to fill in',
  tag,
  envelope: 'A',
  success: {
    status: 200,
    type: 'text/csv',
    headers: ['Content-Disposition'],
    description: 'The names of the columns.',
  },
  errors: [],
  answer: () => ({
    text: `${rowHead.join(',')}\n`,
    type: 'text/csv; charset=utf-8',
    headers: { 'Content-Disposition': 'attachment; filename="mass-payout.csv"' },
  }),
});

type Line = Readonly<{ record: readonly string[]; info: Readonly<{ lines: number }> }>;

/** The rows of a file whose first line names its columns. A row with a cell too many comes with what is no amount, so
 *  that it is named with all others that are wrong: `0,5` for an amount makes such a row. Missing cells come empty.
 *  Throws CSV_INVALID, which says where. */
function readRows(text: string): PayoutRow[] {
  const [head, ...lines] = readLines(text);
  if (!head || !lines.length) return [];
  if (lines.length > maxPayoutRows) throw wrong(`More than ${maxPayoutRows} rows`);
  const names = head.record.map((name) => rowHead.find((one) => one.toLowerCase() === name.toLowerCase()));
  const at = (name: (typeof rowHead)[number]): number => names.indexOf(name);
  if (at('currency') < 0 || at('address') < 0 || at('amount') < 0)
    throw wrong(`Line ${head.info.lines}: the columns currency, address and amount are needed`);
  if (rowHead.some((name) => at(name) !== names.lastIndexOf(name)))
    throw wrong(`Line ${head.info.lines}: a column is there twice`);
  return lines.map(({ record, info }) => {
    const cellOf = (name: (typeof rowHead)[number]): string => record[at(name)] ?? '';
    const [currency, address, destinationTag] = [cellOf('currency'), cellOf('address'), cellOf('destinationTag')];
    // With a cell too much nobody knows where it came from: what begins with the amount is no amount.
    const amount = record.length > names.length ? record.slice(at('amount')).join(',') : cellOf('amount');
    const cells = [currency, address, amount, destinationTag];
    if (cells.some((cell) => cell.length > 200 || /[\u0000-\u001f]/.test(cell)))
      throw wrong(`Line ${info.lines}: a cell is too long or holds control characters`);
    return { currency, address, amount, ...(destinationTag ? { destinationTag } : {}) };
  });
}

const wrong = (what: string): DomainError => new DomainError('CSV_INVALID', what);

function readLines(text: string): readonly Line[] {
  try {
    return parse(text, {
      bom: true,
      trim: true,
      skip_empty_lines: true,
      info: true,
      relax_column_count: true,
      max_record_size: 2000,
      to: maxPayoutRows + 2, // its head, and one too many
    }) as unknown as readonly Line[];
  } catch (error) {
    throw wrong(`Not a CSV file: ${(error as Error).message}`);
  }
}

export const importPayouts = route({
  name: 'importPayouts',
  method: 'post',
  path: '/api/v1/mass-payouts/import',
  summary: 'Read rows from a file',
  description:
    'Takes what a spreadsheet saves as CSV, with the columns of the template, and answers rows as validate takes ' +
    'them. A row with a cell too many comes as one that validate refuses, and missing cells come empty.',
  tag,
  envelope: 'A',
  text: 'text/csv',
  maxBytes: batchBytes,
  success: {
    status: 200,
    schema: Type.Object({ rows: rows(0) }),
    description: 'The rows, not checked yet.',
  },
  errors: ['CSV_INVALID'],
  answer: ({ rawBody }) => ({ data: { rows: readRows(rawBody) } }),
});
