import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds, type Kind } from '../../domain/txmanager/kinds';
import { root } from '../../sandbox/paths';

/** A new kind of outgoing money is one file of txmanager/kinds and one row of domain/txmanager/kinds.ts. So no
 *  other file compares kinds, or lists them, except a kind's own rooms, and the few below. */

const rooms = ['domain', 'db', 'commands', 'chains', 'txmanager', 'activities', 'workflows', 'workers', 'api'];
const registry = /^(txmanager\/kinds\/|domain\/txmanager\/kinds\.ts$|db\/migrations\/)/;

/** Where a kind's own code is: another kind has no business there. */
const own: Readonly<Record<Kind, RegExp>> = {
  gas: /^((domain|db)\/sweeps\/|txmanager\/plan-sweep-alone\.ts$)/,
  sweep: /^((domain|db)\/sweeps\/|(db\/chains\/notify|txmanager\/(plan-sweep-\w+|queue-sweep|sweep-\w+|settle))\.ts$)/,
  refund: /^(db|commands|activities)\/refunds\//,
  withdrawal: /^(db|commands|activities)\/withdrawals\//,
  consolidate: /^(db|activities)\/treasury\//,
  fund: /^(db|activities)\/conversions\//,
  leg: /^(db|commands|activities)\/payouts\//,
  lost: /^db\/(recovery\/|chains\/notify\.ts$)/,
};
/** Others that name a kind, and why a new kind changes nothing there. */
const exceptions: ReadonlyArray<readonly [file: RegExp, why: string]> = [
  [/^(db\/recovery\/lost|txmanager\/reassign-lost)\.ts$/, 'what a recovery has lost, of whatever kind'],
  [/^db\/payouts\/payouts\.ts$/, 'tokens that wait for their gas'],
  [/^domain\/workflow-ids\.ts$/, 'ids of workflows, by the kind of their owner'],
  [/^workflows\/start-options\.ts$/, 'types of workflows, and what operators find them by'],
  [/^db\/incidents\.ts$/, 'what each kind of incident is about'],
  [/^db\/ledger\/ledger\.ts$/, 'a payout line is a leg in the keys of its hold'],
  [/^(domain|db|commands|api)\/operators\/(find|journal-keys)\.ts$/, 'kinds of records that operators look for'],
  [/^db\/audit\/check-.+\.ts$/, 'checks of one kind: sweep batches, payout lines, swap deposits'],
];

const names = Object.keys(kinds) as Kind[];
const name = `'(${names.join('|')})'`;
const patterns = [
  // A comparison, of TypeScript or SQL.
  `\\bkind\\s*(?:={1,3}|!==?|<>)\\s*${name}`,
  `${name}\\s*(?:===|!==)\\s*[\\w.!?]*\\bkind\\b`,
  `\\bkind\\s+(?:NOT\\s+)?IN\\s*\\([^)]*?${name}`,
  `\\bcase\\s+${name}\\s*:`,
  `\\bWHEN\\s+${name}\\s+THEN`,
  `${name}\\s+AS\\s+kind\\b`,
  // A list, a union, or the keys of a table.
  `${name}\\s*[,|]\\s*(?:${name})`,
  `\\b(${names.join('|')}): [^\\n]*\\n\\s*(?:${names.join('|')}): `,
].map((pattern) => new RegExp(pattern, 'g'));

type Place = Readonly<{ file: string; line: number; kind: Kind; text: string }>;
function placesIn(file: string, text: string): Place[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({
      file,
      line: text.slice(0, match.index).split('\n').length,
      kind: match[1] as Kind,
      text: match[0].replaceAll(/\s+/g, ' '),
    })),
  );
}
const places = rooms.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${room}/${file}`)
    .filter((file) => !registry.test(file))
    .flatMap((file) => placesIn(file, readFileSync(join(root, file), 'utf8'))),
);
const isList = ({ text }: Place): boolean => /^'\w+'\s*[,|]/.test(text) || /^\w+: /.test(text);
const isOwn = (place: Place): boolean =>
  own[place.kind].test(place.file) && (!isList(place) || own.gas.test(place.file));

it.each([
  [`if (intent.kind === 'gas') return`, 'gas'],
  [`if ('leg' !== intent.kind) return`, 'leg'],
  [`WHERE i.kind <> 'sweep'`, 'sweep'],
  [`i.kind NOT IN ('gas', 'sweep')`, 'gas'],
  [`switch (kind) {\n  case 'fund':`, 'fund'],
  [`CASE $1 WHEN 'sweep' THEN true`, 'sweep'],
  [`const some = ['refund', 'withdrawal', 'leg'];`, 'refund'],
  [`kind: 'refund'\n  | 'withdrawal'`, 'refund'],
  [`{\n  refund: refundObligation,\n  fund: swapObligation,\n}`, 'refund'],
])('finds %s', (text, kind) => {
  expect(placesIn('a.ts', text).map((place) => place.kind)).toContain(kind);
});

it.each([
  [`await planIntent(tx, { kind: 'gas', ref })`],
  [`network.kind === 'utxo'`],
  [`['hold', 'accept', 'refund']`],
])('does not mind %s', (text) => {
  expect(placesIn('a.ts', text)).toEqual([]);
});

it('names kinds in the registry alone', () => {
  const others = places.filter((place) => !isOwn(place) && !exceptions.some(([file]) => file.test(place.file)));
  expect(others.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([]);
});

it.each(exceptions.map(([file, why]) => [file.source, why, file] as const))(
  'still needs its exception %s: %s',
  (...of) => {
    expect(places.some((place) => of[2].test(place.file) && !isOwn(place))).toBe(true);
  },
);
