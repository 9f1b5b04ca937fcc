import { client, payload } from '../api/client';
import { dated, save } from '../api/download';

/** A file of some payments, put together from the files of each: its lines are those of the whole list's file. */

type Format = 'csv' | 'json';
/** What stands before and after the payments of a file. */
const frames: Readonly<Record<Format, Readonly<{ head: RegExp; tail: RegExp; between: string }>>> = {
  csv: { head: /^[^\n]*\n/, tail: /$/, between: '' },
  json: { head: /^\{"items":\[\s*/, tail: /\s*\]\}\s*$/, between: ',\n' },
};

const textOf = async (format: Format, search: string): Promise<string> =>
  (await payload(
    client.GET(`/api/v1/payments.${format}`, { params: { query: { search } }, parseAs: 'text' }),
  )) as unknown as string;

/** One text of the texts of single payments. */
function joined(format: Format, texts: readonly string[]): string {
  const { head, tail, between } = frames[format];
  const first = texts[0] ?? '';
  const rows = texts.map((text) => text.replace(head, '').replace(tail, '')).filter((row) => row !== '');
  return (head.exec(first)?.[0] ?? '') + rows.join(between) + (tail.exec(first)?.[0] ?? '');
}

/** One call after the other: the API makes two files at a time for a merchant. */
export async function saveChosen(format: Format, paymentIds: readonly string[]): Promise<void> {
  const texts: string[] = [];
  for (const id of paymentIds) texts.push(await textOf(format, id));
  const type = format === 'csv' ? 'text/csv;charset=utf-8' : 'application/json';
  save(new Blob([joined(format, texts)], { type }), dated('payments-chosen', format));
}
