import fc from 'fast-check';
import {
  floatMoves,
  gasWalletOf,
  laneToFill,
  laneToGatherAt,
  payersOf,
  type Wallet,
} from '../../domain/treasury/lanes';
import { assignSources } from '../../domain/treasury/treasury';

/** A2: which wallets pay, and which are filled. */

const wallets = fc
  .array(
    fc.record({
      free: fc.bigInt(0n, 1000n),
      lane: fc.constantFrom('used' as const, 'used' as const, 'dropped' as const, null),
      heldUp: fc.constantFrom(null, null, 'frozen' as const, 'blocked' as const),
    }),
    { maxLength: 7 },
  )
  .map((all) => all.map((one, index): Wallet => ({ address: `w${index}`, ...one })));
const none = (): bigint => 0n;
const free = fc.bigInt(0n, 300n);

describe('A2: gas wallets', () => {
  const gas = fc
    .array(
      fc.record({
        free: fc.bigInt(0n, 100n),
        lane: fc.constantFrom('used' as const, 'used' as const, 'dropped' as const),
        heldUp: fc.constantFrom(null, null, 'frozen' as const, 'blocked' as const),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .chain((all) =>
      fc
        .integer({ min: -1, max: all.length - 1 })
        .map((own) => all.map((one, n) => ({ address: `g${n}`, isOwn: n === own, ...one }))),
    );

  it('one that is open and has enough buys gas wherever there is one: the own lane’s before the others', () => {
    fc.assert(
      fc.property(gas, fc.bigInt(1n, 100n), (all, units) => {
        const able = all.filter(({ free: held, heldUp }) => held >= units && heldUp === null);
        const chosen = gasWalletOf(all, units);
        if (!able.length) return;
        expect(able).toContain(chosen);
        const dropped = able.filter(({ lane }) => lane === 'dropped');
        const own = able.filter(({ isOwn }) => isOwn);
        if (dropped.length) expect(dropped).toContain(chosen);
        else if (own.length) expect(own).toContain(chosen);
        else expect(able.every(({ free: held }) => held <= chosen!.free)).toBe(true);
      }),
    );
  });

  it('none behind a blocker, nor of a frozen wallet, while one is open; never a dropped one that is too poor', () => {
    fc.assert(
      fc.property(gas, fc.bigInt(1n, 100n), (all, units) => {
        const chosen = gasWalletOf(all, units);
        const used = all.filter(({ lane }) => lane === 'used');
        if (used.some(({ heldUp }) => heldUp === null)) expect(chosen!.heldUp).toBeNull();
        else if (used.some(({ heldUp }) => heldUp === 'blocked')) expect(chosen!.heldUp).not.toBe('frozen');
        if (chosen?.lane === 'dropped') expect(chosen.free >= units && chosen.heldUp === null).toBe(true);
        expect(chosen === undefined).toBe(
          !used.length && !all.some(({ free: held, heldUp }) => held >= units && heldUp === null),
        );
      }),
    );
  });
});

describe('A2: lanes', () => {
  it('nothing is planned from a frozen wallet, nor from a blocked one while a lane is open', () => {
    fc.assert(
      fc.property(wallets, (all) => {
        const stateOf = (address: string) => all.find((one) => one.address === address)!;
        const paying = payersOf(all).map(({ address }) => stateOf(address));
        expect(paying.filter(({ heldUp }) => heldUp === 'frozen')).toEqual([]);
        const isAnyOpen = all.some(({ lane, heldUp }) => lane === 'used' && heldUp === null);
        if (isAnyOpen) expect(paying.filter(({ heldUp }) => heldUp === 'blocked')).toEqual([]);
        // Whatever is open may pay, once.
        expect(paying.filter(({ heldUp }) => heldUp === null)).toHaveLength(
          all.filter(({ heldUp }) => heldUp === null).length,
        );
        expect(new Set(paying).size).toBe(paying.length);
      }),
    );
  });

  it('each payment gets one wallet, which holds enough for all that it pays', () => {
    fc.assert(
      fc.property(wallets, fc.array(fc.bigInt(1n, 400n), { maxLength: 12 }), fc.bigInt(0n, 5n), (all, amounts, fee) => {
        const outputs = amounts.map((units, n) => ({ ref: String(n), address: 'x', units }));
        const { paid, short } = assignSources(payersOf(all), outputs, fee);
        expect([...paid, ...short].map(({ ref }) => ref).sort()).toEqual(outputs.map(({ ref }) => ref).sort());
        for (const { address, free: held } of all) {
          const spent = paid.filter(({ from }) => from === address).reduce((sum, one) => sum + one.units + fee, 0n);
          expect(spent <= held).toBe(true);
        }
      }),
    );
  });

  it('pays from the lane that has most, and goes on with it as long as it can', () => {
    const lanes = [60n, 100n].map((held, n) => ({ address: `l${n}`, free: held, isLane: true as const }));
    const outputs = [30n, 30n, 30n, 30n, 30n].map((units, n) => ({ ref: String(n), address: 'x', units }));
    const other = { address: 'merchant', free: 1000n };
    expect(assignSources([...lanes, other], outputs, 0n).paid.map(({ from }) => from)).toEqual([
      'l1',
      'l1',
      'l1',
      'l0',
      'l0',
    ]);
    expect(assignSources([...lanes, other], [{ ref: 'a', address: 'x', units: 101n }], 0n).paid[0]!.from).toBe(
      'merchant',
    );
  });

  it('fills the open lane that has least, and gathers at the one that has most', () => {
    fc.assert(
      fc.property(wallets, (all) => {
        const open = all.filter(({ lane, heldUp }) => lane === 'used' && heldUp === null);
        const [fill, gather] = [laneToFill(all), laneToGatherAt(all)];
        if (!open.length) return expect(gather).toBeUndefined();
        expect(open.every((one) => one.free >= fill!.free && one.free <= gather!.free)).toBe(true);
        expect([fill!.heldUp, gather!.heldUp]).toEqual([null, null]);
      }),
    );
  });

  it('counts what is on its way to a lane', () => {
    const all = [10n, 20n].map((held, n): Wallet => ({ address: `l${n}`, free: held, lane: 'used', heldUp: null }));
    expect(laneToFill(all, (address) => (address === 'l0' ? 15n : 0n))!.address).toBe('l1');
  });

  it('empties sixteen dropped wallets at once, the fullest first', () => {
    const wallet = (n: number): Wallet => ({
      address: `old${n}`,
      free: BigInt(100 + n),
      lane: 'dropped',
      heldUp: null,
    });
    const all = [
      { ...wallet(0), address: 'new', lane: 'used' as const },
      ...Array.from({ length: 40 }, (_, n) => wallet(n)),
    ];
    const moves = floatMoves(all, none, { least: 100n, leastToSpread: 1n, awaited: 0n });
    expect(moves.map(({ from }) => from)).toEqual(Array.from({ length: 16 }, (_, n) => `old${39 - n}`));
    expect(new Set(moves.map(({ to }) => to))).toEqual(new Set(['new']));
    // What is not worth a move stays, and does not take the place of others.
    expect(floatMoves([all[0]!, wallet(0)], none, { least: 100n, leastToSpread: null, awaited: 0n })).toEqual([]);
  });

  it('moves only what is there, from dropped lanes or the fullest, to open lanes, and brings them closer', () => {
    fc.assert(
      fc.property(wallets, fc.bigInt(0n, 50n), fc.option(fc.bigInt(1n, 100n)), free, (all, least, spread, awaited) => {
        const moves = floatMoves(all, none, { least, leastToSpread: spread, awaited });
        const of = (address: string): Wallet => all.find((one) => one.address === address)!;
        for (const { from, to, units } of moves) {
          expect(of(from).heldUp).toBeNull();
          expect([of(to).lane, of(to).heldUp]).toEqual(['used', null]);
          expect(units > 0n && units <= of(from).free).toBe(true);
          expect(from).not.toBe(to);
        }
        expect(new Set(moves.map(({ from }) => from)).size).toBe(moves.length);
        const spreads = moves.filter(({ from }) => of(from).lane === 'used');
        expect(spreads.length).toBeLessThan(2);
        for (const { from, to, units } of spreads) {
          expect(spread !== null && units >= spread).toBe(true);
          // It is not the other way round afterwards: the next look moves nothing back.
          expect(of(from).free - units >= of(to).free).toBe(true);
          expect(of(from).free - units >= awaited).toBe(true);
        }
        // Every dropped lane that is open and worth it is emptied, where there is a lane to take it.
        if (laneToFill(all)?.heldUp === null)
          for (const one of all.filter(({ lane, heldUp }) => lane === 'dropped' && heldUp === null))
            expect(moves.some(({ from }) => from === one.address)).toBe(one.free > least);
      }),
    );
  });

  it('comes to rest', () => {
    fc.assert(
      fc.property(wallets, (all) => {
        let now = all;
        for (let n = 0; n < 20; n += 1) {
          const moves = floatMoves(now, none, { least: 0n, leastToSpread: 1n, awaited: 0n });
          if (!moves.length) return;
          now = now.map((one) => ({
            ...one,
            free: moves.reduce(
              (sum, { from, to, units }) =>
                sum + (to === one.address ? units : 0n) - (from === one.address ? units : 0n),
              one.free,
            ),
          }));
        }
        throw new Error('It moves money to and fro');
      }),
    );
  });
});
