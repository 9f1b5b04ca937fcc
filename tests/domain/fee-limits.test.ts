import fc from 'fast-check';
import { bumpedPrice, exceeds, feeLimits, limitsFor, nextPrice, priceCap } from '../../domain/txmanager/fee-limits';
import { compare, times } from '../../domain/money';

const price = fc.bigInt(1n, 10n ** 13n).map(String);
const network = fc.constantFrom('bitcoin' as const, 'ethereum' as const);

describe('A1: limits of a fee', () => {
  it('follows a price to four times what it was, and always to that of a busy day', () => {
    expect(priceCap('ethereum', '30000000000')).toBe('120000000000');
    expect(priceCap('ethereum', '1000000000')).toBe('50000000000');
    expect(priceCap('bitcoin', '20.125')).toBe('81');
    expect(priceCap('bitcoin', '1')).toBe('50');
    expect(feeLimits('ethereum', '1', 21_000n)).toEqual({ maxUnitPrice: '50000000000', feeBudget: '1312500000000000' });
  });

  it('no sequence of bumps exceeds the cap or the budget, whatever prices do, and each has an end', () => {
    fc.assert(
      fc.property(
        network,
        price,
        fc.bigInt(100n, 5_000_000n),
        fc.array(price, { minLength: 1, maxLength: 60 }),
        (on, planned, work, today) => {
          const limits = feeLimits(on, planned, work);
          let last = planned;
          for (const one of today) {
            const next = nextPrice(last, one, limits.maxUnitPrice);
            if (next === null) {
              expect(compare(bumpedPrice(last, '0'), limits.maxUnitPrice)).toBe(1);
              break;
            }
            expect(compare(next, times(last, '1.125', 18, 'up'))).toBeGreaterThanOrEqual(0);
            const fee = BigInt(times(next, work.toString(), 0, 'up'));
            expect(exceeds(limits, next, fee)).toBeNull();
            last = next;
          }
          expect(compare(last, limits.maxUnitPrice)).toBeLessThanOrEqual(0);
        },
      ),
    );
  });

  it('reaches its end within so many bumps', () => {
    fc.assert(
      fc.property(network, price, (on, planned) => {
        const { maxUnitPrice } = feeLimits(on, planned, 21_000n);
        let last: string | null = planned;
        let bumps = 0;
        while ((last = nextPrice(last, '0', maxUnitPrice)) !== null) bumps += 1;
        // A floor of 50 gwei is 2^36 times one wei, and an eighth more each time doubles every six bumps.
        expect(bumps).toBeLessThan(250);
      }),
    );
  });

  it('says which limit a transaction is above', () => {
    const limits = limitsFor('100', 1000n);
    expect(exceeds(limits, '100', 125_000n)).toBeNull();
    expect(exceeds(limits, '100.001', 1n)).toContain('cap of 100');
    expect(exceeds(limits, '1', 125_001n)).toContain('budget of 125000');
  });
});
