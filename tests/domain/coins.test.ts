/** @jest-environment node */
import { assets, networks, type Asset, type NetworkId } from '../../domain/chains/assets';
import { coinName, networkStatus, payerFee, payerFeeFiat, sortOffers, usualSeconds } from '../../domain/chains/coins';
import { evmChain, register } from '../chain/registering';

/** What a payer compares: coins, the networks of each, their fee, their time, and whether they work. */

describe('a coin', () => {
  it.each([
    ['BTC', 'Bitcoin'],
    ['USDC', 'USD Coin'],
    ['USDT', 'Tether USD'],
    ['ETH', 'Ether'],
    ['POL', 'POL'],
  ])('%s is called %s, whatever its network', (asset, name) => expect(coinName({ asset })).toBe(name));

  it('is called alike by every asset of the registry', () => {
    for (const { asset, name } of assets) {
      const coin = coinName({ asset });
      expect([name, name === coin || name.startsWith(`${coin} (`)]).toEqual([name, true]);
    }
  });
});

describe('the fee of the payer', () => {
  const gwei = (count: number): string => String(count * 1e9);
  it.each([
    // One coin to two recipients has 141 virtual bytes.
    ['BTC', '10', '0', '0.0000141'],
    ['LTC', '2', '0', '0.00000282'],
    ['ETH', gwei(2), '0', '0.000042'],
    ['USDC_ERC20', gwei(2), '0', '0.00013'],
    ['POL', gwei(30), '0', '0.00063'],
  ])('%s at %s is one transfer', (currency, unitPrice, dataPart, fee) =>
    expect(Number(payerFee(currency, { unitPrice, dataPart }))).toBe(Number(fee)),
  );

  it('counts data on another chain once, for tokens as for the native coin', () => {
    const price = { unitPrice: '3000000', dataPart: '1000000' };
    expect(payerFee('ETH_BASE', price)).toBe('0.000000063');
    // 65,000 gas at what is offered, and the data of one transfer.
    expect(payerFee('USDC_BASE', price)).toBe('0.000000151');
  });

  it('is told in fiat down to a ten-thousandth of a cent, rounded up', () => {
    const price = { unitPrice: '3000000', dataPart: '1000000' };
    expect(payerFeeFiat('USDC_BASE', price, '3200')).toBe('0.000484');
    expect(payerFeeFiat('ETH_BASE', price, '0.000001')).toBe('0.000001');
    expect(payerFeeFiat('BTC', { unitPrice: '10', dataPart: '0' }, '64000')).toBe('0.9024');
  });
});

describe('the time of a network', () => {
  it.each([
    ['bitcoin', 2, 1200],
    ['arbitrum', 480, 120],
    ['arbitrum', 1, 1],
    ['bnb', 1, 1],
  ] as const)('%s, %i confirmations: %i seconds', (network, confirmations, seconds) =>
    expect(usualSeconds(network, confirmations)).toBe(seconds),
  );
});

describe('the status of a network', () => {
  const fine = { isOn: true, isPriced: true };
  const current = { lagSeconds: 5, isStale: false };
  const statusOf = (...args: Parameters<typeof networkStatus>): string => networkStatus(...args).status;

  it('is active where payments are noticed in time and priced', () =>
    expect(networkStatus('base', current, fine)).toEqual({ status: 'active', statusMessage: null }));

  it('is delayed where the scan is behind by more than a block and two minutes, or the node stands still', () => {
    for (const network of ['bitcoin', 'base'] as const) {
      const most = 120 + networks[network].blockSeconds;
      expect(statusOf(network, { ...current, lagSeconds: most }, fine)).toBe('active');
      expect(statusOf(network, { ...current, lagSeconds: most + 1 }, fine)).toBe('delayed');
    }
    expect(networkStatus('base', { ...current, isStale: true }, fine)).toEqual({
      status: 'delayed',
      statusMessage: 'Payments are noticed late at the moment',
    });
  });

  it('is delayed without a price', () =>
    expect(networkStatus('base', current, { isOn: true, isPriced: false })).toEqual({
      status: 'delayed',
      statusMessage: 'No current price; new payments have to wait',
    }));

  it('is disabled where it is off or was never scanned', () => {
    expect(statusOf('base', current, { ...fine, isOn: false })).toBe('disabled');
    expect(statusOf('base', { lagSeconds: null, isStale: false }, fine)).toBe('disabled');
  });
});

describe('a list of offers', () => {
  const offer = (currency: string, fee: string | null, isOpen = true) => ({
    currency,
    asset: assets.find((one) => one.currency === currency)!.asset,
    isOpen,
    payerFee: fee,
  });
  const sorted = (...offers: Array<ReturnType<typeof offer>>): string[] =>
    sortOffers(offers).map(({ currency }) => currency);

  it('has the coins of the registry in its order, each with its cheapest network first', () =>
    expect(
      sorted(
        offer('USDC_ERC20', '0.5'),
        offer('LTC', '0.01'),
        offer('USDC_BASE', '0.01'),
        offer('BTC', '1'),
        offer('USDC_POLYGON', '0.002'),
        offer('ETH_BASE', '0.02'),
        offer('ETH', '0.1'),
      ),
    ).toEqual(['BTC', 'ETH_BASE', 'ETH', 'USDC_POLYGON', 'USDC_BASE', 'USDC_ERC20', 'LTC']));

  it('has last what cannot be paid on now, before that what has no known fee', () =>
    expect(
      sorted(
        offer('USDC_BASE', '0.01', false),
        offer('USDC_OPTIMISM', null),
        offer('USDC_ARBITRUM', null, false),
        offer('USDC_ERC20', '0.5'),
      ),
    ).toEqual(['USDC_ERC20', 'USDC_OPTIMISM', 'USDC_BASE', 'USDC_ARBITRUM']));

  it('keeps the order of the registry between equal fees', () =>
    expect(sorted(offer('USDC_ERC20', '0'), offer('USDT_ERC20', '0'), offer('USDC_BASE', '0.0'))).toEqual([
      'USDT_ERC20',
      'USDC_ERC20',
      'USDC_BASE',
    ]));

  it('is by the coin where a network has been added to the registry', () => {
    const token = { ...evmChain.assets[1], asset: 'USDC', currency: 'USDC_OTHER' } as Asset;
    const leave = register([token], evmChain.network);
    try {
      expect(sorted(offer('LTC', '1'), offer('USDC_OTHER', '1'), offer('USDC_BASE', '2'))).toEqual([
        'USDC_OTHER',
        'USDC_BASE',
        'LTC',
      ]);
      expect(usualSeconds('otherchain' as NetworkId, 20)).toBe(40);
    } finally {
      leave();
    }
  });
});
