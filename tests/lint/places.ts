import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A test by its file, without `.test.ts`, and words of its source. */
export type Place = readonly [file: string, test: string];

const texts = new Map<string, string>();
const textOf = (file: string): string => {
  const known = texts.get(file) ?? readFileSync(join(__dirname, '..', `${file}.test.ts`), 'utf8');
  texts.set(file, known);
  return known;
};

/** Fails where one of these tests is not there. */
export const mustBeThere = (places: readonly Place[]): void => {
  for (const [file, test] of places) expect(textOf(file)).toContain(test);
};
