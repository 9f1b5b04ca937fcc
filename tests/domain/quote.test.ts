import fc from 'fast-check';
import { assetOf, assets } from '../../domain/chains/assets';
import { add, compare, divide, fit, fromUnits, isPositive, isZero, subtract, times, toUnits } from '../../domain/money';
import {
  commissionOn,
  fiatDecimals,
  fiatValue,
  fitFiat,
  minimumAmount,
  needOf,
  quote,
  settlementCost,
  splitPaid,
  type FeeBearer,
} from '../../domain/pricing/quote';

const currency = fc.constantFrom(...assets.map((asset) => asset.currency));
const feeBps = fc.integer({ min: 1, max: 5000 });
const feeBearer = fc.constantFrom<FeeBearer>('customer', 'merchant');
/** Up to 10^30 base units, small ones as often as large ones. */
const upTo = (digits: number) =>
  fc.integer({ min: 0, max: digits }).chain((exponent) => fc.bigInt(0n, 10n ** BigInt(exponent)));
const fiat = fc
  .constantFrom(...Object.keys(fiatDecimals))
  .chain((code) => fc.bigInt(1n, 10n ** 13n).map((units) => ({ code, amount: fromUnits(units, fiatDecimals[code]!) })));
const rate = fc.tuple(fc.bigInt(1n, 10n ** 13n), fc.integer({ min: 0, max: 8 })).map(([n, d]) => fromUnits(n, d));
const input = fc.record({ currency, fiat, rate, feeBps, feeBearer, networkFee: upTo(22).map((n) => fromUnits(n, 20)) });
const asQuoteInput = ({
  fiat: { amount },
  ...rest
}: { fiat: { amount: string } } & Omit<Parameters<typeof quote>[0], 'fiatAmount'>) => ({
  ...rest,
  fiatAmount: amount,
});
const run = <T>(property: fc.IProperty<T>) => fc.assert(property, { numRuns: 1000 });
const isOf = (amount: string, decimals: number): boolean => compare(fit(amount, decimals, 'down'), amount) === 0;

describe('a quote', () => {
  it.each([
    [{ currency: 'BTC', rate: '100000', feeBearer: 'merchant' }, '0.001', '0.000004', '0.000991'],
    [{ currency: 'BTC', rate: '100000', feeBearer: 'customer' }, '0.00100904', '0.00000404', '0.001'],
    [{ currency: 'USDT_ERC20', rate: '1', feeBearer: 'merchant' }, '100', '0.4', '99.599995'],
    [{ currency: 'USDT_ERC20', rate: '1', feeBearer: 'customer' }, '100.401612', '0.401607', '100'],
  ] as const)('of 100 in %o', (given, amount, commissionAmount, netAmount) => {
    const result = quote({ ...given, fiatAmount: '100', feeBps: 40, networkFee: '0.000005' });
    expect(result).toMatchObject({ amount, commissionAmount, networkFeeAmount: '0.000005', netAmount });
  });

  it('adds up, is payable, and is never negative', () => {
    run(
      fc.property(input, (given) => {
        const { decimals, payDecimals } = assetOf(given.currency);
        const result = quote(asQuoteInput(given));
        expect(add(result.commissionAmount, result.networkFeeAmount)).toBe(result.feeAmount);
        expect(add(result.feeAmount, result.netAmount)).toBe(result.amount);
        for (const part of Object.values(result)) {
          expect(compare(part, '0')).toBeGreaterThanOrEqual(0);
          expect(isOf(part, decimals)).toBe(true);
        }
        expect(isPositive(result.amount)).toBe(true);
        expect(isOf(result.amount, payDecimals)).toBe(true);
      }),
    );
  });

  it('never asks for less than the price, nor for a step more, where the merchant bears the fee', () => {
    run(
      fc.property(input, (given) => {
        const { payDecimals } = assetOf(given.currency);
        const { amount } = quote(asQuoteInput({ ...given, feeBearer: 'merchant' }));
        expect(compare(times(amount, given.rate, 40, 'down'), given.fiat.amount)).toBeGreaterThanOrEqual(0);
        const less = subtract(amount, fromUnits(1n, payDecimals));
        expect(compare(times(less, given.rate, 40, 'down'), given.fiat.amount)).toBeLessThan(0);
      }),
    );
  });

  it('nets the whole price where the customer bears the fee, and one step less would not', () => {
    run(
      fc.property(input, (given) => {
        const { decimals, payDecimals } = assetOf(given.currency);
        const price = divide(given.fiat.amount, given.rate, decimals, 'up');
        const { amount, netAmount } = quote(asQuoteInput({ ...given, feeBearer: 'customer' }));
        expect(compare(netAmount, price)).toBeGreaterThanOrEqual(0);
        const less = subtract(amount, fromUnits(1n, payDecimals));
        expect(compare(splitPaid(less, given.currency, given.feeBps, given.networkFee).net, price)).toBeLessThan(0);
      }),
    );
  });

  it('refuses a rate of zero', () => {
    const given = { currency: 'BTC', fiatAmount: '1', rate: '0', feeBps: 40, networkFee: '0' };
    expect(() => quote({ ...given, feeBearer: 'merchant' })).toThrow('Division by zero');
  });
});

