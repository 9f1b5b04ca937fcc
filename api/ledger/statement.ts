import PDFDocument from 'pdfkit';
import type { StatementTotal } from '../../db/ledger/ledger-entries';

/** A merchant's book on paper: per currency what there was, every change, and what there is. */

type StatementLine = Readonly<{
  createdAt: string;
  description: string;
  amount: string;
  balanceAfter: string;
  reservedAfter: string;
  fiat: string;
  source: string;
}>;
export type Statement = Readonly<{
  merchant: Readonly<{ id: string; name: string }>;
  /** In words: from when to when, which lines. */
  period: string;
  filter: string | null;
  madeAt: Date;
  sections: ReadonlyArray<StatementTotal & { lines: readonly StatementLine[] }>;
}>;

const margin = 36;
const lineHeight = 11;
/** x and width of each column of a landscape A4 page, 842 points wide; amounts end at the right edge of theirs. */
const columns = [
  { name: 'Time (UTC)', of: (line: StatementLine) => line.createdAt, x: 36, width: 84 },
  { name: 'What', of: (line: StatementLine) => line.description, x: 122, width: 158 },
  { name: 'Of', of: (line: StatementLine) => line.source, x: 282, width: 142 },
  { name: 'Amount', of: (line: StatementLine) => line.amount, x: 426, width: 100, isAmount: true },
  { name: 'Balance', of: (line: StatementLine) => line.balanceAfter, x: 530, width: 100, isAmount: true },
  { name: 'Reserved', of: (line: StatementLine) => line.reservedAfter, x: 634, width: 92, isAmount: true },
  { name: 'Value then', of: (line: StatementLine) => line.fiat, x: 730, width: 76, isAmount: true },
] as const;

/** The standard fonts of PDF have the letters of Western Europe; what they lack is a question mark, and whole in the
 *  file's title. */
const printable = (text: string): string => text.replaceAll(/[^\u0020-\u007e\u00a0-\u00ff]/gu, '?');

/** The file, page by page, as fast as it is read. */
export async function* statementPdf(statement: Statement): AsyncGenerator<Buffer, void, undefined> {
  const { merchant, period, filter, madeAt, sections } = statement;
  const pdf = new PDFDocument({
    size: 'A4',
    layout: 'landscape',
    margin,
    autoFirstPage: false,
    info: { Title: `Statement of ${merchant.name}, ${period}`, CreationDate: madeAt },
  });
  const made: Buffer[] = [];
  pdf.on('data', (chunk: Buffer) => made.push(chunk));
  const ended = new Promise((resolve) => pdf.on('end', resolve));
  let pages = 0;
  let y = 0;
  const put = (text: string, x: number, width: number, isAmount = false): void => {
    let fits = printable(text);
    const wide = pdf.fontSize(7).widthOfString(fits);
    // An amount is never cut: it gets smaller.
    if (isAmount) pdf.fontSize(Math.min(7, (7 * width) / Math.max(1, wide)));
    else if (wide > width) fits = `${fits.slice(0, Math.floor((fits.length * width) / wide) - 3)}...`;
    pdf.text(fits, isAmount ? x + width - pdf.widthOfString(fits) : x, y, { lineBreak: false });
  };
  const head = (title: string, size: number): void => {
    pdf.font('Helvetica-Bold').fontSize(size).text(printable(title), margin, y, { lineBreak: false });
    y += size + 6;
    pdf.font('Helvetica');
  };
  const turn = (): void => {
    pdf.addPage();
    pages += 1;
    y = pdf.page.height - margin - 8;
    pdf.font('Helvetica');
    put(`${merchant.name} (${merchant.id}), ${period}`, margin, 560);
    put(`Page ${pages}`, 726, 80, true);
    y = margin;
  };
  /** Room for so many lines, on this page or the next. */
  const room = (lines: number): boolean => {
    if (y + lines * lineHeight <= pdf.page.height - margin - 16) return false;
    turn();
    return true;
  };
  const heads = (): void => {
    pdf.font('Helvetica-Bold');
    for (const column of columns) put(column.name, column.x, column.width, 'isAmount' in column);
    pdf.font('Helvetica');
    y += lineHeight + 2;
  };
  const sum = (what: string, amount: string, reserved?: string): void => {
    room(1);
    put(what, columns[1].x, columns[1].width);
    put(amount, columns[reserved === undefined ? 3 : 4].x, 100, true);
    if (reserved !== undefined) put(reserved, columns[5].x, columns[5].width, true);
    y += lineHeight;
  };

  turn();
  head(`Statement: ${merchant.name}`, 14);
  put(`${period}. Made ${madeAt.toISOString()}. Merchant ${merchant.id}.`, margin, 770);
  y += lineHeight;
  if (filter) {
    put(`Only lines of ${filter}. Balances count everything.`, margin, 770);
    y += lineHeight;
  }
  y += lineHeight;
  if (!sections.length) put('Nothing has moved.', margin, 770);
  for (const { lines, ...total } of sections) {
    room(6);
    head(total.currency, 10);
    heads();
    sum('Opening balance', total.opening, total.openingReserved);
    for (const line of lines) {
      if (room(1)) {
        head(`${total.currency}, continued`, 10);
        heads();
      }
      for (const column of columns) put(column.of(line), column.x, column.width, 'isAmount' in column);
      y += lineHeight;
      if (made.length) {
        yield Buffer.concat(made.splice(0));
        await new Promise((resolve) => setImmediate(resolve)); // other requests are answered between pages
      }
    }
    sum('Came in', total.came);
    sum('Went out', total.went);
    sum('Closing balance', total.closing, total.closingReserved);
    y += lineHeight;
  }
  pdf.end();
  await ended;
  yield Buffer.concat(made);
}
