import PDFDocument from 'pdfkit';
import type { StatementTotal } from '../../db/ledger/ledger-entries';

/** An account statement on paper: per currency what there was, every change, and what there is. */

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

/** The pages of a statement, each line below the one before. */
class Pages {
  private y = 0;
  private count = 0;

  constructor(
    private readonly pdf: PDFKit.PDFDocument,
    /** Stands at the foot of every page. */
    private readonly foot: string,
  ) {
    this.turn();
  }

  title(text: string, size: number): void {
    this.pdf.font('Helvetica-Bold').fontSize(size).text(printable(text), margin, this.y, { lineBreak: false });
    this.y += size + 6;
    this.pdf.font('Helvetica');
  }

  /** A line over the whole width. */
  line(text: string): void {
    this.put(text, margin, 770);
    this.space();
  }

  space(points = lineHeight): void {
    this.y += points;
  }

  /** Makes room for so many lines, on this page or the next; true where it is the next. */
  room(lines: number): boolean {
    if (this.y + lines * lineHeight <= this.pdf.page.height - margin - 16) return false;
    this.turn();
    return true;
  }

  heads(): void {
    this.pdf.font('Helvetica-Bold');
    for (const column of columns) this.put(column.name, column.x, column.width, 'isAmount' in column);
    this.pdf.font('Helvetica');
    this.space(lineHeight + 2);
  }

  row(line: StatementLine): void {
    for (const column of columns) this.put(column.of(line), column.x, column.width, 'isAmount' in column);
    this.space();
  }

  /** An amount below the column of amounts, or with what is reserved of it below that of balances. */
  sum(what: string, amount: string, reserved?: string): void {
    this.room(1);
    this.put(what, columns[1].x, columns[1].width);
    this.put(amount, columns[reserved === undefined ? 3 : 4].x, 100, true);
    if (reserved !== undefined) this.put(reserved, columns[5].x, columns[5].width, true);
    this.space();
  }

  private turn(): void {
    this.pdf.addPage();
    this.count += 1;
    this.y = this.pdf.page.height - margin - 8;
    this.pdf.font('Helvetica');
    this.put(this.foot, margin, 560);
    this.put(`Page ${this.count}`, 726, 80, true);
    this.y = margin;
  }

  private put(text: string, x: number, width: number, isAmount = false): void {
    let fits = printable(text);
    const wide = this.pdf.fontSize(7).widthOfString(fits);
    // An amount is never cut: it gets smaller.
    if (isAmount) this.pdf.fontSize(Math.min(7, (7 * width) / Math.max(1, wide)));
    else if (wide > width) fits = `${fits.slice(0, Math.floor((fits.length * width) / wide) - 3)}...`;
    this.pdf.text(fits, isAmount ? x + width - this.pdf.widthOfString(fits) : x, this.y, { lineBreak: false });
  }
}

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

  const pages = new Pages(pdf, `${merchant.name} (${merchant.id}), ${period}`);
  pages.title(`Statement: ${merchant.name}`, 14);
  pages.line(`${period}. Made ${madeAt.toISOString()}. Merchant ${merchant.id}.`);
  if (filter) pages.line(`Only lines of ${filter}. Balances count everything.`);
  pages.space();
  if (!sections.length) pages.line('Nothing has moved.');
  for (const { lines, ...total } of sections) {
    pages.room(6);
    pages.title(total.currency, 10);
    pages.heads();
    pages.sum('Opening balance', total.opening, total.openingReserved);
    for (const line of lines) {
      if (pages.room(1)) {
        pages.title(`${total.currency}, continued`, 10);
        pages.heads();
      }
      pages.row(line);
      if (made.length) {
        yield Buffer.concat(made.splice(0));
        await new Promise((resolve) => setImmediate(resolve)); // other requests are answered between pages
      }
    }
    pages.sum('Came in', total.came);
    pages.sum('Went out', total.went);
    pages.sum('Closing balance', total.closing, total.closingReserved);
    pages.space();
  }
  pdf.end();
  await ended;
  yield Buffer.concat(made);
}
