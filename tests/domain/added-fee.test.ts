import fc from 'fast-check';
import { assetOf, baseUnits, type Currency } from '../../domain/chains/assets';
import { feeAboveQuote, gasCeiling, gasLimitOf, mostAboveQuote } from '../../domain/chains/costs';
import { add, compare, fromUnits, isPositive, subtract } from '../../domain/money';
import { addedFeesOf, leftAfter } from '../../domain/txmanager/added-fee';

/** What a receiver bears above a quote: whatever is asked for, and whatever a node says. */

const currencies: readonly Currency[] = ['ETH', 'USDT_ERC20', 'TRX', 'USDT_TRC20'];
const rows = fc.record({
  currency: fc.constantFrom(...currencies),
  gross: fc.bigInt(2n, 10n ** 13n),
  share: fc.bigInt(1n, 999n),
  gas: fc.bigInt(1n, 400_000n),
});

it('what arrives and the fee stay what was asked for, and no more is added than a signer lets pass', () => {
  fc.assert(
    fc.property(rows, ({ currency, gross: units, share, gas }) => {
      const { decimals, dust } = assetOf(currency);
      const gross = fromUnits(units, decimals);
      const fee = fromUnits((units * share) / 1000n, decimals);
      if (!isPositive(fee)) return;
      const net = subtract(gross, fee);
      const limit = gasLimitOf(currency, gas);
      const added = feeAboveQuote(currency, fee, limit);
      expect(limit).toBeLessThanOrEqual(gasCeiling(currency));
      expect(compare(added, mostAboveQuote(currency, fee))).toBeLessThanOrEqual(0);
      if (!isPositive(added)) return;
      const left = leftAfter(net, added, currency);
      if (left === null) return expect(compare(subtract(net, added), dust)).toBeLessThanOrEqual(0);
      expect(isPositive(left)).toBe(true);
      expect(compare(left, dust)).toBeGreaterThanOrEqual(0);
      expect(add(left, fee, added)).toBe(gross);
      // Whole base units of both: nothing is lost in a transaction.
      expect(baseUnits(currency, left) + baseUnits(currency, add(fee, added))).toBe(units);
      const row = { network_fee: add(fee, added), net_amount: left, added_fee: added };
      expect(addedFeesOf([row, { ...row, added_fee: null }])).toEqual([{ quoted: fee, added }]);
    }),
  );
});

it('leaves a receiver what the network carries, or says that nothing is left', () => {
  const { dust } = assetOf('ETH');
  expect(leftAfter(add(dust, '1'), '1', 'ETH')).toBe(dust);
  expect(leftAfter(add(dust, '0.9'), '1', 'ETH')).toBeNull();
  expect(leftAfter('1', '1', 'ETH')).toBeNull();
});
