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

/** The rows of a file whose first line names its columns. Throws CSV_INVALID, which says where. */
function readRows(text: string): PayoutRow[] {
  const wrong = (what: string): DomainError => new DomainError('CSV_INVALID', what);
  let lines: Array<{ record: Record<string, string>; info: { lines: number } }>;
  try {
    lines = parse(text, {
      bom: true,
      trim: true,
      skip_empty_lines: true,
      info: true,
      max_record_size: 2000,
      to: maxPayoutRows + 1,
      columns: (head: string[]) =>
        head.map((name) => rowHead.find((one) => one.toLowerCase() === name.toLowerCase()) ?? null),
    });
  } catch (error) {
    throw wrong(`Not a CSV file: ${(error as Error).message}`);
  }
  if (lines.length > maxPayoutRows) throw wrong(`More than ${maxPayoutRows} rows`);
  return lines.map(({ record, info }) => {
    const { currency, address, amount, destinationTag } = record;
    if (currency === undefined || address === undefined || amount === undefined)
      throw wrong(`Line ${info.lines}: the columns currency, address and amount are needed`);
    const cells = [currency, address, amount, destinationTag ?? ''];
    if (cells.some((cell) => cell.length > 200 || /[\u0000-\u001f]/.test(cell)))
      throw wrong(`Line ${info.lines}: a cell is too long or holds control characters`);
    return { currency, address, amount, ...(destinationTag ? { destinationTag } : {}) };
  });
}

export const importPayouts = route({
  name: 'importPayouts',
  method: 'post',
  path: '/api/v1/mass-payouts/import',
  summary: 'Read rows from a file',
  description:
    'Takes what a spreadsheet saves as CSV, with the columns of the template, and answers rows as validate takes them.',
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
