import fc from 'fast-check';
import { assetOf, assets } from '../../domain/chains/assets';
import {
  commissionOf,
  driftOf,
  effectiveRate,
  limitsOf,
  modeOf,
  priceExternal,
  priceInternal,
  viewQuote,
  type ConversionQuote,
} from '../../domain/conversions/conversion';
import { add, compare, divide, fit, fromUnits, isPositive, subtract, times } from '../../domain/money';

const rates = { from: '3200', to: '1' };
const eth = (fromAmount: string) => ({ fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', fromAmount });
const must = (quote: ConversionQuote | null): ConversionQuote => {
  if (!quote) throw new Error('No quote');
  return quote;
};

describe('a quote from our own balance sheet', () => {
  it('takes 0.4 % and converts the rest at the oracle’s rate', () => {
    expect(priceInternal(eth('1'), rates)).toMatchObject({
      fromAmount: '1',
      exchangeRate: '3200',
      commissionAmount: '0.004',
      netFromAmount: '0.996',
      toAmount: '3187.2',
      mode: 'internal',
    });
    const view = viewQuote(must(priceInternal(eth('1'), rates)), new Date('2026-03-01T12:00:00Z'));
    expect(view).toEqual({
      fromCurrency: 'ETH',
      toCurrency: 'USDT_ERC20',
      fromAmount: 1,
      exchangeRate: 3200,
      commissionRate: 0.004,
      commissionAmount: 0.004,
      netFromAmount: 0.996,
      toAmount: 3187.2,
      fromAmountStr: '1',
      toAmountStr: '3187.2',
      validUntil: '2026-03-01T12:01:00.000Z',
      executionMode: 'internal',
      feeBreakdown: undefined,
    });
  });

  it('lifts small orders to a floor, and then says so', () => {
    // 0.30 USD of 0.001 ETH, which is 3.20 USD
    const quote = must(priceInternal(eth('0.001'), rates));
    expect(quote.commissionAmount).toBe('0.00009375');
    const view = viewQuote(quote, new Date());
    expect(view.commissionRate).toBe(0.09375);
    expect(view.feeBreakdown).toEqual({ platformFeePct: 9.375, providerFeePct: 0 });
  });

  it('tells the parts of the fee from 0.01 points above the base on', () => {
    const view = (fee: string) =>
      viewQuote(
        must(
          priceExternal(eth('1'), rates, {
            providerFee: fee,
            toAmount: '3000',
            priceProtectionPct: '0.5',
            estimatedSeconds: null,
          }),
        ),
        new Date(),
      );
    expect(view('0.000099').feeBreakdown).toBeUndefined();
    expect(view('0.0001').feeBreakdown).toEqual({ platformFeePct: 0.4, providerFeePct: 0.01 });
    expect(view('0.0001')).toMatchObject({
      executionMode: 'external',
      priceProtectionPct: 0.5,
      estimatedSeconds: null,
    });
  });

  it('prices an execution elsewhere by what arrives at least', () => {
    const quote = must(
      priceExternal(eth('2'), rates, {
        providerFee: '0.012',
        toAmount: '6300.0000009',
        priceProtectionPct: '1',
        estimatedSeconds: 600,
      }),
    );
    expect(quote).toMatchObject({
      commissionAmount: '0.02',
      netFromAmount: '1.98',
      toAmount: '6300',
      estimatedSeconds: 600,
    });
    expect(quote.exchangeRate).toBe(divide('6300', '1.98', 24, 'down'));
    expect(
      priceExternal(eth('2'), rates, { providerFee: '2', toAmount: '1', priceProtectionPct: '1', estimatedSeconds: 1 }),
    ).toBeNull();
  });
});

const pair = fc
  .tuple(fc.constantFrom(...assets), fc.constantFrom(...assets))
  .filter(([from, to]) => from.currency !== to.currency)
  .map(([from, to]) => ({ fromCurrency: from.currency, toCurrency: to.currency }));
const price = fc.bigInt(1n, 10n ** 14n).map((units) => fromUnits(units, 6));
const market = fc.record({ from: price, to: price });
/** An amount between the limits, in the source's own digits. */
const within = (
  ask: { fromCurrency: string; toCurrency: string },
  usd: { from: string; to: string },
  share: number,
) => {
  const { minimum, maximum } = limitsOf(ask, usd, '100000');
  if (compare(minimum, maximum) > 0) return null;
  const span = times(subtract(maximum, minimum), share.toFixed(9), assetOf(ask.fromCurrency).decimals, 'down');
  return add(minimum, span);
};
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe('of any pair at any rates', () => {
  it('the parts add up, are never negative, and create nothing', () => {
    fc.assert(
      fc.property(pair, market, share, (ask, usd, at) => {
        const fromAmount = within(ask, usd, at);
        if (fromAmount === null) return;
        const quote = must(priceInternal({ ...ask, fromAmount }, usd));
        const { decimals } = assetOf(ask.fromCurrency);
        expect(add(quote.commissionAmount, quote.netFromAmount)).toBe(quote.fromAmount);
        expect(isPositive(quote.netFromAmount) && isPositive(quote.toAmount)).toBe(true);
        for (const amount of [quote.commissionAmount, quote.netFromAmount])
          expect(fit(amount, decimals, 'down')).toBe(amount);
        expect(fit(quote.toAmount, assetOf(ask.toCurrency).decimals, 'down')).toBe(quote.toAmount);
        expect(
          compare(times(quote.toAmount, usd.to, 60, 'up'), times(quote.netFromAmount, usd.from, 60, 'down')),
        ).toBeLessThanOrEqual(0);
        expect(compare(quote.commissionAmount, times(fromAmount, '0.004', 60, 'down'))).toBeGreaterThanOrEqual(0);
        expect(compare(effectiveRate(quote), '0.004')).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  it('an execution elsewhere adds up too, and its rate promises no more than arrives', () => {
    const fee = fc.bigInt(0n, 10n ** 24n).map((units) => fromUnits(units, 24));
    const output = fc.bigInt(1n, 10n ** 30n).map((units) => fromUnits(units, 20));
    fc.assert(
      fc.property(pair, market, share, fee, output, (ask, usd, at, providerFee, toAmount) => {
        const fromAmount = within(ask, usd, at);
        if (fromAmount === null) return;
        const terms = { providerFee, toAmount, priceProtectionPct: '0.5', estimatedSeconds: null };
        const quote = priceExternal({ ...ask, fromAmount }, usd, terms);
        if (quote === null) return;
        expect(add(quote.commissionAmount, quote.netFromAmount)).toBe(quote.fromAmount);
        expect(isPositive(quote.netFromAmount) && isPositive(quote.toAmount)).toBe(true);
        expect(compare(quote.toAmount, toAmount)).toBeLessThanOrEqual(0);
        expect(compare(quote.providerFee, providerFee)).toBeGreaterThanOrEqual(0);
        expect(compare(times(quote.exchangeRate, quote.netFromAmount, 60, 'up'), quote.toAmount)).toBeLessThanOrEqual(
          0,
        );
        expect(compare(effectiveRate(quote), '0.004')).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 300 },
    );
  });

  it('more given never brings less', () => {
    fc.assert(
      fc.property(pair, market, share, share, (ask, usd, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map((at) => within(ask, usd, at));
        if (!less || !more) return;
        const out = (fromAmount: string) => must(priceInternal({ ...ask, fromAmount }, usd)).toAmount;
        expect(compare(out(less), out(more))).toBeLessThanOrEqual(0);
      }),
      { numRuns: 300 },
    );
  });

  it('there and back never gains', () => {
    fc.assert(
      fc.property(pair, market, share, (ask, usd, at) => {
        const fromAmount = within(ask, usd, at);
        if (fromAmount === null) return;
        const there = must(priceInternal({ ...ask, fromAmount }, usd));
        const back = priceInternal(
          { fromCurrency: ask.toCurrency, toCurrency: ask.fromCurrency, fromAmount: there.toAmount },
          { from: usd.to, to: usd.from },
        );
        expect(compare(back?.toAmount ?? '0', fromAmount)).toBeLessThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it('both limits can be converted, and the least costs no more than a fifth', () => {
    fc.assert(
      fc.property(pair, market, (ask, usd) => {
        const { minimum, maximum } = limitsOf(ask, usd, '100000');
        const { payDecimals, dust } = assetOf(ask.fromCurrency);
        for (const limit of [minimum, maximum]) expect(fit(limit, payDecimals, 'down')).toBe(limit);
        const quote = must(priceInternal({ ...ask, fromAmount: minimum }, usd));
        expect(isPositive(dust) && compare(quote.toAmount, assetOf(ask.toCurrency).dust) >= 0).toBe(true);
        expect(
          compare(times(commissionOf(minimum, ask.fromCurrency, usd.from), '5', 30, 'up'), add(minimum, '0.000001')),
        ).toBeLessThanOrEqual(0);
        expect(compare(times(maximum, usd.from, 30, 'down'), '100000')).toBeLessThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  it('what is too fine is cut before anything is reckoned', () => {
    expect(
      priceInternal(
        { fromCurrency: 'BTC', toCurrency: 'ETH', fromAmount: '0.0100000099' },
        { from: '64000', to: '3200' },
      ),
    ).toMatchObject({
      fromAmount: '0.01',
    });
  });
});

describe('drift', () => {
  const fresh = { exchangeRate: '3200', toAmount: '3187.2' };
  const pct = (accepted: Parameters<typeof driftOf>[0]) => driftOf(accepted, fresh);
  it('of the rate counts both ways, beyond 1 %', () => {
    expect(pct({})).toBeNull();
    expect(pct({ rate: '3200' })).toBeNull();
    expect(pct({ rate: divide('3200', '1.01', 30, 'up') })).toBeNull();
    expect(pct({ rate: divide('3200', '0.99', 30, 'down') })).toBeNull();
    expect(pct({ rate: '3137' })).toBe('2.0083');
    expect(pct({ rate: '3264' })).toBe('1.9608');
  });
  it('of the output counts only where it falls short', () => {
    expect(pct({ toAmount: '3187.2' })).toBeNull();
    expect(pct({ toAmount: '1' })).toBeNull();
    expect(pct({ toAmount: divide('3187.2', '0.99', 30, 'down') })).toBeNull();
    expect(pct({ toAmount: '3252.25' })).toBe('2.0002');
  });
});

describe('the way of execution', () => {
  const none = { positionUsd: '0', limitUsd: null, beyond: 'off' } as const;
  const full = { positionUsd: '1000.000000000000000001', limitUsd: '1000', beyond: 'external' } as const;
  const short = { positionUsd: '-1000.01', limitUsd: '1000', beyond: 'off' } as const;
  it('is the pair’s own setting, unless a position would grow beyond its limit', () => {
    expect(modeOf('internal', none, none)).toBe('internal');
    expect(modeOf('off', none, none)).toBe('off');
    expect(modeOf('external', short, full)).toBe('external');
    expect(modeOf('internal', full, none)).toBe('external');
    expect(modeOf('internal', none, short)).toBe('off');
    expect(modeOf('internal', full, short)).toBe('off');
    // A limit may be reached, and not passed.
    expect(modeOf('internal', { ...full, positionUsd: '1000' }, { ...short, positionUsd: '-1000' })).toBe('internal');
    // The other direction makes the position smaller.
    expect(modeOf('internal', short, full)).toBe('internal');
  });
});
