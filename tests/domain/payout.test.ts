import fc from 'fast-check';
import { assetOf, networkOf, assets } from '../../domain/chains/assets';
import { add, compare, Decimal, fit, fromUnits, isPositive, subtract, times } from '../../domain/money';
import {
  batchStatusOf,
  lightningReceiver,
  validateBatch,
  lineStatuses,
  payoutFee,
  type LineCounts,
  type PayoutTerms,
} from '../../domain/payouts/payout';

const run = <T>(property: fc.IProperty<T>) => fc.assert(property, { numRuns: 200 });
const terms = (over: Partial<PayoutTerms> = {}): PayoutTerms => ({
  byLightning: false,
  priceOf: (currency) => ({
    unitPrice: networkOf(currency).kind === 'utxo' ? '5' : '2000000000',
    nativeRate: assetOf(currency).stable ? '3200.5' : '1',
  }),
  normalise: (_asset, address) => (address === 'nowhere' ? null : address.toLowerCase()),
  receiverOf: (_asset, given) => given,
  refusalOf: () => null,
  isListed: (_currency, address) => address !== 'stranger',
  balances: {},
  coins: {},
  ...over,
});
const price = fc.record({
  unitPrice: fc.integer({ min: 1, max: 10 ** 12 }).map(String),
  nativeRate: fc.bigInt(1n, 10n ** 24n).map((units) => fromUnits(units, 18)),
});
const row = fc
  .record({
    asset: fc.constantFrom(...assets),
    units: fc.bigInt(0n, 10n ** 26n),
    address: fc.constantFrom('a', 'B', 'c'),
  })
  .map(({ asset, units, address }) => ({ currency: asset.currency, address, amount: fromUnits(units, 20) }));
const rows = fc.array(row, { minLength: 1, maxLength: 40 });

