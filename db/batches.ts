/** Everything that `read` finds, a batch at a time: at most `size` rows, behind `from` at first, then behind the last
 *  row of the batch before. */
export async function* inBatches<Row, Cursor>(
  { size, from, cursorOf }: Readonly<{ size: number; from: Cursor; cursorOf: (last: Row) => Cursor }>,
  read: (cursor: Cursor, size: number) => Promise<Row[]>,
): AsyncGenerator<Row[], void, undefined> {
  for (let cursor = from; ;) {
    const rows = await read(cursor, size);
    if (rows.length) yield rows;
    if (rows.length < size) return;
    cursor = cursorOf(rows.at(-1)!);
  }
}
