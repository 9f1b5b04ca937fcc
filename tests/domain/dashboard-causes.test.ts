import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { timeline as de } from '../../web/dashboard/texts/payment-de';
import { timeline as en } from '../../web/dashboard/texts/payment-en';

/** What the timeline of a payment calls each cause of a change. */

const root = join(__dirname, '..', '..');
const folders = ['domain/payments', 'commands/payments', 'activities/payments', 'db/payments', 'commands/refunds'];
const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8')),
);
const written = [
  /\bcause: '([a-z-]+)'/g,
  /\bmoveTo\(\s*\w+,\s*'[A-Z_]+',\s*'([a-z-]+)'/g,
  /\b(?:requote|takeOtherAsset)\([^;]*?'([a-z]+(?:-[a-z]+)+)'/g,
];
const causes = new Set(
  sources.flatMap((text) => written.flatMap((pattern) => [...text.matchAll(pattern)].map(([, cause]) => cause!))),
);
for (const by of ['payer', 'merchant']) causes.add(`cancelled-by-${by}`).add(`currency-selected-by-${by}`);
causes.add('cancelled-by-service');

it('finds the causes in the sources', () => {
  expect([...causes]).toEqual(
    expect.arrayContaining(['confirmed', 'expired', 'paid-after-quote', 'underpaid-accepted-by-merchant']),
  );
});

it.each([...causes].sort())('%s has words in both languages', (cause) => {
  expect([en.causes[cause], de.causes[cause]]).toEqual([expect.any(String), expect.any(String)]);
  expect(de.causes[cause]).not.toBe(en.causes[cause]);
});
