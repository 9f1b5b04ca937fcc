import { exchangeClient, exchangeSource, type TickerClient } from '../../activities/pricing/exchanges';
import { medianOfTicks } from '../../activities/pricing/oracle';
import { assets } from '../../domain/chains/assets';

const at = Date.UTC(2026, 2, 1, 12);
type Said = Record<string, { last?: unknown; timestamp?: number }>;

/** An exchange that has these markets, and says this of them. */
function exchange(said: Said, over: { markets?: string[]; fail?: 'loadMarkets' | 'fetchTickers' } = {}) {
  const asked: string[][] = [];
  const client = {
    id: 'small',
    markets: undefined as unknown,
    async loadMarkets() {
      if (over.fail === 'loadMarkets') throw new Error('Maintenance');
      client.markets = Object.fromEntries((over.markets ?? Object.keys(said)).map((symbol) => [symbol, { symbol }]));
    },
    async fetchTickers(symbols: string[]) {
      asked.push(symbols);
      if (over.fail === 'fetchTickers') throw new Error('Too many requests');
      return said;
    },
  };
  return { asked, source: exchangeSource(client as unknown as TickerClient) };
}
const last = (price: unknown, timestamp = at) => ({ last: price, timestamp });
async function values(said: Said): Promise<Record<string, string>> {
  const ticks = await exchange(said).source.read();
  return Object.fromEntries(ticks.map((tick) => [`${tick.currency}/${tick.fiat}`, tick.value]));
}

it('says who it is, and gives prices as decimal strings with their time', async () => {
  const { source } = exchange({ 'BTC/USD': last(60_000.5) });
  expect(source.name).toBe('small');
  expect(await source.read()).toEqual([
    { source: 'small', currency: 'BTC', fiat: 'USD', value: '60000.5', takenAt: new Date(at) },
  ]);
});

it('prices each asset by the market of its coin', async () => {
  const coins = [...new Set(assets.map(({ asset }) => asset))];
  const priceOf = (asset: string): number => coins.indexOf(asset) + 1;
  const said = Object.fromEntries(coins.map((coin) => [`${coin}/USD`, last(priceOf(coin))]));
  expect(await values(said)).toEqual(
    Object.fromEntries(assets.map(({ currency, asset }) => [`${currency}/USD`, String(priceOf(asset))])),
  );
});

it('asks for the markets that exist, and no others', async () => {
  const { asked, source } = exchange(
    { 'BTC/USD': last(60_000), 'EUR/USD': last(1.25), 'DOGE/USD': last(0.1), 'BTC/DOGE': last(600_000) },
    { markets: ['BTC/USD', 'EUR/USD', 'DOGE/USD', 'BTC/DOGE'] },
  );
  const ticks = await source.read();
  expect(asked.map((symbols) => [...symbols].sort())).toEqual([['BTC/USD', 'EUR/USD']]);
  expect(ticks.map((tick) => tick.currency)).toEqual(['BTC', 'BTC']);
});

