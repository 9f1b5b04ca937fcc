import { paymentStatuses } from '../../domain/payments/payment';
import { refundStatuses } from '../../domain/refunds/refund';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';
import { de } from '../../web/dashboard/texts/de';
import { en } from '../../web/dashboard/texts/en';
import { unturnedTexts } from '../../web/dashboard/texts/unturned';

type Node = string | ((...args: never[]) => string) | { readonly [name: string]: Node };

/** Every text by its path, functions called with numbers, which read as texts as well. */
function textsOf(node: Node, path = ''): Map<string, string> {
  if (typeof node === 'string') return new Map([[path, node]]);
  if (typeof node === 'function')
    return new Map(
      [1, 2, 600].flatMap((count) => {
        const args = Array.from({ length: node.length }, (_, index) => count + 1000 * index) as never[];
        return [[`${path}(${count}) of ${node.length}`, node(...args)] as const];
      }),
    );
  return new Map(Object.entries(node).flatMap(([name, child]) => [...textsOf(child, `${path}/${name}`)]));
}

/** The catalogues: the dashboard's own, and one for each section that has a folder `texts` with both languages. */
const dashboard = join(root, 'web', 'dashboard');
const folders = readdirSync(dashboard, { recursive: true, withFileTypes: true })
  .filter(({ name, parentPath }) => name === 'de.ts' && parentPath.endsWith('texts'))
  .map(({ parentPath }) => parentPath)
  .sort();
const catalogueOf = (folder: string, language: 'de' | 'en'): Node => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- which files there are is known at run time only
  const found = require(join(folder, `${language}.ts`)) as Readonly<Record<string, Node>>;
  return found[language]!;
};
const sections = folders.map(
  (folder) =>
    [
      folder.slice(dashboard.length + 1),
      textsOf(catalogueOf(folder, 'en')),
      textsOf(catalogueOf(folder, 'de')),
    ] as const,
);

/** Words that both languages share. */
const shared = [
  'Admin',
  'Authenticator',
  'Block',
  'Gas',
  'HTML',
  'Id',
  'Logo',
  'Name',
  'Passkeys',
  'Person',
  'Position',
  'Status',
  'Tag',
  'Team',
  'Wallet',
  'Wallets',
  'Webhooks',
  'Whitelist',
  'Widgets',
  'Workflow',
  'Workflows',
  'ms',
];

/** What a text was called with, as far as it says it. */
const placesIn = (text: string): string[] => (text.match(/\d+/g) ?? []).map((digits) => digits).sort();

describe.each(sections)('%s', (_, english, german) => {
  it('is in every language, none missing and none empty', () => {
    expect([...german.keys()].sort()).toEqual([...english.keys()].sort());
    for (const [path, text] of [...english, ...german])
      expect([path, text.trim()]).toEqual([path, expect.stringMatching(/\S/)]);
  });

  it('is translated', () => {
    const untranslated = [...english].filter(
      ([path, text]) =>
        /[a-z]{2}/i.test(text) && german.get(path) === text && !shared.includes(text.replace(/^\d+ | \d+$/, '')),
    );
    expect(untranslated).toEqual([]);
  });

  it('says the same numbers in both languages', () => {
    const functions = [...english].filter(([path]) => / of [1-9]$/.test(path));
    const wrong = functions.filter(([path, text]) => placesIn(text).join() !== placesIn(german.get(path) ?? '').join());
    expect(wrong.map(([path, text]) => [path, text, german.get(path)])).toEqual([]);
  });
});

/** Every sentence of a catalogue that names something, with names whose characters turn text around. */
function sentencesAbout(node: Node, name: string): string[] {
  if (typeof node === 'string') return [];
  if (typeof node === 'function') return [String(node(...(Array.from({ length: 6 }, () => name) as never[])))];
  return Object.values(node).flatMap((child) => sentencesAbout(child, name));
}
const turning = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'];

describe('a name with characters that turn text around', () => {
  const name = `Ann${turning.join('x')}`;
  const isTurned = (text: string): boolean => turning.some((one) => text.includes(one));

  it.each(folders.map((folder) => folder.slice(dashboard.length + 1)))('does not turn sentences of %s', (section) => {
    for (const language of ['en', 'de'] as const) {
      const catalogue = catalogueOf(join(dashboard, section), language) as object;
      const before = sentencesAbout(catalogue as Node, name).filter(isTurned);
      const after = sentencesAbout(unturnedTexts(catalogue) as Node, name).filter(isTurned);
      expect(before.length).toBeGreaterThan(0); // otherwise nothing is tested here
      expect(after).toEqual([]);
    }
  });

  it('leaves every other word as it is, and every catalogue one object', () => {
    expect(JSON.stringify(unturnedTexts(de))).toBe(JSON.stringify(de));
    expect(sentencesAbout(unturnedTexts(de), 'Ann')).toEqual(sentencesAbout(de, 'Ann'));
    expect(unturnedTexts(en)).toBe(unturnedTexts(en));
    expect(unturnedTexts(en).product).toBe(en.product);
  });

  it('is on no page but by way of these sentences: pages take texts from the hooks alone', () => {
    const pages = readdirSync(dashboard, { recursive: true, withFileTypes: true })
      .filter(({ name: file, parentPath }) => file.endsWith('.tsx') && !parentPath.endsWith('texts'))
      .map(({ name: file, parentPath }) => join(parentPath, file));
    const own = pages.filter((page) => /import \{[^}]*\b(en|de)\b[^}]*\} from/.test(readFileSync(page, 'utf8')));
    // It gives both catalogues to the hook.
    expect(own.map((page) => page.slice(dashboard.length + 1))).toEqual(['money/section.tsx']);
  });
});

describe('the texts of the dashboard', () => {
  it('are found where the sections keep them', () => {
    expect(sections.map(([section]) => section)).toEqual(
      expect.arrayContaining(['developers/texts', 'home/texts', 'money/texts', 'team/texts', 'texts', 'widgets/texts']),
    );
  });

  it('say every status', () => {
    expect(Object.keys(en.statuses).sort()).toEqual([...paymentStatuses].sort());
    expect(Object.keys(de.statuses).sort()).toEqual([...paymentStatuses].sort());
    expect(Object.keys(en.refunds.statuses).sort()).toEqual([...refundStatuses].sort());
  });
});
