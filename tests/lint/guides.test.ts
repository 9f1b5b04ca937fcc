import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled, guideFiles, guides, shownSamples } from '../../sandbox/guides-page';
import { root } from '../../sandbox/paths';

/** Ids that a reader would have to put in: in blocks of shell, and in commands within the text. */
function placeholders(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block]) => block!);
  const commands = [...text.matchAll(/`((?:npm|npx|node|curl) [^`]*)`/g)].map(([, command]) => command!);
  return [...blocks, ...commands].flatMap((one) => one.match(/<[\w -]*\bid>|<\w*Id>/g) ?? []);
}

describe('18.3: the guides', () => {
  it.each(guideFiles())('%s has samples, errors and events as they are: npm run docs:guides', (name) => {
    const text = readFileSync(join(guides, name), 'utf8');
    expect(filled(text)).toBe(text);
  });

  it('notice a change', () => {
    expect(filled('<!-- made: errors -->\nold\n<!-- end -->')).toContain('| 429 | `RATE_LIMITED` |');
    expect(() => filled('<!-- made: verify/none.py -->\n<!-- end -->')).toThrow('docs/samples has no verify/none.py');
  });

  it('show every sample', () => {
    const all = readdirSync(join(root, 'docs', 'samples'), { recursive: true, encoding: 'utf8' });
    expect(shownSamples().sort()).toEqual(all.filter((path) => /\w\.(?!mod$|sum$)\w+$/.test(path)).sort());
  });

  it.each([join(root, 'README.md'), ...guideFiles().map((name) => join(guides, name))])(
    '%s has commands that paste as they are',
    (file) => expect(placeholders(readFileSync(file, 'utf8'))).toEqual([]),
  );

  it('notice a command that does not', () => {
    const text = 'Run `npm run pay -- <paymentId>`:\n```sh\ncurl "$API_URL/payments/<payment id>"\n```\n`/orders/<id>`';
    expect(placeholders(text)).toEqual(['<payment id>', '<paymentId>']);
  });

  it('are all in the list of guides', () => {
    const list = readFileSync(join(guides, 'README.md'), 'utf8');
    for (const name of guideFiles()) if (name !== 'README.md') expect(list).toContain(`](${name})`);
  });
});
