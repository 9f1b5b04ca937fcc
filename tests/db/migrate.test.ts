import { Client } from 'pg';
import { functionFile, functionFiles } from '../../db/functions';
import { migrate } from '../../db/migrate';
import { migrations } from '../../db/migrations';
import { emptyDatabase, type Database } from '../setup/postgres';

/** The migration step: migrations once, and a file of functions whenever its text is new. */

const opened: Database[] = [];
afterAll(async () => {
  for (const database of opened) await database.drop();
});

async function empty(): Promise<string> {
  const database = await emptyDatabase();
  opened.push(database);
  return database.url;
}

async function ask<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

type Applied = { file: string; hash: string; applied_at: Date };
const appliedIn = (url: string): Promise<Applied[]> => ask(url, 'SELECT * FROM applied_function ORDER BY file');
/** A function of our own, in a file of our own, beside all others. */
const answering = (answer: string) =>
  functionFile('answer', `CREATE OR REPLACE FUNCTION answer() RETURNS text LANGUAGE sql AS $$ SELECT '${answer}' $$;`);
const answerOf = async (url: string): Promise<string> =>
  (await ask<{ answer: string }>(url, 'SELECT answer() AS answer'))[0]!.answer;
const everyName = functionFiles().map(({ name }) => name);

it('migrates an empty database, and does nothing the second time', async () => {
  const url = await empty();
  expect(await migrate(url)).toEqual({
    migrations: migrations.map(({ name }) => name),
    functions: everyName,
    missing: [],
  });
  const before = await appliedIn(url);
  expect(before.map(({ file }) => file)).toEqual([...everyName].sort());
  expect(await migrate(url)).toEqual({ migrations: [], functions: [], missing: [] });
  expect(await appliedIn(url)).toEqual(before);
});

it('applies a file whose text has changed, and no other', async () => {
  const url = await empty();
  await migrate(url, [...functionFiles(), answering('old')]);
  expect(await answerOf(url)).toBe('old');
  const before = await appliedIn(url);
  expect(await migrate(url, [...functionFiles(), answering('new')])).toMatchObject({ functions: ['answer'] });
  expect(await answerOf(url)).toBe('new');
  const after = await appliedIn(url);
  expect(after.filter(({ file }) => file !== 'answer')).toEqual(before.filter(({ file }) => file !== 'answer'));
  expect(after.find(({ file }) => file === 'answer')!.hash).not.toBe(
    before.find(({ file }) => file === 'answer')!.hash,
  );
});

it('applies everything once where two run at once, and waits for the first as long as it takes', async () => {
  const url = await empty();
  // Longer than a statement of the service may wait for a lock.
  const slow = functionFile('slow', 'SELECT pg_sleep(4);');
  const runs = await Promise.all([1, 2].map(() => migrate(url, [...functionFiles(), slow])));
  expect(runs.map(({ functions }) => functions.length).sort()).toEqual([0, everyName.length + 1]);
  expect(runs.map(({ migrations }) => migrations.length).sort((a, b) => a - b)).toEqual([0, migrations.length]);
  expect(await appliedIn(url)).toHaveLength(everyName.length + 1);
});

it('leaves nothing behind where a file fails', async () => {
  const url = await empty();
  const broken = functionFile(
    'broken',
    'CREATE OR REPLACE FUNCTION broken() RETURNS text LANGUAGE sql AS $$ SELECT FROM nowhere $$;',
  );
  const tables = () =>
    ask<{ name: string }>(url, `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
  await expect(migrate(url, [...functionFiles(), broken])).rejects.toThrow('db/functions/broken.sql: ');
  expect(await tables()).toEqual([]);

  await migrate(url, [...functionFiles(), answering('old')]);
  const before = await appliedIn(url);
  await expect(migrate(url, [answering('new'), broken])).rejects.toThrow('db/functions/broken.sql: ');
  expect(await answerOf(url)).toBe('old');
  expect(await appliedIn(url)).toEqual(before);
});

it('tells which file is no longer there, and keeps what it made', async () => {
  const url = await empty();
  await migrate(url, [...functionFiles(), answering('old')]);
  expect(await migrate(url)).toEqual({ migrations: [], functions: [], missing: ['answer'] });
  expect(await answerOf(url)).toBe('old');
});

it('refuses a database that was made before the baseline, in words', async () => {
  const url = await empty();
  await ask(url, 'CREATE TABLE merchant (id text)');
  await expect(migrate(url)).rejects.toThrow('made before the first release');
  expect(await ask(url, `SELECT to_regclass('payment') AS payment`)).toEqual([{ payment: null }]);
});

it('has each function once: another signature is another name', async () => {
  const url = await empty();
  await migrate(url);
  const text = functionFiles()
    .map((file) => file.text)
    .join('\n');
  const stated = [...text.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)/gm)].map(([, name]) => name);
  const made = await ask<{ name: string }>(
    url,
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  expect(made.map(({ name }) => name).sort()).toEqual([...stated].sort());
  expect(new Set(stated).size).toBe(stated.length);
  const triggers = [...text.matchAll(/^ *CREATE (?:OR REPLACE|CONSTRAINT) TRIGGER (\w+)/gm)].map(([, name]) => name);
  const fired = await ask<{ name: string }>(url, 'SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal');
  expect(fired.map(({ name }) => name).sort()).toEqual([...triggers].sort());
});

describe('4: the mode of a database', () => {
  it('is that of its first migration', async () => {
    for (const mode of ['live', 'test'] as const) {
      const url = await empty();
      await migrate(url, functionFiles(), {}, mode);
      expect(await ask(url, 'SELECT mode FROM instance')).toEqual([{ mode }]);
      await migrate(url, functionFiles(), {}, mode);
      const other = mode === 'live' ? 'test' : 'live';
      await expect(migrate(url, functionFiles(), {}, other)).rejects.toThrow(
        `MODE=${other}, but this database belongs to a ${mode} instance`,
      );
    }
  });
});
