import { differingJournal } from '../../domain/ledger/differing';
import type { ChainAccount } from '../../domain/ledger/lost';
import { correctionsOf, lossOf, unitsTaken, whyNotFailed, type Decision } from '../../domain/txmanager/differing';

const places: Readonly<Record<string, ChainAccount>> = {
  hot: 'A:treasury',
  lane: 'A:treasury',
  d1: 'A:deposit',
  d2: 'A:deposit',
};
const placeOf = (address: string): ChainAccount | null => places[address] ?? null;
const move = (from: string, to: string, units: number) => ({ from, to, units: String(units) });
const part = (address: string, units: number) => ({ address, units: String(units) });

type Case = readonly [
  what: string,
  decision: Decision,
  signed: readonly [from: string, to: string, units: number],
  moves: ReadonlyArray<ReturnType<typeof move>>,
  corrections: Record<string, bigint>,
  loss: bigint,
];

describe('what the books must say beside the usual journals', () => {
  it.each<Case>([
    ['a fee out of it', 'paid', ['hot', 'x', 100], [move('hot', 'x', 99), move('hot', 'fees', 1)], {}, 0n],
    [
      'the same',
      'failed',
      ['hot', 'x', 100],
      [move('hot', 'x', 99), move('hot', 'fees', 1)],
      { 'A:treasury': -100n },
      100n,
    ],
    [
      'a fee on top',
      'paid',
      ['hot', 'x', 100],
      [move('hot', 'x', 100), move('hot', 'f', 2)],
      { 'A:treasury': -2n },
      2n,
    ],
    ['less than signed', 'paid', ['hot', 'x', 100], [move('hot', 'x', 60)], { 'A:treasury': 40n }, -40n],
    ['the same', 'failed', ['hot', 'x', 100], [move('hot', 'x', 60)], { 'A:treasury': -60n }, 60n],
    [
      'a sweep that lost a fee',
      'paid',
      ['d1', 'hot', 100],
      [move('d1', 'hot', 99), move('d1', 'f', 1)],
      { 'A:treasury': -1n },
      1n,
    ],
    [
      'a sweep of a part',
      'paid',
      ['d1', 'hot', 100],
      [move('d1', 'hot', 60)],
      { 'A:deposit': 40n, 'A:treasury': -40n },
      0n,
    ],
    [
      'a sweep elsewhere of ours',
      'failed',
      ['d1', 'x', 100],
      [move('d1', 'lane', 100)],
      { 'A:deposit': -100n, 'A:treasury': 100n },
      0n,
    ],
    [
      'a move between lanes',
      'paid',
      ['hot', 'lane', 100],
      [move('hot', 'lane', 99), move('hot', 'f', 1)],
      { 'A:treasury': -1n },
      1n,
    ],
  ])('%s: %s', (_what, decision, [from, to, units], moves, expected, loss) => {
    const corrections = correctionsOf(
      { decision, moves, given: [part(from, units)], gotten: [part(to, units)] },
      placeOf,
    );
    expect(Object.fromEntries(corrections)).toEqual(expected);
    expect(lossOf(corrections)).toBe(loss);
    const one = { txId: 't', blockHash: 'b', decision, currency: 'USDT_TRC20', corrections };
    const { key, postings } = differingJournal(one);
    expect(key).toBe(`differs/t/b/${decision}`);
    const sums = new Map<string, number>();
    for (const { debit, credit, amount } of postings) {
      expect(Number(amount)).toBeGreaterThan(0);
      sums.set(debit, (sums.get(debit) ?? 0) + Number(amount) * 1e6);
      sums.set(credit, (sums.get(credit) ?? 0) - Number(amount) * 1e6);
    }
    const inUnits = Object.fromEntries([...sums].map(([account, sum]) => [account, BigInt(Math.round(sum))]));
    expect(inUnits).toEqual({ ...expected, ...(loss === 0n ? {} : { 'E:loss': loss }) });
  });
});

it('knows what many addresses gave together', () => {
  const given = [part('d1', 60), part('d2', 40)];
  const moves = [move('d1', 'hot', 60), move('d2', 'hot', 38), move('d2', 'fees', 1)];
  const of = (decision: Decision) =>
    Object.fromEntries(correctionsOf({ decision, moves, given, gotten: [part('hot', 100)] }, placeOf));
  expect(of('paid')).toEqual({ 'A:treasury': -2n, 'A:deposit': 1n });
  expect(of('failed')).toEqual({ 'A:treasury': 98n, 'A:deposit': -99n });
});

it('counts what has left an address by what the chain says, also of what has failed', () => {
  const signed = { moved_units: '100', moves: null };
  expect(unitsTaken({ ...signed, success: true }, 'hot')).toBe(100n);
  expect(unitsTaken({ ...signed, success: false }, 'hot')).toBe(0n);
  const moves = [move('hot', 'x', 60), move('hot', 'y', 5), move('other', 'x', 9)];
  for (const success of [null, false, true]) expect(unitsTaken({ ...signed, success, moves }, 'hot')).toBe(65n);
});

it('lets operators say that it has failed where somebody is owed what it was for', () => {
  const usual = { isFromDeposits: false, paysMerchant: false };
  for (const kind of ['withdrawal', 'refund', 'leg'] as const) expect(whyNotFailed({ kind, ...usual })).toBeNull();
  expect(whyNotFailed({ kind: 'sweep', isFromDeposits: false, paysMerchant: true })).toBeNull();
  for (const kind of ['sweep', 'consolidate', 'fund', 'lost', 'gas'] as const)
    expect(whyNotFailed({ kind, ...usual })).toEqual(expect.any(String));
  expect(whyNotFailed({ kind: 'refund', isFromDeposits: true, paysMerchant: false })).toEqual(expect.any(String));
});
