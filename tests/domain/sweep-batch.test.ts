import fc from 'fast-check';
import { costUnits, workOf } from '../../domain/chains/costs';
import { sweepCost, tokenFee } from '../../domain/sweeps/sweep';
import {
  chooseBatch,
  coinFee,
  costsTooMuch,
  feeCapacityOf,
  shareOut,
  priceLookMs,
  sweepDeadlines,
  type Candidate,
} from '../../domain/sweeps/sweep-batch';

const candidate = (over: Partial<Candidate> = {}): Candidate => ({
  paymentId: 'p',
  inputs: 1,
  nativeRate: '1',
  broughtUnits: 100_000n,
  netUnits: null,
  isDue: false,
  ...over,
});

describe('the parts of a fee', () => {
  it('add up, are never negative, and never more than one can bear', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ workShare: fc.bigInt(0n, 50n), feeCapacity: fc.bigInt(0n, 10n ** 12n) }), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (parts, part) => {
          const capacity = parts.reduce((sum, one) => sum + one.feeCapacity, 0n);
          const fee = (capacity * BigInt(Math.floor(part * 1e6))) / 1_000_000n;
          const shares = shareOut(fee, parts);
          expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(fee);
          shares.forEach((share, index) => expect(share >= 0n && share <= parts[index]!.feeCapacity).toBe(true));
          expect(shareOut(fee, parts)).toEqual(shares);
        },
      ),
    );
  });

  it('are by work where everybody can bear theirs, to a unit each', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt(1n, 20n), { minLength: 1, maxLength: 40 }),
        fc.bigInt(0n, 10n ** 9n),
        (works, fee) => {
          const parts = works.map((workShare) => ({ workShare, feeCapacity: 10n ** 18n }));
          const all = works.reduce((sum, work) => sum + work, 0n);
          shareOut(fee, parts).forEach((share, index) => {
            const off = share - (fee * works[index]!) / all;
            expect(off >= -BigInt(works.length) && off <= BigInt(works.length)).toBe(true);
          });
        },
      ),
    );
    expect(
      shareOut(
        10n,
        [1n, 1n, 1n].map((workShare) => ({ workShare, feeCapacity: 100n })),
      ),
    ).toEqual([4n, 3n, 3n]);
  });

  it('go to the others where one cannot bear it, and nowhere where all cannot', () => {
    expect(
      shareOut(90n, [
        { workShare: 1n, feeCapacity: 5n },
        { workShare: 1n, feeCapacity: 500n },
      ]),
    ).toEqual([5n, 85n]);
    expect(() => shareOut(11n, [{ workShare: 1n, feeCapacity: 10n }])).toThrow(RangeError);
  });
});

describe('who goes with a batch', () => {
  it('is whoever has something left, and does not pay too much while there is time', () => {
    const poor = candidate({ paymentId: 'poor', broughtUnits: 1000n });
    const rich = candidate({ paymentId: 'rich' });
    expect(chooseBatch([rich, poor], coinFee('BTC', '10'), 25).map((one) => one.paymentId)).toEqual(['rich']);
    expect(chooseBatch([rich, { ...poor, isDue: true }], coinFee('BTC', '10'), 25)).toHaveLength(2);
    expect(chooseBatch([rich, { ...poor, isDue: true }], coinFee('BTC', '30'), 25)).toHaveLength(1);
    expect(chooseBatch([], coinFee('BTC', '10'), 25)).toEqual([]);
  });

  it('can always bear the fee', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            inputs: fc.integer({ min: 1, max: 5 }),
            brought: fc.bigInt(1n, 10n ** 7n),
            net: fc.option(fc.bigInt(0n, 10n ** 7n)),
            isDue: fc.boolean(),
          }),
          { maxLength: 120 },
        ),
        fc.integer({ min: 1, max: 500 }),
        (rows, price) => {
          const isExternal = rows[0]?.net !== null;
          const all = rows.map(({ inputs, brought, net, isDue }, index) =>
            candidate({
              paymentId: String(index),
              inputs,
              broughtUnits: brought,
              isDue,
              netUnits: isExternal ? (net ?? 0n) % brought : null,
            }),
          );
          const chosen = chooseBatch(all, coinFee('BTC', String(price)), 25);
          expect(chosen.length).toBeLessThanOrEqual(100);
          const inputs = chosen.reduce((sum, one) => sum + one.inputs, 0);
          const fee = costUnits(String(price), workOf({ currency: 'BTC', inputs, outputs: isExternal ? 2 : 1 }));
          if (!chosen.length) return;
          const shares = shareOut(
            fee,
            chosen.map((one) => ({ workShare: BigInt(one.inputs), feeCapacity: feeCapacityOf(one) })),
          );
          chosen.forEach((one, index) => expect(shares[index]! <= feeCapacityOf(one)).toBe(true));
        },
      ),
    );
  });
});

it('splits the gas of tokens by the rate of each', () => {
  const fee = tokenFee('USDT_ERC20', '20000000000')([candidate(), candidate()]);
  expect([fee(candidate({ nativeRate: '3200' })), fee(candidate({ nativeRate: '1600', inputs: 2 }))]).toEqual([
    4_160_000n,
    3_200_000n,
  ]);
});

it('waits for others, and longer for a better price', () => {
  const at = new Date('2026-01-05T10:00:00Z');
  const { batch, price } = sweepDeadlines(at, { batchSeconds: 30, maxWaitHours: 2 });
  expect([batch.toISOString(), price.toISOString()]).toEqual(['2026-01-05T10:00:30.000Z', '2026-01-05T12:00:00.000Z']);
  expect(costsTooMuch('25', '100', 25)).toBe(false);
  expect(costsTooMuch('25.01', '100', 25)).toBe(true);
});

it('looks for a better price soon at first, and seldom in the end', () => {
  const minutes = [0, 1, 3, 6, 30, 45, 600].map((waited) => priceLookMs(waited * 60_000) / 60_000);
  expect(minutes).toEqual([1, 1, 1, 2, 10, 15, 15]);
  expect(priceLookMs(-5)).toBe(60_000);
});

it('estimates what a sweep costs in its currency', () => {
  expect(sweepCost('BTC', 1, '10', '1')).toBe('0.000011');
  expect(sweepCost('ETH', 2, '20000000000', '1')).toBe('0.00084');
  expect(sweepCost('USDT_ERC20', 1, '20000000000', '3200')).toBe('5.504');
});
