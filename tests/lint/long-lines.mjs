// Lines of more than 120 characters, per file. Run by itself (`node tests/lint/long-lines.mjs`) it writes
// long-lines.json anew: after lines became shorter, or files moved. It refuses a list with more lines in total than
// before.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const widest = 120;
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const list = join(here, 'long-lines.json');
const isRead = (file) => /\.(ts|mjs|cjs|js|sql|md)$/.test(file);
const skipped = /^(node_modules|dist|\.git|\.data.*|coverage|test-results|generated)$/;

/** How many lines of a text are too long. Prettier breaks code; what it leaves is SQL in template strings, comments and
 *  texts. Of Markdown, tables and code blocks are not counted: they cannot be broken. */
export function countLong(file, text) {
  const prose = file.endsWith('.md') ? text.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/^\|.*$/gm, '') : text;
  return prose.split('\n').filter((line) => line.length > widest).length;
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.test(entry.name) ? [] : filesBelow(path);
    return isRead(path) ? [path] : [];
  });
}

/** By path from the root, sorted; files without a long line are left out. */
export const longLines = () =>
  Object.fromEntries(
    filesBelow(root)
      .map((path) => [relative(root, path), countLong(path, readFileSync(path, 'utf8'))])
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [before, now] = [JSON.parse(readFileSync(list, 'utf8')), longLines()];
  if (total(now) > total(before)) {
    const more = Object.keys(now).filter((file) => now[file] > (before[file] ?? 0));
    console.error(`${total(now)} long lines, ${total(before)} are listed: break lines in ${more.join(', ')}`);
    process.exit(1);
  }
  writeFileSync(list, `${JSON.stringify(now, null, 2)}\n`);
  console.log(`${total(now)} long lines, ${total(before)} before`);
}
