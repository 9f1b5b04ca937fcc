import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Puts beside each file below `folder` what a browser is sent in its place. `quality`: of Brotli, at most 11. */
export function compress(folder, quality) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const file of entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))) {
    const content = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
  }
}
