import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Counts = Record<string, number>;

const script: string = join(__dirname, 'long-lines.mjs');
const load = async (): Promise<{ longLines(): Counts; countLong(file: string, text: string): number }> =>
  await import(script);
const listed = JSON.parse(readFileSync(join(__dirname, 'long-lines.json'), 'utf8')) as Counts;
const hint = 'break them, or after a move run: node tests/lint/long-lines.mjs';

describe('lines of more than 120 characters', () => {
  it('are counted, but in tables and code blocks of documents', async () => {
    const { countLong } = await load();
    const long = 'x'.repeat(121);
    expect(countLong('a.ts', `${long}\n${'x'.repeat(120)}\n${long}`)).toBe(2);
    expect(countLong('a.md', `${long}\n| ${long} |\n\`\`\`sh\n${long}\n\`\`\`\n${long}`)).toBe(2);
  });

  it('do not become more in any file', async () => {
    const counts = (await load()).longLines();
    expect(Object.keys(counts).length).toBeGreaterThan(0);
    const more = Object.entries(counts).filter(([file, count]) => count > (listed[file] ?? 0));
    expect(more.map(([file, count]) => `${file} has ${count}, not ${listed[file] ?? 0}: ${hint}`)).toEqual([]);
  });

  it('are listed only for files that have some', async () => {
    const counts = (await load()).longLines();
    expect(Object.keys(listed).filter((file) => !counts[file])).toEqual([]);
  });
});
