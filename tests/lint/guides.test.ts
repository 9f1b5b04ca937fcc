import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled, guideFiles, guides, shownSamples } from '../../sandbox/guides-page';
import { root } from '../../sandbox/paths';

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
    expect(shownSamples().sort()).toEqual(all.filter((path) => path.includes('.')).sort());
  });

  it('are all in the list of guides', () => {
    const list = readFileSync(join(guides, 'README.md'), 'utf8');
    for (const name of guideFiles()) if (name !== 'README.md') expect(list).toContain(`](${name})`);
  });
});
