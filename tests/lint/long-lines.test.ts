import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const widest = 120;
const root = join(__dirname, '..', '..');
const isRead = (file: string): boolean => /\.(ts|mjs|cjs|js|sql|md)$/.test(file);
const skipped = /^(node_modules|dist|\.git|\.data.*|coverage|test-results|generated)$/;

/** The numbers of lines that are too long. Prettier breaks code; what it leaves is SQL in template strings, comments
 *  and texts. Of Markdown, tables and code blocks are not counted: they cannot be broken. */
function longLines(file: string, text: string): number[] {
  const blank = (block: string): string => block.replace(/[^\n]/g, '');
  const prose = file.endsWith('.md') ? text.replace(/^ *```[\s\S]*?^ *```/gm, blank).replace(/^\|.*$/gm, '') : text;
  return prose.split('\n').flatMap((line, n) => (line.length > widest ? [n + 1] : []));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.test(entry.name) ? [] : filesBelow(path);
    return isRead(path) ? [path] : [];
  });
}

describe('lines of more than 120 characters', () => {
  it('are found, but in tables and code blocks of documents', () => {
    const long = 'x'.repeat(121);
    expect(longLines('a.ts', `${long}\n${'x'.repeat(120)}\n${long}`)).toEqual([1, 3]);
    expect(longLines('a.md', `${long}\n| ${long} |\n\`\`\`sh\n${long}\n\`\`\`\n${long}`)).toEqual([1, 6]);
  });

  it('are in no file', () => {
    const files = filesBelow(root);
    expect(files.length).toBeGreaterThan(100);
    const found = files.flatMap((path) =>
      longLines(path, readFileSync(path, 'utf8')).map((n) => `${relative(root, path)}:${n}`),
    );
    expect(found).toEqual([]);
  });
});
