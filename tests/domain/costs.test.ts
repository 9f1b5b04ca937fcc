/** @jest-environment node */
import {
  accountOf,
  feeAboveQuote,
  mostAboveQuote,
  gasCeiling,
  gasFor,
  gasLimitOf,
  workOfTransfer,
  evmOf,
  nativeCost,
  outgoingWork,
  settlementWork,
  sweepWork,
  utxoOf,
  workOf,
} from '../../domain/chains/costs';
import type { Asset, Network, NetworkId } from '../../domain/chains/assets';
import { payerFee } from '../../domain/chains/coins';
import { payoutFee } from '../../domain/payouts/payout';
import { settlementCost } from '../../domain/pricing/quote';
import { feeOfCoins } from '../../domain/refunds/refund';
import { sweepCost, tokenFee } from '../../domain/sweeps/sweep';
import { coinFee } from '../../domain/sweeps/sweep-batch';
import { chooseCoins, coinsToJoin } from '../../domain/treasury/treasury';
import { feeLimits, priceCap } from '../../domain/txmanager/fee-limits';
import { xrplNetwork } from '../chain/expiring-networks';
import { evmChain, otherCoin, register } from '../chain/registering';

/** What planned transfers cost, on the networks of the registry and on others with parameters of their own. */

const large = {
  network: {
    ...otherCoin.network,
    id: 'large' as NetworkId,
    native: 'LRG',
    sizes: { base: 20, input: 150, output: 40 },
  } satisfies Network,
  assets: [{ ...otherCoin.assets[0]!, currency: 'LRG', network: 'large' as NetworkId }] as Asset[],
};
const token: Asset = { ...evmChain.assets[1], contract: '0x0000000000000000000000000000000000000001' };
let leave: Array<() => void> = [];

beforeAll(() => {
  leave = [register(large.assets, large.network), register([evmChain.assets[0], token], evmChain.network)];
});
afterAll(() => leave.forEach((one) => one()));

describe('the work of planned transfers', () => {
  it.each([
    ['BTC', 1, 2, 141n],
    ['BTC', 3, 1, 246n],
    ['LRG', 1, 2, 250n],
    ['LRG', 3, 1, 510n],
    ['ETH', 1, 2, 42_000n],
    ['OTH', 1, 2, 46_000n],
    ['USDT_ERC20', 1, 2, 151_000n],
    ['USDT_OTHER', 1, 2, 263_000n],
    ['XRP', 1, 2, 2n],
    ['TRX', 1, 2, 7000n],
    ['USDT_TRC20', 1, 2, 165_500n],
  ])('of %s from %i to %i is %s', (currency, inputs, outputs, work) => {
    expect(workOf({ currency, inputs, outputs })).toBe(work);
  });

  it.each([
    ['BTC', 141n, 178n, 141n, 172n],
    ['LRG', 250n, 360n, 250n, 290n],
    ['ETH', 21_000n, 42_000n, 21_000n, 42_000n],
    ['OTH', 23_000n, 46_000n, 23_000n, 46_000n],
    ['USDT_ERC20', 101_000n, 172_000n, 86_000n, 151_000n],
    ['USDT_OTHER', 150_000n, 286_000n, 143_000n, 263_000n],
  ])('of %s: a settlement, a sweep of two, one payout, two', (currency, settled, swept, one, two) => {
    expect([
      settlementWork(currency),
      sweepWork(currency, 2),
      outgoingWork(currency, 1),
      outgoingWork(currency, 2),
    ]).toEqual([settled, swept, one, two]);
  });

  it('is asked of the right family', () => {
    expect(() => evmOf('BTC')).toThrow('no EVM network');
    expect(() => evmOf('XRP')).toThrow('no EVM network');
    expect(() => accountOf('BTC')).toThrow('no account chain');
    expect(() => utxoOf('ETH')).toThrow('no UTXO network');
    expect(workOfTransfer('OTH')).toBe(23_000n);
    expect(workOfTransfer('USDT_OTHER')).toBe(120_000n);
    expect(nativeCost('BTC', '1.5', 141n)).toBe('0.00000212');
  });
});