describe('what was paid', () => {
  it('is split into parts that add up and are never negative, whatever the fees', () => {
    run(
      fc.property(currency, upTo(30), feeBps, upTo(30), (ticker, paidUnits, bps, feeUnits) => {
        const { decimals } = assetOf(ticker);
        const paid = fromUnits(paidUnits, decimals);
        const parts = splitPaid(paid, ticker, bps, fromUnits(feeUnits, 20));
        expect(add(parts.commission, parts.network)).toBe(parts.fee);
        expect(add(parts.fee, parts.net)).toBe(paid);
        for (const part of Object.values(parts)) expect(compare(part, '0')).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('gives the commission that whole numbers give, rounded up', () => {
    run(
      fc.property(currency, upTo(30), fc.integer({ min: 0, max: 10_000 }), (ticker, units, bps) => {
        const { decimals } = assetOf(ticker);
        const exact = (units * BigInt(bps) + 9999n) / 10_000n;
        expect(commissionOn(fromUnits(units, decimals), bps, ticker)).toBe(fromUnits(exact, decimals));
      }),
    );
  });

  it.each([
    ['0', '0', '0', '0'],
    ['0.00000001', '0.00000001', '0', '0'],
    ['0.00000002', '0.00000001', '0.00000001', '0'],
    ['0.00001', '0.00000004', '0.00000996', '0'],
    ['1', '0.004', '0.0001', '0.9959'],
  ])('%s BTC goes to commission %s, network %s, net %s', (paid, commission, network, net) => {
    expect(splitPaid(paid, 'BTC', 40, '0.0001')).toMatchObject({ commission, network, net });
  });

  it('brings the merchant no less when more is paid', () => {
    run(
      fc.property(currency, upTo(30), upTo(20), feeBps, upTo(20), (ticker, units, more, bps, fee) => {
        const { decimals } = assetOf(ticker);
        const net = (n: bigint) => splitPaid(fromUnits(n, decimals), ticker, bps, fromUnits(fee, 18)).net;
        expect(compare(net(units + more), net(units))).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('fiat', () => {
  it('is written in its own minor units', () => {
    expect(fitFiat('1234.56', 'JPY')).toBe('1234');
    expect(fitFiat('1234.56', 'JPY', 'up')).toBe('1235');
    expect(fitFiat('1.239', 'EUR')).toBe('1.23');
    expect(fitFiat('1.231', 'USD', 'up')).toBe('1.24');
    expect(fiatValue('0.001', '15000000.9', 'JPY')).toBe('15000');
    expect(fiatValue('0.001', '15000000.9', 'JPY', 'up')).toBe('15001');
    expect(fiatValue('0.001', '99999.9', 'GBP')).toBe('99.99');
  });

  it('of a yen price is a quote like any other', () => {
    const given = { currency: 'BTC', fiatAmount: '1500', rate: '15000000', feeBps: 40, networkFee: '0' };
    expect(quote({ ...given, feeBearer: 'merchant' }).amount).toBe('0.0001');
    expect(fiatValue('0.0001', '15000000', 'JPY')).toBe('1500');
  });

  it('value of a quote where the merchant bears the fee is never below the price', () => {
    run(
      fc.property(input, (given) => {
        const { amount } = quote(asQuoteInput({ ...given, feeBearer: 'merchant' }));
        const value = fiatValue(amount, given.rate, given.fiat.code);
        expect(compare(value, given.fiat.amount)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('the least amount', () => {
  it('is payable, clear of dust, and keeps the network fee at a fifth of what is left after commission', () => {
    run(
      fc.property(currency, upTo(20), feeBps, (ticker, units, bps) => {
        const { dust, payDecimals } = assetOf(ticker);
        const networkFee = fromUnits(units, 18);
        const least = minimumAmount(ticker, networkFee, bps);
        expect(isOf(least, payDecimals)).toBe(true);
        expect(compare(least, add(dust, dust))).toBeGreaterThanOrEqual(0);
        const afterCommission = times(least, divide(String(10_000 - bps), '10000', 6, 'down'), 40, 'down');
        expect(compare(afterCommission, times(networkFee, '5', 40, 'down'))).toBeGreaterThanOrEqual(0);
        if (compare(least, add(dust, dust)) > 0) {
          const less = subtract(least, fromUnits(3n, payDecimals));
          const lessAfter = times(less, divide(String(10_000 - bps), '10000', 6, 'down'), 40, 'down');
          expect(compare(lessAfter, times(networkFee, '5', 40, 'down'))).toBeLessThan(0);
        }
        expect(isPositive(splitPaid(least, ticker, bps, networkFee).net)).toBe(true);
      }),
    );
  });

  it('is twice the dust where the network is free', () => {
    for (const { currency: ticker, dust } of assets) expect(minimumAmount(ticker, '0', 40)).toBe(add(dust, dust));
  });
});

describe('the cost of settling', () => {
  it.each([
    ['BTC', '10', 8, '1', '0.0000141'],
    ['ETH', '20000000000', 18, '1', '0.00042'],
    ['USDT_ERC20', '20000000000', 18, '3200', '6.464'],
    ['USDC_ERC20', '1', 18, '1', '0.000001'],
  ])('of %s at %s', (ticker, unitPrice, decimals, nativeRate, cost) => {
    expect(settlementCost(ticker, unitPrice, decimals, nativeRate)).toBe(cost);
  });
});

describe('the need', () => {
  it('lies between the tolerated part and the whole, never at zero', () => {
    run(
      fc.property(currency, upTo(30), fc.integer({ min: 0, max: 5000 }), (ticker, units, hundredths) => {
        fc.pre(units > 0n);
        const { decimals } = assetOf(ticker);
        const amount = fromUnits(units, decimals);
        const need = needOf(amount, fromUnits(BigInt(hundredths), 2), ticker);
        expect(isZero(need)).toBe(false);
        const exact = (units * BigInt(10_000 - hundredths) + 9999n) / 10_000n;
        expect(toUnits(need, decimals)).toBe(exact);
      }),
    );
  });
});
