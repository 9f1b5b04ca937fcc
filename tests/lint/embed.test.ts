import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../../sandbox/paths';
import { catalogues } from '../../web/checkout/texts';
import { embedScript } from '../../web/embed/embed';
import { embedTexts, packedTexts } from '../../web/embed/texts';

/** The script that shops load: small, and of one piece. */
describe('A3: embed.js', () => {
  const folder = join(root, 'web/embed/public');
  const { text, etag } = embedScript(folder, 'https://api.example/', 'https://pay.example/');

  it('has at most 6 KB compressed', () => {
    expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(6 * 1024);
  });

  it('knows its two addresses, and names no other', () => {
    const addresses = [...text.matchAll(/https?:\/\/[^\s'"`)]+/g)].map(([address]) => address);
    const namespace = 'http://www.w3.org/2000/svg'; // a name, never asked for
    expect(addresses).toEqual(['https://api.example', 'https://pay.example', namespace]);
    expect(text).not.toMatch(/'%\w+%'/);
    expect(etag).not.toBe(embedScript(folder, 'https://other.example', 'https://pay.example').etag);
  });

  it('speaks the languages of the checkout, and has every word in each', () => {
    expect(Object.keys(embedTexts)).toEqual(catalogues.map(({ language }) => language));
    const english = embedTexts['en']!;
    for (const [language, words] of Object.entries(embedTexts)) {
      const all = Object.values(words);
      expect([language, Object.keys(words)]).toEqual([language, Object.keys(english)]);
      for (const word of all) expect([language, word]).toEqual([language, expect.stringMatching(/^[^|]+$/)]);
      expect([language, text.includes(JSON.stringify(all.join('|')))]).toEqual([language, true]);
      const same = all.filter((word) => language !== 'en' && Object.values(english).includes(word));
      // These are words of those languages too.
      expect([language, same.filter((word) => !['Name', 'E-mail'].includes(word))]).toEqual([language, []]);
    }
  });

  it('leaves comments and indentation at home, and nothing else', () => {
    expect(text).not.toMatch(/^\s*\/[/*]|^ /m);
    const source = readFileSync(join(folder, 'embed.js'), 'utf8');
    const told = { API_URL: 'https://api.example', CHECKOUT_URL: 'https://pay.example', WORDS: packedTexts() };
    const code = source
      .slice(source.indexOf('*/') + 2)
      .replace(/'%(\w+)%'/g, (_, name: keyof typeof told) => JSON.stringify(told[name]))
      .split('\n')
      .filter((line) => !line.trimStart().startsWith('//'))
      .join('');
    const bare = (script: string): string => script.replace(/\s/g, '');
    expect(bare(text)).toBe(bare(code));
  });

  it('writes no HTML and evaluates no text', () => {
    for (const name of ['embed.js', 'frame.js'])
      expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\bimport\b|<style/,
      );
  });
});
