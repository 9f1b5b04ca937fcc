import type { TokenMove } from '../../domain/chains/chain';
import { outcomeOf, type SignedMoves } from '../../domain/txmanager/outcome';

const signed = (over: Partial<SignedMoves> = {}): SignedMoves => ({
  currency: 'USDT_ERC20',
  from: 'hot',
  outputs: [{ address: 'away', units: '5' }],
  accounts: [],
  ...over,
});
const move = (over: Partial<TokenMove> = {}): TokenMove => ({
  currency: 'USDT_ERC20',
  from: 'hot',
  to: 'away',
  units: 5n,
  ...over,
});
const batch = signed({
  from: 'gas',
  outputs: [{ address: 'away', units: '7' }],
  accounts: [
    { address: 'a', units: '3' },
    { address: 'b', units: '0' },
    { address: 'c', units: '4' },
  ],
});

const shared = signed({
  from: 'gas',
  outputs: [
    { address: 'merchant', units: '5' },
    { address: 'fees', units: '2' },
  ],
  accounts: [
    { address: 'a', units: '3' },
    { address: 'b', units: '4' },
  ],
});
const given = (from: string, to: string, units: bigint): TokenMove => move({ from, to, units });

describe('A11: a token transfer has succeeded when its contract says so', () => {
  it.each<[string, boolean, TokenMove[], SignedMoves, string]>([
    ['the event of the transfer', true, [move()], signed(), 'done'],
    ['reverted', false, [], signed(), 'failed'],
    ['no event: the contract answered and moved nothing', true, [], signed(), 'failed'],
    ['the event of another token', true, [move({ currency: 'USDC_ERC20' })], signed(), 'failed'],
    ["somebody else's transfer to the same address", true, [move({ from: 'other' })], signed(), 'failed'],
    ['less than was signed', true, [move({ units: 4n })], signed(), 'differs'],
    ['another recipient', true, [move({ to: 'thief' })], signed(), 'differs'],
    ['more than was signed', true, [move(), move({ to: 'fees', units: 1n })], signed(), 'differs'],
    ['a native coin has no event', true, [], signed({ currency: 'ETH' }), 'done'],
    [
      'a batch, each account its own',
      true,
      [move({ from: 'a', units: 3n }), move({ from: 'c', units: 4n })],
      batch,
      'done',
    ],
    ['a batch without one of its accounts', true, [move({ from: 'a', units: 3n })], batch, 'differs'],
    ['a batch that moved nothing', true, [], batch, 'failed'],
    [
      'a batch to two, whoever gives which part',
      true,
      [given('a', 'merchant', 3n), given('b', 'merchant', 2n), given('b', 'fees', 2n)],
      shared,
      'done',
    ],
    [
      'a batch to two, of which one gets more than its part',
      true,
      [given('a', 'merchant', 3n), given('b', 'merchant', 3n), given('b', 'fees', 1n)],
      shared,
      'differs',
    ],
    [
      'a batch to two, and a third',
      true,
      [given('a', 'merchant', 3n), given('b', 'merchant', 2n), given('b', 'fees', 1n), given('b', 'thief', 1n)],
      shared,
      'differs',
    ],
    [
      'a batch to two, of which one account gives what the other was to give',
      true,
      [given('a', 'merchant', 5n), given('b', 'fees', 2n)],
      shared,
      'differs',
    ],
  ])('%s', (_what, success, moves, plan, outcome) => {
    expect(outcomeOf({ success, moves }, plan)).toBe(outcome);
  });
});
