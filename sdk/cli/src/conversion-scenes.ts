import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '@crypto-payment-service/sdk';
import { Refusal } from './refusal.js';
import { script } from './script.js';
import { part, post, settled, type Scene, type Stage } from './stage.js';

/** Events of conversions: from the balance sheet of the platform, or at the swap provider of the sandbox. */

type Pair = Readonly<{ fromCurrency: string; toCurrency: string }>;
const pairOf = ({ currency }: Stage): Pair => ({
  fromCurrency: currency,
  toCurrency: currency === 'ETH' ? 'USDT_ERC20' : 'ETH',
});

const isRefused = (error: unknown, code: string): boolean => error instanceof ApiError && error.code === code;

/** Converts at the quote that is in force now. */
async function convert({ client }: Stage, pair: Pair, amount: string, before: () => unknown = () => undefined) {
  const quote = await client.conversions.quote({ ...pair, fromAmount: amount });
  const { fromAmountStr: fromAmount, exchangeRate: quotedRate, toAmountStr: quotedToAmount } = quote;
  await before();
  return (await client.conversions.execute({ ...pair, fromAmount, quotedRate, quotedToAmount }))._id;
}

const converted: Scene = async (stage) => {
  const { amount } = await settled(stage);
  return convert(stage, pairOf(stage), part(amount, 0.5));
};

/** Has the pair converted at the swap provider, as an operator does, until the event has come. */
async function external(stage: Stage, { fromCurrency, toCurrency }: Pair): Promise<void> {
  const operator = (...args: string[]): Promise<string> => script(stage.sandbox, 'operator', args, 'NOT_TRIGGERED');
  const known = new RegExp(`^${fromCurrency} → ${toCurrency}: (\\w+)(?:, at most ([\\d.]+) USD)?$`, 'm');
  const [, mode = 'internal', most = 'default'] = known.exec(await operator('exposure')) ?? [];
  const set = (to: string): Promise<string> => operator('pair', fromCurrency, toCurrency, to, most, 'trigger');
  if (mode === 'external') return;
  stage.afterwards(() => set(mode));
  await set('external');
}

/** A conversion at the swap provider, which takes nothing below 20 dollars. It is asked for prices from now on: there
 *  is no quote until it has answered. */
async function convertedElsewhere(stage: Stage, before?: () => unknown): Promise<string> {
  const { amount } = await settled(stage, 50);
  const pair = pairOf(stage);
  await external(stage, pair);
  for (;;)
    try {
      return await convert(stage, pair, part(amount, 0.9), before);
    } catch (error) {
      if (!isRefused(error, 'QUOTE_FAILED')) throw error;
      await sleep(500, undefined, { signal: stage.signal });
    }
}

/** The market moves between the check of a conversion and its execution: the price in the sandbox's file falls by 3 %
 *  after the quote, and is put back. Where the service has read the new price before the check, nothing was begun, and
 *  it falls once more. */
async function drifted(stage: Stage): Promise<undefined> {
  const { amount } = await settled(stage);
  const pair = pairOf(stage);
  const file = join(stage.sandbox.folder, 'prices.json');
  const before = readFileSync(file, 'utf8');
  stage.afterwards(() => writeFileSync(file, before));
  const fall = (): void => {
    const prices = JSON.parse(readFileSync(file, 'utf8')) as { USD: Record<string, string> };
    const price = (Number(prices.USD[stage.currency]) * 0.97).toFixed(6);
    writeFileSync(file, JSON.stringify({ ...prices, USD: { ...prices.USD, [stage.currency]: price } }));
  };
  const count = async (): Promise<number> => (await stage.client.conversions.list({ status: 'cancelled' })).total;
  for (const cancelled = await count(); ;)
    try {
      await convert(stage, pair, part(amount, 0.2), fall);
    } catch (error) {
      if (!isRefused(error, 'RATE_DRIFT')) throw error;
      if ((await count()) > cancelled) return undefined;
    }
}

export const conversionScenes: Readonly<Record<string, Scene>> = {
  'conversion.completed': converted,
  'conversion.processing': (stage) => convertedElsewhere(stage),
  'conversion.failed': async (stage) => {
    const { swapUrl } = stage.sandbox;
    if (!swapUrl) throw new Refusal('This sandbox has no swap provider', 'NOT_TRIGGERED');
    return convertedElsewhere(stage, () => post(stage, `${swapUrl}/sandbox/fault`, { kind: 'refuse' }));
  },
  'conversion.cancelled': drifted,
};
