import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A test by its file, without `.test.ts` (or `.ts`, where it is a case of a table), and words of its source. */
export type Place = readonly [file: string, test: string];

const texts = new Map<string, string>();
const textOf = (file: string): string => {
  const path = join(__dirname, '..', file);
  const known = texts.get(file) ?? readFileSync(existsSync(`${path}.ts`) ? `${path}.ts` : `${path}.test.ts`, 'utf8');
  texts.set(file, known);
  return known;
};

/** Fails where one of these tests is not there. */
export const mustBeThere = (places: readonly Place[]): void => {
  for (const [file, test] of places) expect(textOf(file)).toContain(test);
};
