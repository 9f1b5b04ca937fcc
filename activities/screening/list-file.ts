import { parse } from 'csv-parse/sync';
import { networks, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { categoryOf } from '../../domain/screening/screening';
import type { ListRow } from '../../db/screening/screening-list';

const columns = ['network', 'address', 'category', 'score', 'source'] as const;
const faultsShown = 20;
type Raw = { record: Partial<Record<(typeof columns)[number], string>>; info: { lines: number } };

/** A file that is not taken; the message names each faulty line. */
export class ListFileError extends Error {}

/** Rows of a screening list as CSV with the header `network,address,category,score,source`, in any order of columns.
 *  Addresses are put into the spelling that we store. Throws ListFileError: a file is taken whole or not at all. */
export function parseListFile(
  text: string,
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'normalise'>>>,
): ListRow[] {
  let raws: Raw[];
  try {
    raws = parse(text, {
      bom: true,
      trim: true,
      skipEmptyLines: true,
      info: true,
      columns: (header: string[]) => {
        const names = header.map((name) => name.toLowerCase());
        const missing = columns.filter((column) => !names.includes(column));
        if (missing.length)
          throw new ListFileError(`Line 1: no column ${missing.join(', ')}; the header is ${columns.join()}`);
        return names;
      },
    }) as unknown as Raw[];
  } catch (error) {
    if (error instanceof ListFileError) throw error;
    throw new ListFileError((error as Error).message);
  }
  const faults: string[] = [];
  const rows = raws.flatMap(({ record, info }) => {
    const row = rowOf(record, codecs);
    if (typeof row !== 'string') return [row];
    faults.push(`Line ${info.lines}: ${row}`);
    return [];
  });
  if (faults.length) {
    const more = faults.length > faultsShown ? [`… and ${faults.length - faultsShown} more`] : [];
    throw new ListFileError([...faults.slice(0, faultsShown), ...more].join('\n'));
  }
  if (!rows.length) throw new ListFileError('The file has no rows');
  return rows;
}

/** The row, or what is wrong with it. */
function rowOf(
  { network = '', address = '', category = '', score = '', source = '' }: Raw['record'],
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'normalise'>>>,
): ListRow | string {
  if (!(network in networks)) return `'${network}' is no network; there are ${Object.keys(networks).join(', ')}`;
  const normal = codecs[network as NetworkId].normalise(address);
  if (normal === null) return `'${address}' is no address of ${network}`;
  if (!categoryOf(category)) return 'the category is missing';
  if (!/^(100|[1-9]\d?)$/.test(score)) return `the score '${score}' is not a whole number from 1 to 100`;
  if (!source || source.length > 64) return 'the source has 1 to 64 characters';
  return { network, address: normal, category: categoryOf(category), score: parseInt(score, 10), source };
}
