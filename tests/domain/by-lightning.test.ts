import {
  assetOf,
  assets,
  assetsOn,
  carrierOf,
  findAsset,
  isByLightning,
  payableAsset,
  payableOn,
  ratedAs,
  type NetworkId,
} from '../../domain/chains/assets';
import { currencyStatus } from '../../domain/chains/coins';
import { currencyOf } from '../../domain/conversions/ask';
import { whyNotByLightning, type NodeNow } from '../../domain/lightning/availability';
import { faultOfScenario, scenarioNames } from '../../domain/payments/scenarios';
import { quote } from '../../domain/pricing/quote';

/** Bitcoin by Lightning: an asset that rows have and no list shows, and when it can be received. */

const currency = 'BTC_LN';

it('is known to rows, and to no list and no ticker from outside', () => {
  expect(assetOf(currency)).toMatchObject({ currency, asset: 'BTC', decimals: 8, contract: null });
  expect(assets.map((one) => one.currency)).not.toContain(currency);
  expect(assetsOn(['bitcoin']).map((one) => one.currency)).toEqual(['BTC']);
  expect(findAsset(currency)).toBeUndefined();
  expect(() => currencyOf('btc_ln', 'toCurrency')).toThrow('toCurrency must be a supported currency');
});

it('is what a payment may be made in where there is a node, beside what is everywhere', () => {
  expect(payableAsset(currency, true)).toBe(assetOf(currency));
  expect(payableAsset(currency, false)).toBeUndefined();
  for (const there of [true, false]) {
    expect(payableAsset('BTC', there)).toBe(assetOf('BTC'));
    expect(payableAsset('DOGE', there)).toBeUndefined();
  }
  expect([isByLightning(currency), isByLightning('BTC')]).toEqual([true, false]);
});

it('is listed where it is offered and Bitcoin is on, under a name of its own', () => {
  const listed = (on: readonly NetworkId[], offered: boolean) => payableOn(on, offered).map((one) => one.currency);
  expect(listed(['bitcoin', 'litecoin'], true)).toEqual(['BTC', 'LTC', currency]);
  expect(listed(['bitcoin'], false)).toEqual(['BTC']);
  expect(listed(['litecoin'], true)).toEqual(['LTC']);
  expect([currency, 'BTC'].map((one) => carrierOf(assetOf(one)))).toEqual(['Lightning', 'Bitcoin']);
});

it('has the rates of bitcoin, and no network fee', () => {
  expect([currency, 'BTC', 'USDT_ERC20'].map(ratedAs)).toEqual(['BTC', 'BTC', 'USDT_ERC20']);
  const asked = { fiatAmount: '64', rate: '64000', feeBps: 40, networkFee: '0' } as const;
  expect(quote({ ...asked, currency, feeBearer: 'merchant' })).toEqual({
    ...{ amount: '0.001', commissionAmount: '0.000004', networkFeeAmount: '0', feeAmount: '0.000004' },
    netAmount: '0.000996',
  });
  expect(quote({ ...asked, currency, feeBearer: 'customer' })).toMatchObject({
    amount: '0.00100402',
    netAmount: '0.001',
  });
});

it('can be received by a node that was heard of, has the newest block, and has the room', () => {
  const node: NodeNow = { ageSeconds: 60, isSynced: true, receivable: 100_000n };
  expect(whyNotByLightning(node, 100_000n)).toBeNull();
  expect(whyNotByLightning(node, 100_001n)).toBe('too much');
  expect(whyNotByLightning({ ...node, ageSeconds: 60.1 }, 1n)).toBe('away');
  expect(whyNotByLightning({ ...node, isSynced: false }, 1n)).toBe('behind');
  expect(whyNotByLightning(null, 1n)).toBe('none');
});

it('is paid by nobody in a simulation, and the refusal says what to do', () => {
  for (const scenario of scenarioNames.filter((one) => one !== 'late'))
    expect(faultOfScenario(scenario, { status: 'WAITING', currency })).toBe(
      'Nobody pays by simulation over Lightning: pay the invoice with a wallet of the test chain',
    );
});

it('is late where the node cannot receive, and off where there was none', () => {
  const asset = assetOf(currency);
  const [watch, there] = [
    { lagSeconds: 0, isStale: false },
    { isOn: true, isPriced: true },
  ];
  const node: NodeNow = { ageSeconds: 5, isSynced: true, receivable: 1n };
  expect(currencyStatus(asset, watch, node, there)).toEqual({ status: 'active', statusMessage: null, isOpen: true });
  for (const bad of [{ ageSeconds: 61 }, { isSynced: false }, { receivable: 0n }])
    expect(currencyStatus(asset, watch, { ...node, ...bad }, there)).toMatchObject({
      status: 'delayed',
      isOpen: false,
    });
  expect(currencyStatus(asset, watch, null, there)).toMatchObject({ status: 'disabled', isOpen: false });
  const unpriced = currencyStatus(asset, watch, node, { ...there, isPriced: false });
  expect(unpriced).toMatchObject({ status: 'delayed', isOpen: false });
  // A chain whose follower is late still takes payments.
  const late = { lagSeconds: 100_000, isStale: true };
  expect(currencyStatus(assetOf('BTC'), late, null, there)).toMatchObject({ status: 'delayed', isOpen: true });
});
