import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root } from '../../sandbox/paths';
import { commentsOf, filesOf, read, sources } from './comments';

/** Comments cite the contract, the state machine, the ledger, the invariants and the decisions by number. Each number
 *  has its place in docs/, and links between pages lead somewhere. */

const headings = (page: string, pattern: RegExp): Set<string> =>
  new Set([...page.matchAll(pattern)].map((match) => match[1]!));
const contractPage = read('docs/contract.md');
const invariantsPage = read('docs/invariants.md');
const ledgerPage = read('docs/ledger.md');
const known = {
  contract: headings(contractPage, /^#+ (\d+(?:\.\d+)*|G\d+) /gm),
  section: headings(invariantsPage, /^#+ (\d+(?:\.\d+)*) /gm),
  step: headings(/^## 5 [\s\S]*?(?=^## )/m.exec(invariantsPage)![0], /^(\d+)\. /gm),
  topic: headings(/^## 7 [\s\S]*?(?=^## )/m.exec(invariantsPage)![0], /^### (\w+)$/gm),
  invariant: headings(invariantsPage, /<a id="i\d+"><\/a>(I\d+) /g),
  journal: headings(ledgerPage, /^### (J\d+x?)$/gm),
  row: headings(read('docs/payment-states.md'), /^### Row (\d+)$/gm),
  decision: new Set(filesOf(/\.md$/, 'docs/decisions').map((path) => path.slice('docs/decisions/'.length))),
};
type Kind = keyof typeof known;
type Reference = readonly [kind: Kind, id: string];

const numbers = (text: string): string[] => text.match(/\d+(?:\.\d+)*/g) ?? [];

/** `Contract: 4.1–4.3, 5, G12`. Words after a number are for the reader: `Contract: 2.2, fee rules 3–5`. */
function contractReferences(comment: string): Reference[] {
  const item = '(?:G\\d+|\\d+(?:\\.\\d+)*(?:–\\d+(?:\\.\\d+)*)?)';
  const found = comment.matchAll(new RegExp(`\\b(Contract|Spec|[Gg]aps): (${item}(?:, ${item}(?![\\w:]))*)`, 'g'));
  return [...found].flatMap(([, word, list]) =>
    list!
      .split(/, |–/)
      .map((id) => ['contract', /^gaps$/i.test(word!) && !id.startsWith('G') ? `G${id}` : id] as const),
  );
}

/** `Invariants: 7, SSRF`, `Invariants: 3, row 16; 5, step 5`, `Invariants: I4, I5`. */
function invariantReferences(comment: string): Reference[] {
  const found = [...comment.matchAll(/\b[Ii]nvariants:? ((?=[\dIJ])[\s\S]*?)(?=\.\s|\.?\s*\*\/|\.?$)/g)];
  return found.flatMap(([, text]) =>
    text!.split(/;\s*/).flatMap((part): Reference[] => {
      const [list = ''] = /^\d+(?:\.\d+)*(?:, \d+(?:\.\d+)*)*/.exec(part) ?? [];
      const [, steps = ''] = /\bsteps? ([\d, and–]+)/.exec(part) ?? [];
      const topics = /^7((?:, [A-Z]\w+)*)/.exec(part)?.[1] ?? '';
      return [
        ...numbers(list).map((id) => ['section', id] as const),
        ...numbers(steps).map((id) => ['step', id] as const),
        ...(topics.match(/\w+/g) ?? []).map((id) => ['topic', id] as const),
      ];
    }),
  );
}

const plainReferences = (comment: string): Reference[] => [
  ...[...comment.matchAll(/\b[Rr]ows? (\d+(?:(?:,| and| to|,? or) \d+|–\d+)*)/g)].flatMap(([, list]) =>
    numbers(list!).map((id) => ['row', id] as const),
  ),
  ...(comment.match(/\bJ\d+x?\b/g) ?? []).map((id) => ['journal', id] as const),
  ...(comment.match(/\bI\d+\b/g) ?? []).map((id) => ['invariant', id] as const),
];

/** `docs/decisions/0006-arrows.md`, `decisions/0009`, `decision 0005`: the page by number, and by name where one is
 *  given. */
const decisionReferences = (text: string): Reference[] =>
  [...text.matchAll(/\bdecisions?[/ ](\d{4})(-[\w-]+\.md)?/g)].map(([, number, name]) => [
    'decision',
    name ? `${number}${name}` : ([...known.decision].find((page) => page.startsWith(number!)) ?? number!),
  ]);

/** The references that lead nowhere, in words. */
const unresolved = (references: readonly Reference[]): string[] =>
  references.filter(([kind, id]) => !known[kind].has(id)).map(([kind, id]) => `${kind} ${id}`);
const inComment = (comment: string): Reference[] => [
  ...contractReferences(comment),
  ...invariantReferences(comment),
  ...plainReferences(comment),
  ...decisionReferences(comment),
];

describe('a reference', () => {
  it.each([
    ['/** Contract: 2.99. */', ['contract 2.99']],
    ['/** Contract: 2.2, G99, 9. */', ['contract G99']],
    ['// Spec: 12; gaps: 4, 40', ['contract 12', 'contract G40']],
    ['/** Contract: 4.1–4.30, 5. */', ['contract 4.30']],
    ['/** Row 24, and rows 1, 25 to 26. */', ['row 24', 'row 25', 'row 26']],
    ['/** J12 and J14. Invariants: J15, J16. */', ['journal J14', 'journal J15', 'journal J16']],
    ['/** Invariants: I16, I17. */', ['invariant I17']],
    ['/** Invariants: 9. */', ['section 9']],
    ['/** Invariants: 1.5. Invariants: 1.8. */', ['section 1.8']],
    ['/** Invariants: 5, steps 3, 8 and 10. */', ['step 10']],
    ['/** Invariants: 3, row 16; 5, step 11. */', ['step 11']],
    ['/** Invariants: 7, SSRF, Weather. */', ['topic Weather']],
    ['/** See docs/decisions/0099-nothing.md and decisions/0000. */', ['decision 0099-nothing.md', 'decision 0000']],
    ['/** See docs/decisions/0006-arrow.md. */', ['decision 0006-arrow.md']],
    ['/** A list. Contract: 2.1,\n *  2.99, and Invariants:\n *  1.9. */', ['contract 2.99', 'section 1.9']],
  ])('of an unknown number is found: %s', (comment, lost) => {
    const [only] = commentsOf('sample.ts', `${comment}\nexport const one = 'Contract: 99';\n`);
    expect(unresolved(inComment(only!))).toEqual(lost);
  });

  it.each([
    '/** Contract: 2.2, fee rules 3–5; Invariants: 7, Headers, Sessions. */',
    '/** Contract: 8, "any /api/v1/auth/*". Row 17, J2 and J3x. */',
    '/** Invariants: 3, row 16; 5, step 5. Invariants: 1.3 */',
  ])('of a known number is no fault: %s', (comment) => {
    expect(inComment(comment).length).toBeGreaterThan(1);
    expect(unresolved(inComment(comment))).toEqual([]);
  });
});

describe('source files', () => {
  const all = sources().filter(({ path }) => path !== 'tests/lint/references.test.ts');

  it('cite only what the pages have', () => {
    const cited = all.flatMap(({ comments }) => comments.flatMap(inComment));
    for (const kind of ['contract', 'section', 'row', 'journal', 'step', 'topic', 'invariant', 'decision'] as const)
      expect([kind, cited.some(([of]) => of === kind)]).toEqual([kind, true]);
    const lost = all.flatMap(({ path, comments }) =>
      comments.flatMap((comment) => unresolved(inComment(comment)).map((reference) => `${path}: ${reference}`)),
    );
    expect(lost).toEqual([]);
  });

  it('name only decisions that there are, in texts too', () => {
    const lost = all.flatMap(({ path, text }) =>
      unresolved(decisionReferences(text)).map((reference) => `${path}: ${reference}`),
    );
    expect(lost).toEqual([]);
  });

  it('check only invariants that the page has, and all that it calls the audit’s', () => {
    const checked = all.flatMap(({ path, text }) =>
      path.startsWith('tests/') ? [] : [...text.matchAll(/\binvariant: '(I\d+)'/g)].map((match) => match[1]!),
    );
    expect([...new Set(checked)].sort()).toEqual([...known.invariant].filter((number) => number !== 'I16').sort());
  });

  it('post only journals and accounts that the ledger page names', () => {
    const { text } = all.find((source) => source.text.includes('export const depositJournal'))!;
    const journals = [...text.matchAll(/^export const (\w+Journal|reversal) =/gm)].map((match) => match[1]!);
    const accounts = [...text.matchAll(/'([ALIEQ]:\w+)'|\bconst (\w+) = \(merchantId: string\): Account/g)].map(
      ([, code, liability]) => code ?? `L:${liability}`,
    );
    expect(journals.length).toBeGreaterThan(15);
    expect(accounts.length).toBeGreaterThan(14);
    const absent = [...journals, ...accounts].filter((name) => !ledgerPage.includes(`\`${name}\``));
    expect(absent).toEqual([]);
  });
});

describe('pages', () => {
  const pages = [...filesOf(/\.md$/, 'docs'), 'README.md', 'CHANGELOG.md'];
  const slug = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-');
  const anchors = (page: string): Set<string> => {
    const text = read(page);
    return new Set([
      ...[...text.matchAll(/^#+ (.+)$/gm)].map((match) => slug(match[1]!)),
      ...[...text.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1]!),
    ]);
  };
  const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```/g, '');

  it('link to pages and headings that there are', () => {
    const lost = pages.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
        ([, path, anchor]) => {
          const target = path ? normalize(join(dirname(page), path)) : page;
          if (!existsSync(join(root, target))) return [`${page}: ${target}`];
          return anchor && target.endsWith('.md') && !anchors(target).has(anchor)
            ? [`${page}: ${target}#${anchor}`]
            : [];
        },
      ),
    );
    expect(lost).toEqual([]);
  });

  it('name files that there are', () => {
    const folders = '(?:domain|db|activities|workflows|workers|api|web|sandbox|tests|contracts|docs)';
    const lost = pages.flatMap((page) =>
      [...read(page).matchAll(new RegExp(`\`(${folders}/[\\w./-]+\\.(?:ts|mjs|cjs|sql|sol|md))\``, 'g'))]
        .map((match) => match[1]!)
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(lost).toEqual([]);
  });

  it('name tests that say what the threat model says', () => {
    const flat = read('docs/threat-model.md').replace(/\s+/g, ' ');
    const named = [...flat.matchAll(/`(tests\/[\w./-]+)`, "([^"]+)"/g)];
    expect(named.length).toBeGreaterThan(25);
    expect(named).toHaveLength((flat.match(/Says no:/g) ?? []).length);
    expect(named.filter(([, path, words]) => !read(path!).includes(words!)).map(([citation]) => citation)).toEqual([]);
  });

  it('name decisions that there are', () => {
    const lost = pages.flatMap((page) => unresolved(decisionReferences(read(page))).map((one) => `${page}: ${one}`));
    expect(lost).toEqual([]);
  });
});
