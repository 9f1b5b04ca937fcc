import type { ExternalConversions } from '../../commands/conversions/provider-quote';
import { startHarness, type Harness } from './harness';

/** Coins that several networks carry, as payers and merchants are offered them. */

/** All but one. */
const networks = 'bitcoin,ethereum,litecoin,polygon,base,optimism,arbitrum';
let h: Harness;
beforeAll(async () => {
  h = await startHarness({ NETWORKS: networks, LTC_NETWORK: 'regtest' });
  // In gwei; of Base half of it is kept for data.
  const prices = { ethereum: [20, 0], polygon: [40, 0], base: [0.02, 0.01], optimism: [0.03, 0], arbitrum: [0.02, 0] };
  for (const [network, [unitPrice, dataPart]] of Object.entries(prices))
    await h.db.query('UPDATE network_fee SET unit_price = $2, data_part = $3 WHERE network = $1', [
      network,
      unitPrice! * 1e9,
      dataPart! * 1e9,
    ]);
});
afterAll(() => h?.stop());

type Listed = Readonly<{ currency: string; asset: string; status: string; payin: boolean; payerFeeUsd: number | null }>;
const listed = async (): Promise<Listed[]> => (await h.call('GET', '/api/v1/currencies')).body.data;
const inOrder = (items: readonly Readonly<{ currency: string }>[]): string[] => items.map(({ currency }) => currency);

const usdc = ['USDC_BASE', 'USDC_OPTIMISM', 'USDC_ARBITRUM', 'USDC_POLYGON', 'USDC_ERC20'];
const ether = ['ETH_BASE', 'ETH_OPTIMISM', 'ETH_ARBITRUM', 'ETH'];

describe('coins of several networks', () => {
  it('are listed coin by coin, the cheapest network of each first', async () => {
    const items = await listed();
    expect([...new Set(items.map(({ asset }) => asset))]).toEqual([...['BTC', 'ETH', 'USDT', 'USDC', 'LTC', 'POL']]);
    const of = (asset: string) => items.filter((one) => one.asset === asset);
    expect(inOrder(of('ETH'))).toEqual(ether);
    const [cheapest] = of('USDC');
    // 65,000 gas at 0.01 gwei and the data of 21,000 gas at as much; an ether of that network costs 80 here.
    expect(cheapest).toMatchObject({ currency: 'USDC_BASE', payerFeeUsd: 0.000_069 });
    const fees = of('USDC').map(({ payerFeeUsd }) => payerFeeUsd!);
    expect(fees).toEqual([...fees].sort((a, b) => a - b));
  });

  it('are offered to a payer in the same order, what cannot be chosen last', async () => {
    const shop = await h.shop({}, [...usdc, ...ether]);
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 500 } });
    const path = `/invoice/${made.body.invoiceUrl.split('/').pop()}`;
    const items = async () => (await h.call('GET', `${path}/currencies`)).body.items;
    const offered: Listed[] = await items();
    expect(inOrder(offered)).toEqual(
      (await listed()).map(({ currency }) => currency).filter((one) => [...usdc, ...ether].includes(one)),
    );
    expect(inOrder(offered).slice(0, 4)).toEqual(ether);
    await h.db.query("DELETE FROM chain_cursor WHERE network = 'base'");
    const [first, , , last] = await items();
    expect(first).toMatchObject({ currency: 'ETH_OPTIMISM', available: true });
    expect(last).toMatchObject({
      currency: 'ETH_BASE',
      ...{ available: false, reason: 'TEMPORARILY_UNAVAILABLE', status: 'disabled' },
      statusMessage: 'This network is not watched at the moment',
    });
    expect((await listed()).filter(({ status }) => status === 'disabled')).toMatchObject([
      { currency: 'ETH_BASE', payin: false },
      { currency: 'USDC_BASE', payin: false },
    ]);
    await h.setRates();
  });
});

describe('a network that was switched off', () => {
  it('says so to payers of a merchant who takes it, and cannot be chosen', async () => {
    const shop = await h.shop({}, ['BTC', 'POL']);
    await h.db.query("UPDATE merchant_wallet SET currency = 'BNB' WHERE currency = 'POL'");
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 500 } });
    const path = `/invoice/${made.body.invoiceUrl.split('/').pop()}`;
    const { items } = (await h.call('GET', `${path}/currencies`)).body;
    expect(items[1]).toMatchObject({ currency: 'BNB', status: 'disabled', available: false, payerFeeFiat: null });
    const refused = await h.call('POST', `${path}/select-currency`, { body: { currency: 'BNB' } });
    expect([refused.status, refused.body]).toEqual([400, { error: 'Payment not found or currency cannot be changed' }]);
    expect(inOrder(await listed())).not.toContain('BNB');
  });
});

describe('a conversion of a coin to another network', () => {
  const quoted = async (key: string, what: string, pair: Record<string, string>) =>
    (await h.call('GET', `/api/v1/conversions/${what}?${new URLSearchParams(pair).toString()}`, { key })).body;

  it('is at par, less its cost', async () => {
    const { key } = await h.shop();
    const pair = { fromCurrency: 'USDC_BASE', toCurrency: 'USDC_POLYGON', fromAmount: '100' };
    const body = await quoted(key, 'quote', pair);
    expect(body).toMatchObject({ exchangeRate: 1, commissionAmount: 0.4, netFromAmount: 99.6, toAmountStr: '99.6' });
  });

  it('comes first among the cheaper targets', async () => {
    const { key } = await h.shop();
    const deps = h.api.deps as { external?: ExternalConversions };
    const own = deps.external;
    deps.external = {
      quote: async () => ({ providerFee: '0', toAmount: '3000', priceProtectionPct: '0.5', estimatedSeconds: null }),
    };
    const add =
      "INSERT INTO conversion_pair (from_currency, to_currency, mode) VALUES ('ETH', 'USDC_ERC20', 'external')";
    await h.db.query(add);
    try {
      const pair = { fromCurrency: 'ETH', toCurrency: 'USDC_ERC20', fromAmount: '1' };
      const { targets } = (await quoted(key, 'cheaper-targets', pair)) as { targets: Array<{ toCurrency: string }> };
      const found = targets.map(({ toCurrency }) => toCurrency);
      expect(found.slice(0, 4).sort()).toEqual(usdc.filter((one) => one !== 'USDC_ERC20').sort());
      expect(found).toEqual(expect.arrayContaining(['BTC', 'USDT_ERC20']));
    } finally {
      deps.external = own;
      await h.db.query('DELETE FROM conversion_pair');
    }
  });
});
