import { told } from './refusal.js';

/** Text as a terminal shows it: what others wrote moves no cursor and rings no bell. */
const shown = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, '\ufffd');

/** For people or, with `--json`, for programs: one JSON value per line on standard output, errors on standard error. */
export class Output {
  isJson = false;

  /** A result: `text` for people, `value` for programs. */
  result(value: unknown, text: string): void {
    process.stdout.write(`${this.isJson ? JSON.stringify(value) : shown(text)}\n`);
  }

  /** What goes on, for people alone. */
  say(text: string): void {
    this.complain(`${text}\n`);
  }

  /** What is wrong with a command line, for people alone: programs are told by `fail`. */
  complain(text: string): void {
    if (!this.isJson) process.stderr.write(shown(text));
  }

  fail(error: unknown): void {
    const { code, message, requestId, hint } = told(error);
    if (this.isJson) process.stderr.write(`${JSON.stringify({ error: { code, message, requestId, hint } })}\n`);
    else this.say([message, hint].filter(Boolean).join('\n'));
  }

  /** Rows of a table. */
  table(rows: ReadonlyArray<readonly string[]>): string {
    const widths = (rows[0] ?? []).map((_, n) => Math.max(...rows.map((row) => row[n]!.length)));
    return rows
      .map((row) =>
        row
          .map((cell, n) => cell.padEnd(widths[n]!))
          .join('  ')
          .trimEnd(),
      )
      .join('\n');
  }
}
