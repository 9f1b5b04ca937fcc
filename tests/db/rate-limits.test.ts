import type { DataSource } from 'typeorm';
import { RateLimits } from '../../db/access/rate-limits';
import { poolOf } from '../../db/query';
import { connectionsTo, freshDatabase } from '../setup/postgres';

/** A limit is one of all copies of the API, however many requests of a caller come at once. */

const limit = { points: 60, seconds: 60 };
let database: Awaited<ReturnType<typeof freshDatabase>>;
let copies: DataSource[];
beforeAll(async () => {
  database = await freshDatabase();
  copies = [connectionsTo(database.url), connectionsTo(database.url)];
  for (const copy of copies) await copy.initialize();
});
afterAll(async () => {
  for (const copy of copies ?? []) await copy.destroy();
  await database?.drop();
});

/** Counts the statements of a copy from now on. */
function statementsOf(copy: DataSource): () => number {
  const pool = poolOf(copy);
  const query = jest.spyOn(pool, 'query');
  return () => query.mock.calls.length;
}
const all = (count: number, act: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)));

it('lets through as many as it says of 100 that come to two copies at once', async () => {
  const limits = copies.map((copy) => new RateLimits(copy));
  const statements = copies.map(statementsOf);
  const answers = (await all(100, (n) => limits[n % 2]!.consume('lists', 'ann', limit))) as Awaited<
    ReturnType<RateLimits['consume']>
  >[];
  const passed = answers.filter(({ retryAfterSeconds }) => retryAfterSeconds === undefined);
  expect(passed.map(({ left }) => left).toSorted((a, b) => b - a)).toEqual(
    Array.from({ length: 60 }, (_, n) => 59 - n),
  );
  const refused = answers.filter((answer) => !passed.includes(answer));
  expect(refused).toHaveLength(40);
  for (const { left, retryAfterSeconds } of refused) {
    expect(left).toBe(0);
    expect(retryAfterSeconds).toBeGreaterThan(0);
  }
  // The first of each copy by itself, the others together.
  for (const count of statements) expect(count()).toBe(2);
  expect(await limits[0]!.consume('lists', 'bob', limit)).toMatchObject({ left: 59 });
  expect(await limits[0]!.consume('pages', 'ann', limit)).toMatchObject({ left: 59 });
});

it('asks the database no more about a caller that it has refused', async () => {
  const [copy] = copies;
  const limits = new RateLimits(copy!);
  await all(70, () => limits.consume('quotes', 'ann', limit));
  const count = statementsOf(copy!);
  const before = count();
  const answers = await all(5, () => limits.consume('quotes', 'ann', limit));
  for (const answer of answers) expect(answer).toMatchObject({ left: 0, retryAfterSeconds: expect.any(Number) });
  expect(count()).toBe(before);
});

it('counts what was taken back no more', async () => {
  const limits = new RateLimits(copies[0]!);
  await all(60, () => limits.consume('logins', 'ann', limit));
  await limits.uncount('logins', 'ann', limit);
  expect(await limits.consume('logins', 'ann', limit)).toMatchObject({ left: 0 });
  expect(await limits.consume('logins', 'ann', limit)).toMatchObject({ retryAfterSeconds: expect.any(Number) });
  await limits.forget('logins', 'ann', limit);
  expect(await limits.consume('logins', 'ann', limit)).toMatchObject({ left: 59 });
});
