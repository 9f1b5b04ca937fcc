/** A cell of a CSV file that no spreadsheet takes for a formula: text that could be one gets a quote in front. Plain numbers stay
 *  numbers, a minus sign included. Invariants: 7, Content. */
function cell(value: string | null): string {
  if (value === null) return '';
  const isNumber = /^-?\d+(\.\d+)?$/.test(value);
  const safe = !isNumber && /^[\s\u0000-\u001f]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return /[",\r\n\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** RFC 4180: a header line and a line per row, each ended by CRLF. Columns are the keys of `columns`, in their order. */
export const csvOf = <Row>(
  columns: Readonly<Record<string, (row: Row) => string | null>>,
  rows: readonly Row[],
): string =>
  [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((read) => read(row)))]
    .map((cells) => `${cells.map(cell).join(',')}\r\n`)
    .join('');
