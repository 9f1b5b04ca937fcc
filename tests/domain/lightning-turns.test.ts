import { inTurns, Turns } from '../../domain/lightning/turns';

/** Whose payments by Lightning are looked at next. */

const rows = (merchantId: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ merchantId, hash: `${merchantId}${n}` }));
const names = (all: ReadonlyArray<{ hash: string }>): string => all.map(({ hash }) => hash).join(' ');

it('takes one of each merchant, then the second of each', () => {
  expect(names(inTurns([...rows('a', 3), ...rows('b', 1), ...rows('c', 2)], 9))).toBe('a0 b0 c0 a1 c1 a2');
  expect(names(inTurns([...rows('a', 3), ...rows('b', 1)], 2))).toBe('a0 b0 a1');
  expect(inTurns([], 2)).toEqual([]);
});

it('begins with who was served longest ago', () => {
  const served = new Map([
    ['a', 2],
    ['b', 1],
  ]);
  expect(names(inTurns([...rows('a', 1), ...rows('b', 1), ...rows('c', 1)], 9, served))).toBe('c0 b0 a0');
});

it('goes through a few of a merchant who has thousands, and goes on behind them', () => {
  const turns = new Turns();
  const open = [...rows('a', 5000), ...rows('b', 1)];
  const first = turns.due(open, 1);
  expect([first.length, first[1]]).toEqual([33, open.at(-1)]);
  for (const one of first) turns.note(one, true, 1);
  expect(names(turns.due(open, 2))).toMatch(/^a32 a33 /);
});

it('looks ever more seldom at what waits, and at once at what went on', () => {
  const turns = new Turns();
  const open = rows('a', 1);
  const looks: number[] = [];
  for (let now = 1; now < 60_000; now += 100)
    for (const one of turns.due(open, now)) {
      looks.push(Math.floor(now / 1000));
      turns.note(one, true, now);
    }
  expect(looks).toEqual([0, 1, 3, 7, 15, 30, 45]);
  turns.note(open[0]!, false, 60_000);
  expect(turns.due(open, 60_000)).toEqual(open);
});

it('begins with the merchants whom a look did not come to', () => {
  const turns = new Turns();
  const open = [...rows('a', 2), ...rows('b', 1), ...rows('c', 1)];
  const [one, two] = turns.due(open, 1);
  turns.note(one!, true, 1);
  turns.note(two!, true, 2);
  expect(names(turns.due(open, 3))).toBe('c0 a1');
  expect(names(turns.due(open, 5000))).toBe('c0 a1 b0 a0');
});

it('forgets what is no longer open', () => {
  const turns = new Turns();
  const [one] = rows('a', 1);
  turns.note(one!, true, 1);
  expect(turns.due([one!], 2)).toEqual([]);
  expect(turns.due([], 3)).toEqual([]);
  expect(turns.due([one!], 4)).toEqual([one]);
});
