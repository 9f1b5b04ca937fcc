import fc from 'fast-check';
import { assetOf, assets } from '../../domain/chains/assets';
import { add, compare, fromUnits, isPositive, subtract } from '../../domain/money';
import {
  amountOf,
  feeOfCoins,
  splitDeposits,
  splitRefund,
  viewRefund,
  type RefundRow,
} from '../../domain/refunds/refund';

const run = <T>(property: fc.IProperty<T>) => fc.assert(property, { numRuns: 200 });
const given = fc.constantFrom(...assets).chain(({ currency, decimals }) =>
  fc.record({
    currency: fc.constant(currency),
    amount: fc.bigInt(0n, 10n ** 24n).map((units) => fromUnits(units, decimals)),
    networkFee: fc.bigInt(0n, 10n ** 20n).map((units) => fromUnits(units, decimals)),
    feeBearer: fc.constantFrom('merchant' as const, 'payer' as const),
  }),
);

describe('splitRefund', () => {
  it('holds exactly what arrives and the fee, and the bearer of the fee bears it', () => {
    run(
      fc.property(given, (g) => {
        const split = splitRefund(g);
        if (!split) return;
        expect(split.gross).toBe(add(split.net, split.networkFee));
        expect(g.feeBearer === 'merchant' ? split.net : split.gross).toBe(split.amount);
        expect(compare(split.amount, g.amount)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('never sends nothing, and never dust', () => {
    run(
      fc.property(given, (g) => {
        const split = splitRefund(g);
        const net = g.feeBearer === 'merchant' ? g.amount : subtract(g.amount, g.networkFee);
        const isWorthIt = compare(net, assetOf(g.currency).dust) >= 0;
        expect(split !== null).toBe(isWorthIt);
        if (split) expect(isPositive(split.net)).toBe(true);
      }),
    );
  });

  it('cuts what is finer than the asset', () => {
    const split = splitRefund({
      currency: 'USDT_ERC20',
      amount: '5.1234569',
      networkFee: '0.0000001',
      feeBearer: 'payer',
    });
    expect(split).toEqual({ amount: '5.123456', networkFee: '0.000001', gross: '5.123456', net: '5.123455' });
  });
});

describe('splitDeposits', () => {
  it('takes all that is held, sends no more than is there, and its fee out of it', () => {
    run(
      fc.property(given, fc.bigInt(0n, 10n ** 24n), (g, units) => {
        const usable = fromUnits(units, assetOf(g.currency).decimals);
        const split = splitDeposits({ ...g, usable });
        if (!split) return;
        expect(split.gross).toBe(g.amount);
        expect(add(split.net, split.networkFee)).toBe(g.amount);
        expect(compare(add(split.net, g.networkFee), usable)).toBeLessThanOrEqual(0);
        // What is gone is part of the fee, and of the fee of this try the rest is enough.
        expect(compare(subtract(split.networkFee, split.lost), g.networkFee)).toBeGreaterThanOrEqual(0);
        expect(isPositive(split.lost)).toBe(compare(usable, g.amount) < 0);
      }),
    );
  });
});

it('a transaction with more coins costs more, one with fewer no less than usual', () => {
  expect(feeOfCoins('0.00000705', 1, 'BTC')).toBe('0.00000705');
  expect(feeOfCoins('0.00000705', 3, 'BTC')).toBe('0.0000123'); // 246 vbytes at 5
});

describe('amountOf', () => {
  const payment = { currency: 'ETH', left: '0.0125', excess: '0.0025', paidRate: '3200', currentRate: '4000' };

  it.each([
    [{ type: 'full' as const }, '0.0125'],
    [{ type: 'full' as const, rateBasis: 'paid' as const }, '0.0125'],
    [{ type: 'full' as const, rateBasis: 'current' as const }, '0.01'],
    [{ type: 'overpaid' as const }, '0.0025'],
    [{ type: 'partial' as const, amount: '0.001' }, '0.001'],
    [{ type: 'partial' as const, amount: '16', rateBasis: 'paid' as const }, '0.005'],
    [{ type: 'partial' as const, amount: '16', rateBasis: 'current' as const }, '0.004'],
    [{ type: 'partial' as const }, null],
  ])('%j is %s', (ask, amount) => expect(amountOf(ask, payment)).toBe(amount));

  it('takes an amount as it is, and refuses one that its currency does not have', () => {
    const payment = { currency: 'USDT_ERC20', left: '10', excess: '0', paidRate: '1', currentRate: '1' };
    const partial = (amount: string) => amountOf({ type: 'partial', amount }, payment);
    expect([partial('1.234567'), partial('1.2340000000')]).toEqual(['1.234567', '1.234']);
    expect(() => partial('1.2345678')).toThrow('amount must have at most 6 decimals in USDT_ERC20');
  });

  it('never refunds more than is left without being asked for an amount', () => {
    const rate = fc.integer({ min: 1, max: 10 ** 9 }).map((n) => String(n / 1000));
    run(
      fc.property(rate, rate, fc.bigInt(0n, 10n ** 20n), fc.bigInt(0n, 10n ** 20n), (paidRate, currentRate, a, b) => {
        const left = fromUnits(a, 18);
        for (const type of ['full', 'overpaid', 'underpaid'] as const)
          for (const rateBasis of [undefined, 'paid', 'current'] as const) {
            const ask = { type, ...(rateBasis ? { rateBasis } : {}) };
            const amount = amountOf(ask, { currency: 'ETH', left, excess: fromUnits(b, 18), paidRate, currentRate });
            expect(compare(amount!, left)).toBeLessThanOrEqual(0);
          }
      }),
    );
  });
});

it('shows fiat with all its minor units, and what is not there as null', () => {
  const at = new Date(0);
  const row = {
    id: 'a'.repeat(24),
    amount: '0.500000000000000000',
    network_fee: '0.1',
    net_amount: '0.5',
    fiat_amount: '10.5',
    fiat_currency: 'USD',
    currency: 'ETH',
    address: null,
    tx_id: null,
    created_at: at,
    updated_at: at,
    completed_at: null,
  } as unknown as RefundRow;
  const rest = { livemode: true, txId: null, completedAt: null };
  expect(viewRefund(row, true)).toMatchObject({ fiatAmount: '10.50', amount: '0.5', ...rest });
});