describe('payoutFee', () => {
  it('is less together than alone, and never less than what each one adds', () => {
    run(
      fc.property(fc.constantFrom(...assets), fc.integer({ min: 1, max: 500 }), price, (asset, count, p) => {
        const fee = payoutFee(asset.currency, count, p);
        expect(compare(fee, fit(fee, asset.decimals, 'down'))).toBe(0);
        expect(isPositive(fee)).toBe(true);
        const alone = payoutFee(asset.currency, 1, p);
        expect(compare(fee, alone)).toBeLessThanOrEqual(0);
        // All of them pay what they cost: never less than what each adds.
        const network = networkOf(asset.currency);
        const ofToken = asset.contract !== null;
        const usual =
          network.kind === 'account' && network.expiring ? network.work : { native: 21_000n, token: 65_000n };
        const each = network.kind === 'utxo' ? 31n : ofToken ? usual.token : usual.native;
        const native = assetOf(network.native).decimals;
        const cost = times(
          fromUnits(each * BigInt(p.unitPrice), native),
          asset.contract ? p.nativeRate : '1',
          60,
          'down',
        );
        expect(compare(fee, cost)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('of one is the fee of the usual transaction', () => {
    expect(payoutFee('BTC', 1, { unitPrice: '5', nativeRate: '1' })).toBe('0.00000705');
    expect(payoutFee('ETH', 500, { unitPrice: '2000000000', nativeRate: '1' })).toBe('0.000042');
    expect(payoutFee('USDT_ERC20', 1, { unitPrice: '2000000000', nativeRate: '3200' })).toBe('0.5504');
    expect(payoutFee('USDT_ERC20', 21, { unitPrice: '2000000000', nativeRate: '3200' })).toBe('0.4224');
  });
});

describe('validateBatch', () => {
  it('rounds amounts down and fees up, and what arrives is the rest', () => {
    run(
      fc.property(rows, (all) => {
        const validated = validateBatch(all, terms());
        expect(validated.rows.map((one) => one.rowIndex)).toEqual(all.map((_, index) => index));
        for (const line of validated.lines) {
          const { decimals, dust } = assetOf(line.currency);
          const asked = all[line.rowIndex]!.amount;
          expect(add(line.net, line.networkFee)).toBe(line.amount);
          expect(compare(line.amount, asked)).toBeLessThanOrEqual(0);
          expect(compare(subtract(asked, line.amount), fromUnits(1n, decimals))).toBe(-1);
          expect(compare(line.net, dust)).toBeGreaterThanOrEqual(0);
          expect(new Decimal(line.net).decimalPlaces()).toBeLessThanOrEqual(decimals);
        }
      }),
    );
  });

  it('adds up to the last digit, and says which balances do not cover it', () => {
    run(
      fc.property(rows, fc.bigInt(0n, 10n ** 26n), (all, units) => {
        const balance = fromUnits(units, 18);
        const held = assets.filter(({ currency }) => currency !== 'USDC_ERC20');
        const balances = Object.fromEntries(held.map(({ currency }) => [currency, balance]));
        const validated = validateBatch(all, terms({ balances }));
        const known = new Set(validated.lines.map((line) => line.currency));
        expect(new Set(Object.keys(validated.totalsByCurrency))).toEqual(known);
        for (const currency of known) {
          const own = validated.lines.filter((line) => line.currency === currency);
          expect(validated.totalsByCurrency[currency]).toBe(add('0', ...own.map((line) => line.amount)));
          expect(validated.feeByCurrency[currency]).toBe(add('0', ...own.map((line) => line.networkFee)));
          const has = currency === 'USDC_ERC20' ? '0' : balance;
          expect(validated.balanceByCurrency[currency]).toBe(has);
          expect(validated.overBalanceCurrencies.includes(currency)).toBe(
            compare(validated.totalsByCurrency[currency]!, has) > 0,
          );
        }
        const isWhole = validated.lines.length === all.length;
        expect(validated.reasons.length === 0).toBe(isWhole && validated.overBalanceCurrencies.length === 0);
      }),
    );
  });

  it.each<[string, Partial<{ currency: string; address: string; amount: string; destinationTag: string }>, string]>([
    ['a currency that is none', { currency: 'DOGE' }, 'Unsupported currency'],
    ['an address that is none', { address: 'nowhere' }, 'Not an address'],
    ['an address that is not listed', { address: 'stranger' }, 'not on the withdrawal whitelist for ETH'],
    ['a tag where there are none', { destinationTag: '7' }, 'no destination tags'],
    ...['1e3', '0x10', '-1', '', '1,5', '١', '.5', '1e400'].map((amount): [string, { amount: string }, string] => [
      `the amount "${amount}"`,
      { amount },
      'not a decimal number',
    ]),
    ...[' 0.5', '0.5 ', '\t0.5', '0.5\n'].map((amount): [string, { amount: string }, string] => [
      `E: blanks around an amount: ${JSON.stringify(amount)}`,
      { amount },
      'amount has blanks around it',
    ]),
    ['nothing', { amount: '0.0' }, 'too small'],
    ['less than a unit', { amount: '0.0000000000000000009' }, 'too small'],
    ['less than the fee', { amount: '0.00004' }, 'After the network fee of 0.000042 less than'],
    ['less than dust after the fee', { amount: '0.00005' }, 'After the network fee of 0.000042 less than'],
  ])('refuses %s', (_what, change, reason) => {
    const good = { currency: 'eth', address: 'A ', amount: '0.5' };
    const validated = validateBatch([good, { ...good, ...change }], terms({ balances: { ETH: '5' } }));
    expect(validated.rows[0]).toMatchObject({ currency: 'ETH', address: 'a', amount: '0.5', error: null });
    expect(validated.rows[1]!.error).toContain(reason);
    expect([validated.reasons.map(({ code }) => code), validated.lines.length]).toEqual([['INVALID_ROWS'], 1]);
  });

  it('takes no more than 500 rows, and not none', () => {
    const one = { currency: 'ETH', address: 'a', amount: '1' };
    const all = terms({ balances: { ETH: '1000' } });
    expect(validateBatch([], all).reasons).toMatchObject([{ code: 'NO_ROWS' }]);
    expect(validateBatch(Array(500).fill(one), all).reasons).toEqual([]);
    expect(validateBatch(Array(501).fill(one), all).reasons).toMatchObject([{ code: 'TOO_MANY_ROWS' }]);
  });

  describe('by Lightning', () => {
    const rowOf = (amount: string) => ({ currency: 'btc_ln', address: 'me@wallet.example', amount });
    const on = terms({ byLightning: true, balances: { BTC_LN: '1' }, priceOf: () => undefined });

    it('takes of each row what its way may take, whatever a network costs', () => {
      const validated = validateBatch([rowOf('0.01'), rowOf('0.00001'), rowOf('0.123456789')], on);
      expect(validated.lines).toMatchObject([
        { currency: 'BTC_LN', amount: '0.01', networkFee: '0.00005', net: '0.00995' },
        { amount: '0.00001', networkFee: '0.0000001', net: '0.0000099' },
        { amount: '0.12345678', networkFee: '0.00061729', net: '0.12283949' },
      ]);
      expect(validated).toMatchObject({
        ...{ totalsByCurrency: { BTC_LN: '0.13346678' }, feeByCurrency: { BTC_LN: '0.00066739' }, reasons: [] },
      });
    });

    it.each([
      ['dust', rowOf('0.000001'), 'After the network fee of 0.0000001 less than 0.000001 is left'],
      ['a tag', { ...rowOf('0.01'), destinationTag: '7' }, 'BTC_LN has no destination tags'],
    ])('refuses %s', (_what, row, why) => {
      expect(validateBatch([row], on).rows[0]!.error).toBe(why);
    });

    it('is unknown where money does not leave so', () => {
      expect(validateBatch([rowOf('0.01')], { ...on, byLightning: false }).rows[0]!.error).toMatch(/^Unsupported/);
    });

    it.each(['lnbc1invoice', `02${'a'.repeat(64)}`, `02${'a'.repeat(64)}@host.example:9735`, 'me@host', ''])(
      'reads no address in %j',
      (address) => {
        expect(lightningReceiver({ address })).toMatch(/pays Lightning addresses/);
      },
    );

    it('reads addresses in lower case', () => {
      expect(lightningReceiver({ address: ' Me@Wallet.Example ' })).toEqual({ address: 'me@wallet.example' });
    });
  });

  it('refuses what nobody can price now', () => {
    const validated = validateBatch(
      [{ currency: 'ETH', address: 'a', amount: '1' }],
      terms({ priceOf: () => undefined }),
    );
    expect(validated.rows[0]!.error).toContain('cannot be priced');
  });
});

describe('batchStatusOf', () => {
  const counts = (given: Partial<LineCounts>): LineCounts =>
    ({ ...Object.fromEntries(lineStatuses.map((status) => [status, 0])), ...given }) as LineCounts;
  it.each<[Partial<LineCounts>, string]>([
    [{ pending: 3 }, 'queued'],
    [{ pending: 2, processing: 1 }, 'processing'],
    [{ pending: 2, refunded: 1, broadcast: 1 }, 'processing'],
    [{ broadcast: 1, completed: 5 }, 'processing'],
    [{ completed: 5 }, 'completed'],
    [{ completed: 5, failed: 1 }, 'partially_completed'],
    [{ completed: 5, refunded: 1 }, 'partially_completed'],
    [{ failed: 2 }, 'failed'],
    [{ refunded: 2 }, 'cancelled'],
    [{ refunded: 2, failed: 1 }, 'cancelled'],
  ])('%j: %s', (given, status) => {
    expect(batchStatusOf(counts(given))).toBe(status);
  });
});
