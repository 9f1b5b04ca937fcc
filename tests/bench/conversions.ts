import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { createApp } from '../../api/http/app';
import { startApi } from '../../api/main';
import { executeConversion, quoteConversion } from '../../api/conversions/conversions';
import { readExposure } from '../../db/conversions/exposure';
import { parseConfig } from '../../domain/config';
import { internalConversionJournal } from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { compare } from '../../domain/money';
import { payIn } from '../../sandbox/seed';
import type { Shop, World } from '../world';
import { createSeconds, median, percentile, rate, report, rounds } from './measure';

const callers = 30;
export const ask = { fromCurrency: 'ETH', toCurrency: 'USDT_ERC20', fromAmount: '0.01' };

/** Conversions over HTTP against the same journals in bare SQL, and how long quotes take. The API is one of this
 *  process, without the limits of calls; the rates are read by the worker, for each execution. */
export async function conversions(world: World, shop: Shop, pool: pg.Pool): Promise<void> {
  const config = parseConfig({
    ...world.stack.env,
    API_PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_STANDARD: '100000000',
  });
  const api = await startApi(config);
  const unlimited = [executeConversion, quoteConversion].map((route) => ({ ...route, rate: 'standard' as const }));
  const handle = createApp(unlimited, api.deps).callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/conversions`;
  await fundConversions(world, shop);

  const headers = { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' };
  const call = async (status: number, path: string, init: RequestInit): Promise<void> => {
    const answer = await fetch(url + path, { ...init, headers });
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`${path}: ${answer.status} ${text}`);
  };
  const convert = () => call(201, '', { method: 'POST', body: JSON.stringify(ask) });
  const quote = () => call(200, `/quote?${new URLSearchParams(ask).toString()}`, {});
  const journal = (round: number) => (n: number) =>
    pool.query('SELECT post_journal($1, $2, $3)', [
      `bench/convert/${round}/${n}`,
      adjustment,
      JSON.stringify(
        internalConversionJournal({
          id: 'x',
          merchantId: shop.id,
          fromCurrency: ask.fromCurrency,
          toCurrency: ask.toCurrency,
          fromAmount: ask.fromAmount,
          commission: '0.00004',
          net: '0.00996',
          out: '31.872',
        }).postings,
      ),
    ]);

  const made: number[] = [];
  const bare: number[] = [];
  const quotes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    made.push((await rate(callers, createSeconds, convert)).perSecond);
    bare.push((await rate(callers, createSeconds, journal(round))).perSecond);
    quotes.push(...(await rate(callers, createSeconds, quote)).times);
  }
  await new Promise((resolve) => server.close(resolve));
  await api.close();
  const ratio = median(made) / median(bare);
  report({
    name: 'internal conversions ÷ bare journals of the same',
    value: ratio,
    unit: '×',
    limit: '≥ 0.1',
    holds: ratio >= 0.1,
    detail: `${median(made).toFixed(0)}/s against ${median(bare).toFixed(0)}/s, ${callers} callers of one merchant`,
  });
  const [p50, p99] = [percentile(quotes, 0.5), percentile(quotes, 0.99)];
  report({
    name: `quotes, p99 ÷ p50 under ${callers} callers`,
    value: p99 / p50,
    unit: '×',
    limit: '≤ 5',
    holds: p99 / p50 <= 5,
    detail: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
  });
}

/** Ether of the merchant's, and dollars enough in the treasury, also on its chain: what differs there is frozen. */
export async function fundConversions(world: World, shop: Shop): Promise<void> {
  await world.db.query('SELECT post_journal($1, $2, $3)', [
    `bench/conversions/${shop.id}`,
    adjustment,
    JSON.stringify([{ debit: 'Q:capital', credit: `L:available:${shop.id}`, asset: 'ETH', amount: '1000000' }]),
  ]);
  await payIn(world.db, world.payer, 'USDT_ERC20', '3000000');
  await world.until('the treasury is backed', async () => {
    await world.payer.mine('ETH', 1);
    const { assets } = await readExposure(world.db.manager, ['ethereum']);
    return assets.some(({ currency, free }) => currency === 'USDT_ERC20' && compare(free, '2000000') > 0);
  });
}
