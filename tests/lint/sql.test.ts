import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionFiles } from '../../db/functions';
import { root } from '../../sandbox/paths';

/** SQL has one place: tables in db/migrations, functions, triggers and views in db/functions. */

const filesOf = (folder: string): Array<readonly [file: string, text: string]> =>
  readdirSync(join(root, 'db', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|sql)$/.test(file))
    .map((file) => [`db/${folder}/${file}`, readFileSync(join(root, 'db', folder, file), 'utf8')]);

it('lists every file of functions', () => {
  const there = filesOf('functions')
    .map(([file]) => file)
    .filter((file) => file.endsWith('.sql'));
  // Made from rules of the domain: db/functions/payment-moves.ts, lightning-moves.ts and rated-as.ts.
  there.push(...['payment_moves', 'lightning_moves', 'rated_as'].map((name) => `db/functions/${name}.sql`));
  expect(
    functionFiles()
      .map(({ name }) => `db/functions/${name}.sql`)
      .sort(),
  ).toEqual(there.sort());
});

it.each(functionFiles().map((file) => [file.name, file] as const))(
  '%s says what it is for, and may be applied again',
  (_, { text }) => {
    expect(text).toMatch(/^-- \w/);
    const made = text.match(/^(CREATE|DROP|ALTER)\b.*/gm) ?? [];
    expect(made.length).toBeGreaterThan(0);
    // PostgreSQL has no OR REPLACE for triggers that fire at the end of a transaction: these are dropped first.
    const deferred = [
      ...text.matchAll(/^DROP TRIGGER IF EXISTS (\w+) ON (\w+);\nCREATE CONSTRAINT TRIGGER \1 AFTER /gm),
    ];
    const replaced = made.filter((line) => /^CREATE OR REPLACE (FUNCTION|TRIGGER|VIEW) /.test(line));
    expect(replaced.length + 2 * deferred.length).toBe(made.length);
  },
);

it('makes functions, triggers and views nowhere else', () => {
  const found = filesOf('migrations').filter(([, text]) =>
    /CREATE\s+(OR\s+REPLACE\s+)?(FUNCTION|TRIGGER|VIEW|PROCEDURE)/i.test(text),
  );
  expect(found.map(([file]) => file)).toEqual([]);
});

it('has no line of SQL that is too long to read', () => {
  const long = [...filesOf('functions'), ...filesOf('migrations')]
    .filter(([file]) => file.endsWith('.sql'))
    .flatMap(([file, text]) => text.split('\n').map((line, n) => [`${file}:${n + 1}`, line] as const))
    .filter(([, line]) => line.length > 120);
  expect(long.map(([place]) => place)).toEqual([]);
});