describe('a price in another fiat', () => {
  it('is the one of its own market, where there is one', async () => {
    expect(
      await values({
        'BTC/USD': last(60_000),
        'BTC/EUR': last(50_000),
        'EUR/USD': last(1.25),
        'BTC/JPY': last(9_000_001),
      }),
    ).toEqual({ 'BTC/USD': '60000', 'BTC/EUR': '50000', 'BTC/JPY': '9000001' });
  });

  it('is else crossed with the price of that fiat in dollars, or of dollars in it', async () => {
    expect(await values({ 'LTC/USD': last(3000), 'EUR/USD': last(1.25), 'USD/JPY': last(150.5) })).toEqual({
      'LTC/USD': '3000',
      'LTC/EUR': '2400',
      'LTC/JPY': '451500',
    });
  });

  it('is crossed in decimals, rounded down', async () => {
    const crossed = await values({
      'BTC/USD': last(100),
      'EUR/USD': last(3),
      'USD/JPY': last(0.1),
      'GBP/USD': last(7),
    });
    expect(crossed).toEqual({
      'BTC/USD': '100',
      'BTC/EUR': '33.333333333333333333',
      'BTC/GBP': '14.285714285714285714',
      'BTC/JPY': '10',
    });
  });

  it('is as old as the older of its two prices', async () => {
    const minute = 60_000;
    const ticks = await exchange({
      'BTC/USD': last(100, at),
      'EUR/USD': last(1.25, at - minute),
      'USD/JPY': last(150, at + minute),
    }).source.read();
    expect(ticks.map((tick) => [tick.fiat, tick.takenAt.getTime() - at])).toEqual([
      ['USD', 0],
      ['EUR', -minute],
      ['JPY', 0],
    ]);
  });

  it('is missing without a way to it', async () => {
    expect(await values({ 'BTC/USD': last(100), 'EUR/JPY': last(160) })).toEqual({ 'BTC/USD': '100' });
    expect(await values({ 'BTC/EUR': last(100), 'EUR/USD': last(1.25) })).toEqual({ 'BTC/EUR': '100' });
    expect(await values({ 'EUR/USD': last(1.25), 'USD/JPY': last(150) })).toEqual({});
  });
});

it('leaves out what is no price, there and where it is crossed', async () => {
  for (const wrong of [undefined, null, 0, -1, NaN, Infinity, '60000', '', {}, [60_000]]) {
    expect(await values({ 'BTC/USD': last(wrong), 'EUR/USD': last(1.25) })).toEqual({});
    expect(await values({ 'BTC/USD': last(100), 'EUR/USD': last(wrong) })).toEqual({ 'BTC/USD': '100' });
  }
  expect(await values({ 'BTC/USD': {}, 'LTC/USD': last(1) })).toEqual({ 'LTC/USD': '1' });
});

it('writes very large and very small prices out', async () => {
  expect(await values({ 'BTC/USD': last(1e21), 'LTC/USD': last(1e-7), 'USDT/USD': last(0.1 + 0.2) })).toEqual({
    'BTC/USD': '1000000000000000000000',
    'LTC/USD': '0.0000001',
    'USDT_ERC20/USD': '0.30000000000000004',
    'USDT_TRC20/USD': '0.30000000000000004',
  });
});

it('takes a price without a time as one of now', async () => {
  const before = Date.now();
  const [tick] = await exchange({ 'BTC/USD': { last: 1 } }).source.read();
  expect(tick!.takenAt.getTime()).toBeGreaterThanOrEqual(before);
  expect(tick!.takenAt.getTime()).toBeLessThanOrEqual(Date.now());
});

it('gives prices that the oracle takes, crossed or not', async () => {
  const ticks = await exchange({ 'BTC/USD': last(61_234.56), 'EUR/USD': last(1.0837) }).source.read();
  for (const tick of ticks) {
    const agreed = medianOfTicks([tick], { quorum: 1, maxAgeSeconds: 60, now: new Date(at) });
    expect(agreed).toMatchObject({ value: tick.value });
  }
  expect(ticks).toHaveLength(2);
});

it('fails as a whole where the exchange does not answer', async () => {
  for (const fail of ['loadMarkets', 'fetchTickers'] as const)
    await expect(exchange({ 'BTC/USD': last(1) }, { fail }).source.read()).rejects.toThrow(/Maintenance|Too many/);
});

it('knows live exchanges by their ids, and refuses another name', async () => {
  for (const id of ['kraken', 'coinbase', 'bitstamp', 'gemini']) {
    const client = await exchangeClient(id);
    expect(client.id).toBe(id);
    expect(client.fetchTickers).toBeInstanceOf(Function);
  }
  await expect(exchangeClient('krakn')).rejects.toThrow(/RATE_EXCHANGES.*krakn/);
});