describe('what business code asks', () => {
  const price = { unitPrice: '10', nativeRate: '1' };

  it('follows the parameters of a UTXO network', () => {
    expect(payoutFee('LRG', 1, price)).toBe('0.000025');
    expect(settlementCost('LRG', '10', 8, '1')).toBe('0.000025');
    expect(sweepCost('LRG', 1, '10', '1')).toBe('0.000021');
    expect(feeOfCoins('0.000025', 3, 'LRG')).toBe('0.000051');
    const one = { paymentId: 'p', inputs: 1, nativeRate: '1', broughtUnits: 1n, netUnits: null, isDue: false };
    expect(coinFee('LRG', '10')([one])(one)).toBe(2101n);
    const coins = [5_000n, 9_000n].map((units, index) => ({ id: String(index), units }));
    // Both coins and their fee: 20 + 2 × 150 + 2 × 40 virtual bytes at 10.
    expect(chooseCoins(coins, 10_000n, 10n, large.network)).toHaveLength(2);
    expect(chooseCoins(coins, 10_001n, 10n, large.network)).toBeNull();
  });

  it('joins coins by what is small and cheap on their network', () => {
    const coins = Array.from({ length: 60 }, (_, index) => ({ id: String(index), units: 9_000_000n }));
    expect(coinsToJoin(coins, 20n, large.network)).toHaveLength(60);
    expect(coinsToJoin(coins, 21n, large.network)).toHaveLength(0);
    expect(coinsToJoin(coins, 5n, utxoOf('BTC'))).toHaveLength(0); // no small coins there
    // 150 virtual bytes at 20, twice: a coin of 6,000 is hardly worth its own input.
    const worthless = coins.map((coin) => ({ ...coin, units: 6_000n }));
    expect(coinsToJoin(worthless, 20n, large.network)).toHaveLength(0);
    expect(coinsToJoin(worthless, 19n, large.network)).toHaveLength(60);
  });

  it('follows the parameters of an EVM chain', () => {
    const gwei = { unitPrice: '1000000000', nativeRate: '2' };
    expect(payoutFee('OTH', 5, gwei)).toBe('0.000023');
    expect(payoutFee('USDT_OTHER', 1, gwei)).toBe('0.000286');
    expect(sweepCost('USDT_OTHER', 2, '1000000000', '2')).toBe('0.000572');
    expect(gasFor(evmOf('OTH'), '10', 3)).toEqual({ units: String(20 * 120_000 * 3), maxUnitPrice: '20' });
    const one = { paymentId: 'p', inputs: 1, nativeRate: '2', broughtUnits: 1n, netUnits: null, isDue: false };
    // 80,000 / 2 + 50,000 gas.
    expect(tokenFee('USDT_OTHER', '1000000000')([one, one])(one)).toBe(180n);
  });

  it('follows the fee of a payment, where that is all there is', () => {
    const drops = { unitPrice: '12', nativeRate: '1' };
    expect(payoutFee('XRP', 5, drops)).toBe('0.000012');
    expect(settlementCost('XRP', '12', 6, '1')).toBe('0.000012');
    expect(payerFee('XRP', { unitPrice: '12', dataPart: '0' })).toBe('0.000012');
    // The cap: four times the fee, 5,000 drops on a quiet day, and never more than the network's own bound.
    expect(feeLimits(xrplNetwork.id, '12', 1n)).toEqual({ maxUnitPrice: '5000', feeBudget: '6250' });
    expect(priceCap(xrplNetwork.id, '2000')).toBe('8000');
    expect(priceCap(xrplNetwork.id, '50000')).toBe('100000');
    expect(gasLimitOf('XRP', 1n)).toBe(1n);
    expect(feeAboveQuote('XRP', '0.000012', 1n)).toBe('0');
  });

  it('follows energy, and what makes an account is charged above the quote', () => {
    const sun = { unitPrice: '100', nativeRate: '0.25' };
    expect(payoutFee('TRX', 1, sun)).toBe('0.35');
    expect(payoutFee('USDT_TRC20', 1, sun)).toBe('2.1125');
    expect(sweepCost('USDT_TRC20', 1, '100', '0.25')).toBe('2.1125');
    // One top-up pays for what the transfer burns, and a fiftieth more.
    expect(gasFor(accountOf('TRX'), '100', 1)).toEqual({ units: String(102 * 81_000), maxUnitPrice: '102' });
    // 12,000 energy are what an account costs: its node's estimate is signed as it is.
    expect(gasLimitOf('TRX', 12_000n)).toBe(12_000n);
    expect(feeAboveQuote('TRX', '0.35', 12_000n)).toBe('0.85');
    expect(mostAboveQuote('TRX', '0.35')).toBe('1.25');
    expect(mostAboveQuote('BTC', '0.35')).toBe('0');
    expect(gasLimitOf('USDT_TRC20', 300_001n)).toBe(gasCeiling('USDT_TRC20'));
  });
});
