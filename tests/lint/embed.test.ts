import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../../sandbox/paths';
import { embedScript } from '../../web/embed/embed';

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
    expect(text).not.toContain('%API_URL%');
    expect(etag).not.toBe(embedScript(folder, 'https://other.example', 'https://pay.example').etag);
  });

  it('writes no HTML and evaluates no text', () => {
    for (const name of ['embed.js', 'frame.js'])
      expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\bimport\b|<style/,
      );
  });
});
