import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runbookOf, runbooks } from '../../commands/operators/runbooks';
import { operatorActs } from '../../commands/operators';
import { invariantsChecked } from '../../db/audit/audit';
import { invariantWords } from '../../db/audit/invariants';
import type { IncidentKind } from '../../db/incidents';
import { languages } from '../../domain/access/preferences';
import { root } from '../../sandbox/paths';

/** Every incident has a section of the runbook, which says how it ends as the code does. */

const kinds = Object.keys(runbooks) as IncidentKind[];
const text = readFileSync(join(root, 'docs/operations/incidents.md'), 'utf8');
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [/^\S+/.exec(section)![0], section] as const),
);

type Piece = string | Readonly<{ tag: string; href?: string; children: readonly Piece[] }>;
let read: Readonly<Record<string, readonly Piece[]>> | undefined;
/** What the build makes of them, by language and kind. */
function trees(): Readonly<Record<string, readonly Piece[]>> {
  const script = `import { runbookSections } from ${JSON.stringify(join(root, 'web/dashboard/runbooks.mjs'))};
    process.stdout.write(JSON.stringify(runbookSections(${JSON.stringify(root)})));`;
  read ??= JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  ) as Readonly<Record<string, readonly Piece[]>>;
  return read;
}
/** The paragraphs, lists and steps, without what is in them. */
const shapeOf = (pieces: readonly Piece[]): unknown[] =>
  pieces.flatMap((one) =>
    typeof one === 'string' || !['p', 'ol', 'ul', 'li'].includes(one.tag) ? [] : [[one.tag, shapeOf(one.children)]],
  );
/** What is written as code, and where links lead. */
const namedIn = (pieces: readonly Piece[]): string[] =>
  pieces
    .flatMap((one): string[] => {
      if (typeof one === 'string') return [];
      if (one.tag === 'code') return [String(one.children[0])];
      return [...(one.href === undefined ? [] : [one.href]), ...namedIn(one.children)];
    })
    .sort();

describe('10: the runbook of incidents', () => {
  it('has one section for each kind, and no other', () => {
    expect([...sections.keys()].sort()).toEqual([...kinds].sort());
    for (const kind of kinds) expect(runbookOf(kind)).toBe(`operations/incidents.md#${kind}`);
  });

  it.each(kinds)('%s: says what ends it', (kind) => {
    const { endedBy, act } = runbooks[kind];
    const section = sections.get(kind)!.replaceAll(/\s+/g, ' ');
    const isByHand = endedBy === 'service' || endedBy === 'operator';
    if (isByHand) expect(section).toMatch(endedBy === 'service' ? /ends by itself/ : /[Rr]esolve the/);
    for (const request of [act, isByHand ? undefined : endedBy])
      if (request) {
        expect(section).toContain(`\`${request}\``);
        expect(operatorActs.map((one) => one.kind)).toContain(request);
      }
  });

  it('becomes trees of elements for the dashboard, without markup, in every language', () => {
    const told = trees();
    const wanted = languages.flatMap((language) => kinds.map((kind) => `${language}/${kind}`));
    expect(Object.keys(told).sort()).toEqual(wanted.sort());
    for (const key of wanted) expect(told[key]!.length).toBeGreaterThan(1);
    expect(told['en/fee-cap']!.at(-1)).toEqual({
      tag: 'p',
      children: [
        'More: ',
        { tag: 'a', href: 'stuck-transactions/#a-fee-at-its-cap', children: ['a fee at its cap'] },
        '.',
      ],
    });
    expect(JSON.stringify(told)).not.toMatch(/<\w/);
  });

  it.each(languages.flatMap((language) => (language === 'en' ? [] : kinds.map((kind) => [language, kind] as const))))(
    'has the same steps, acts and links in another language: %s, %s',
    (language, kind) => {
      const [ours, english] = [trees()[`${language}/${kind}`]!, trees()[`en/${kind}`]!];
      expect(shapeOf(ours)).toEqual(shapeOf(english));
      expect(namedIn(ours)).toEqual(namedIn(english));
      expect(ours).not.toEqual(english);
    },
  );
});

it('every invariant that the audit checks has words for its report, and an answer in the page about the audit', () => {
  const page = readFileSync(join(root, 'docs/operations/audit.md'), 'utf8');
  const named = [...page.matchAll(/^\| (I[^|]*?) +\|/gm)].flatMap(([, codes = '']) =>
    codes.split(', ').flatMap((code) => {
      const [from, to = from] = code.split('–').map((one) => Number(one.slice(1)));
      return Array.from({ length: to! - from! + 1 }, (_, n) => `I${from! + n}`);
    }),
  );
  const byNumber = (codes: readonly string[]): string[] =>
    [...codes].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  expect(Object.keys(invariantWords)).toEqual(byNumber(invariantsChecked));
  expect(byNumber(named)).toEqual(byNumber(invariantsChecked));
});
