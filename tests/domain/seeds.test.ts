import { ofBranch, seedsOf, type SeedSpan } from '../../domain/recovery/seeds';

/** Which seeds a signer starts with, and which of them signs. Wrong, money on addresses that payers know would be out
 *  of reach, or new payers would pay to a seed that has been given up. */

const first: SeedSpan = { seed: 'a', from: 0 };
const second: SeedSpan = { seed: 'b', from: 3 };
const third: SeedSpan = { seed: 'c', from: 4 };

it.each<[string, string[], SeedSpan[], SeedSpan[], SeedSpan[]]>([
  ['the first start of all', ['a'], [], [], [first]],
  ['one seed, and a file from before seeds were kept in it', ['a'], [], [first], [first]],
  ['one seed, and an empty database', ['a'], [first], [], [first]],
  ['two seeds that both know', ['a', 'b'], [first, second], [first, second], [first, second]],
  ['a database from before the second', ['a', 'b'], [first, second], [first], [first, second]],
  ['a file that was written by hand', ['a', 'b'], [], [first, second], [first, second]],
  ['three seeds', ['b', 'a', 'c'], [first, second, third], [first, second], [first, second, third]],
])('goes on: %s', (_story, given, file, registered, spans) => {
  expect(seedsOf(given, file, registered)).toEqual({ act: 'confirm', spans });
});

it.each<[string, string[], SeedSpan[], SeedSpan[], SeedSpan[]]>([
  ['the second', ['a', 'b'], [], [first], [first]],
  ['the third', ['a', 'b', 'c'], [first, second], [first, second], [first, second]],
  ['the second, of which nothing is known any more', ['a', 'b'], [first], [first], [first]],
])('begins %s seed', (_story, given, file, registered, spans) => {
  expect(seedsOf(given, file, registered)).toEqual({ act: 'begin', spans });
});

it.each<[string, string[], SeedSpan[], SeedSpan[], RegExp]>([
  ['no seed', [], [], [], /no seed/],
  ['another seed in place of the first', ['b'], [], [first], /branches from 0 on is missing/],
  ['the second without the first', ['b'], [first, second], [first, second], /branches from 0 on is missing/],
  ['the first without the second', ['a'], [first, second], [first, second], /branches from 3 on is missing/],
  ['a seed that is none of the database', ['b'], [second], [{ seed: '', from: 0 }], /do not agree/],
  [
    'the second alone, which does not know the first',
    ['b'],
    [first, second],
    [{ seed: '', from: 0 }, second],
    /from 0/,
  ],
  ['the third without the first', ['b', 'c'], [], [{ seed: '', from: 0 }, second], /from 0/],
  ['the first without the second, by the file alone', ['a'], [first, second], [first], /branches from 3 on/],
  ['both in the wrong order: the first would begin again', ['b', 'a'], [first, second], [first, second], /again/],
  ['a second one on an empty database', ['a', 'b'], [], [], /nothing was derived from/],
  ['an earlier one that nobody knows', ['x', 'a', 'b'], [first], [first], /nothing was derived from/],
  ['one twice', ['a', 'a'], [first], [first], /twice/],
  ['a file of another database', ['a', 'b'], [{ seed: 'b', from: 0 }], [first], /do not agree/],
  ['a file of which a branch is another', ['a', 'b'], [first, { ...second, from: 5 }], [first, second], /do not agree/],
])('refuses %s', (_story, given, file, registered, reason) => {
  const verdict = seedsOf(given, file, registered);
  expect(verdict).toMatchObject({ act: 'refuse', reason: expect.stringMatching(reason) });
});

it('finds the seed of a branch', () => {
  const spans = [first, second, third];
  expect([0, 1, 2, 3, 4, 99].map((branch) => ofBranch(spans, branch)!.seed)).toEqual(['a', 'a', 'a', 'b', 'c', 'c']);
  expect(ofBranch([second], 2)).toBeUndefined();
});
