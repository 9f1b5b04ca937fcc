import type { Exchange } from 'ccxt';
import { assets, type Asset } from '../../domain/chains/assets';
import { Decimal, divide, times } from '../../domain/money';
import { fiatDecimals } from '../../domain/pricing/quote';
import type { RateSource, Tick } from './source';

/** The part of a ccxt exchange that prices need. */
export type TickerClient = Pick<Exchange, 'id' | 'loadMarkets' | 'fetchTickers' | 'markets'>;

const timeoutMs = 8000;
const fiats = Object.keys(fiatDecimals);

/** A live exchange by its ccxt id; ccxt takes a second to load, so only who asks exchanges loads it. Throws on an
 *  unknown id: a configuration fault. */
export async function exchangeClient(id: string): Promise<TickerClient> {
  const { default: ccxt } = await import('ccxt');
  const make = (ccxt as unknown as Record<string, new (options: object) => Exchange>)[id];
  if (!make) throw new Error(`RATE_EXCHANGES: ccxt knows no exchange '${id}'`);
  return new make({ enableRateLimit: true, timeout: timeoutMs });
}

/** Last prices of one exchange. A pair in the fiat itself is taken as it is; where an exchange has none, its dollar
 *  price is crossed with its own price of that fiat in dollars. */
export const exchangeSource = (client: TickerClient, wantedAssets: readonly Asset[] = assets): RateSource => ({
  name: client.id,
  async read() {
    await client.loadMarkets();
    const has = (symbol: string): boolean => client.markets?.[symbol] !== undefined;
    const bases = [...new Set(wantedAssets.map((asset) => asset.asset))];
    const wanted = [...bases, ...fiats].flatMap((base) => fiats.map((fiat) => `${base}/${fiat}`)).filter(has);
    const tickers = await client.fetchTickers(wanted);
    const price = (symbol: string): { value: string; takenAt: Date } | undefined => {
      const ticker = tickers[symbol];
      if (typeof ticker?.last !== 'number' || !Number.isFinite(ticker.last) || ticker.last <= 0) return undefined;
      return { value: new Decimal(ticker.last).toFixed(), takenAt: new Date(ticker.timestamp ?? Date.now()) };
    };
    const ticks: Tick[] = [];
    for (const { currency, asset } of wantedAssets) {
      const usd = price(`${asset}/USD`);
      for (const fiat of fiats) {
        const direct = price(`${asset}/${fiat}`);
        const crossed = direct ?? (usd && cross(usd, price(`${fiat}/USD`), price(`USD/${fiat}`)));
        if (crossed) ticks.push({ source: client.id, currency, fiat, ...crossed });
      }
    }
    return ticks;
  },
});

type Price = { value: string; takenAt: Date };
function cross(usd: Price, dollarsPerFiat: Price | undefined, fiatPerDollar: Price | undefined): Price | undefined {
  const older = (other: Price): Date => (other.takenAt < usd.takenAt ? other.takenAt : usd.takenAt);
  if (dollarsPerFiat)
    return { value: divide(usd.value, dollarsPerFiat.value, 18, 'down'), takenAt: older(dollarsPerFiat) };
  if (fiatPerDollar) return { value: times(usd.value, fiatPerDollar.value, 18, 'down'), takenAt: older(fiatPerDollar) };
  return undefined;
}
