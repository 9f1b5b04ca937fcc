import fc from 'fast-check';
import { utxoOf } from '../../domain/chains/costs';
import { assignSources, chooseCoins, coinsToMove, gather } from '../../domain/treasury/treasury';

describe('chooseCoins', () => {
  const coins = fc
    .array(fc.bigInt(1n, 10n ** 9n), { maxLength: 12 })
    .map((all) => all.map((units, index) => ({ id: String(index), units })));
  const cost = (count: number, price: bigint): bigint => BigInt(11 + 68 * count + 62) * price;

  it('pays for what it takes, takes each once, and gives up only where all would not do', () => {
    fc.assert(
      fc.property(coins, fc.bigInt(1n, 10n ** 9n), fc.bigInt(1n, 200n), (all, units, price) => {
        const chosen = chooseCoins(all, units, price, utxoOf('BTC'));
        const sum = (some: typeof all): bigint => some.reduce((total, coin) => total + coin.units, 0n);
        if (chosen) {
          expect(new Set(chosen.map((coin) => coin.id)).size).toBe(chosen.length);
          expect(sum(chosen)).toBeGreaterThanOrEqual(units + cost(chosen.length, price));
          return;
        }
        const largest = all.toSorted((a, b) => Number(b.units - a.units));
        for (let count = 1; count <= largest.length; count += 1)
          expect(sum(largest.slice(0, count))).toBeLessThan(units + cost(count, price));
      }),
    );
  });
});

describe('coinsToMove', () => {
  const network = utxoOf('BTC');
  const { maxPrice } = network.joining;
  const input = BigInt(network.sizes.input);
  const coin = (units: bigint) => ({ id: String(units), units });
  const moved = (units: readonly bigint[], price: bigint) =>
    coinsToMove(units.map(coin), price, network).map((one) => one.units);

  it('moves the largest first, and leaves what is not worth its own input', () => {
    const least = input * 2n * 2n;
    expect(moved([least, least + 1n, 10n ** 8n], 2n)).toEqual([10n ** 8n, least + 1n]);
    // Alone, a small one does not pay for the transaction.
    expect(moved([least + 1n], 2n)).toEqual([]);
    expect(moved([], 2n)).toEqual([]);
  });

  it('while fees are high, moves what costs a hundredth of itself at most', () => {
    const price = maxPrice + 1n;
    const bound = input * price * 100n;
    expect(moved([bound, bound + 1n], price)).toEqual([bound + 1n]);
    expect(moved([bound], maxPrice)).toEqual([bound]);
  });

  it('moves 200 at once', () => {
    const many = Array.from({ length: 250 }, (_, n) => 10n ** 7n + BigInt(n));
    expect(moved(many, 2n)).toEqual(many.toReversed().slice(0, 200));
  });
});

const sources = fc
  .array(fc.bigInt(0n, 1000n), { minLength: 1, maxLength: 8 })
  .map((all) => all.map((free, index) => ({ address: `t${index}`, free })));
const outputs = fc
  .array(fc.bigInt(1n, 1000n), { maxLength: 12 })
  .map((all) => all.map((units, index) => ({ ref: `r${index}`, address: `a${index}`, units })));
const fee = fc.bigInt(0n, 20n);

describe('assignSources', () => {
  it('pays each output once or not at all, and never more than a source holds', () => {
    fc.assert(
      fc.property(sources, outputs, fee, (from, to, cost) => {
        const { paid, short, left } = assignSources(from, to, cost);
        expect([...paid, ...short].map((one) => one.ref).sort()).toEqual(to.map((one) => one.ref).sort());
        for (const source of from) {
          const spent = paid
            .filter((one) => one.from === source.address)
            .reduce((sum, one) => sum + one.units + cost, 0n);
          const rest = left.find((one) => one.address === source.address)!.free;
          expect(rest).toBe(source.free - spent);
          expect(rest >= 0n).toBe(true);
        }
        for (const one of short) expect(left.every((source) => source.free < one.units + cost)).toBe(true);
      }),
    );
  });

  it('takes the hot wallet first', () => {
    const from = [
      { address: 'hot', free: 5n },
      { address: 'big', free: 100n },
    ];
    const to = [1n, 9n, 4n].map((units, index) => ({ ref: String(index), address: 'x', units }));
    expect(assignSources(from, to, 0n).paid.map((one) => one.from)).toEqual(['hot', 'big', 'hot']);
  });
});

it('gathers enough, with no address too many, or says that there is not enough', () => {
  fc.assert(
    fc.property(sources, fc.bigInt(0n, 500n), fc.bigInt(0n, 4000n), fc.bigInt(0n, 50n), (all, hot, needed, least) => {
      const sum = (some: typeof all): bigint => some.reduce((total, one) => total + one.free, 0n);
      const useful = all.filter((one) => one.free > least);
      const chosen = gather(all, hot, needed, least);
      if (!chosen) return expect(hot + sum(useful)).toBeLessThan(needed);
      expect(hot + sum([...chosen])).toBeGreaterThanOrEqual(needed);
      if (chosen.length) expect(hot + sum(chosen.slice(0, -1))).toBeLessThan(needed);
    }),
  );
});
