import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, constants, gzipSync } from 'node:zlib';
import { root } from '../../sandbox/paths';
import { compressed } from '../../web/checkout/compression';
import { document } from '../../web/checkout/page';
import { invoicePage } from '../../web/checkout/states';
import { catalogues } from '../../web/checkout/texts';
import { embedScript } from '../../web/embed/embed';
import { invoices, manyChoices, slug } from '../web/invoices';

/** What a payer's phone loads, in bytes on the wire. `npm run check` prints the lines that begin with "bytes". */

const kilobytes = (count: number): number => count * 1024;
function isSmall(name: string, bytes: number, limit: number): void {
  process.stdout.write(`bytes   ${name.padEnd(24)} ${String(bytes).padStart(6)} of ${limit}\n`);
  expect([name, bytes <= limit]).toEqual([name, true]);
}
const read = (name: string): Buffer => readFileSync(join(root, 'web/checkout/public', name));
const place = { version: 'a'.repeat(12), path: `/embed/${slug}`, openedBy: 'https://shop.example' };
const pages = catalogues.flatMap((t) =>
  Object.values(invoices).map((invoice) => {
    const page = invoicePage(t, invoice, invoice.cancellable ? manyChoices : null, { refused: 'act', isPayer: true });
    return { text: document(t, page, place) };
  }),
);

describe('B12: bytes on the wire', () => {
  it('of every page are at most 12 KB, whatever a browser unpacks', () => {
    for (const coding of ['gzip', 'br'] as const) {
      const sizes = pages.map(({ text }) => compressed(text, coding, 5).length);
      isSmall(`largest page (${coding})`, Math.max(...sizes), kilobytes(12));
    }
  });

  it('of scripts and styles are at most 10 KB each', () => {
    const scripts = ['checkout.js', 'wallets.js'].map((name) => compressed(read(name), 'gzip', 11).length);
    isSmall('scripts (gzip)', scripts[0]! + scripts[1]!, kilobytes(10));
    isSmall('checkout.css (gzip)', compressed(read('checkout.css'), 'gzip', 11).length, kilobytes(10));
    const { text } = embedScript(join(root, 'web/embed/public'), 'https://api.example', 'https://pay.example');
    isSmall('embed.js (gzip)', gzipSync(text, { level: 9 }).length, kilobytes(6));
  });

  it('have the whole QR code in the first 14 KB, with no script before it', () => {
    const coded = pages.filter(({ text }) => text.includes('class="qr"'));
    expect(coded.length).toBeGreaterThan(3);
    for (const { text } of coded) {
      const first = compressed(text, 'br', 5).subarray(0, kilobytes(14));
      const shown = brotliDecompressSync(first, { finishFlush: constants.BROTLI_OPERATION_FLUSH }).toString();
      const [, code] = /class="qr"[^>]*>\s*(<svg[^]*?<\/svg>)/.exec(shown) ?? [];
      expect(code).toMatch(/<path stroke="#000" d="M/);
      const scripts = [...shown.matchAll(/<script ([^>]*)>/g)].map(([, attributes]) => attributes);
      for (const attributes of scripts) expect(attributes).toMatch(/type="module"|defer/);
    }
  });
});
