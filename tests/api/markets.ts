import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import { MockActivityEnvironment } from '@temporalio/testing';
import { rateActivities } from '../../activities/pricing/rates';
import { connectionsTo, urlFor } from '../setup/postgres';
import type { Harness } from './harness';

export type Markets = {
  /** What the markets say from now on, in dollars; nobody has looked yet. */
  move: (prices: Record<string, string>) => void;
  /** Has them looked at, as a conversion does. */
  look: () => Promise<void>;
  stop: () => Promise<void>;
};

/** The worker's own keeper of rates, on a price file. It looks when it is asked, and otherwise once an hour.
 *  `mayExplain`: as of the harness. */
export async function startMarkets(
  h: Harness,
  { mayExplain = false }: { mayExplain?: boolean } = {},
): Promise<Markets> {
  const file = join(mkdtempSync(join(tmpdir(), 'rates-')), 'rates.json');
  let prices: Record<string, string> = { BTC: '64000', ETH: '3200', USDT_ERC20: '1', USDC_ERC20: '1' };
  const move = (changed: Record<string, string>): void => {
    prices = { ...prices, ...changed };
    writeFileSync(file, JSON.stringify({ takenAt: 'now', USD: prices, fiat: { EUR: '0.92' } }));
  };
  move({});
  const config = { ...h.api.deps.config, RATE_SOURCE: 'file' as const, RATE_FILE: file, RATE_REFRESH_SECONDS: 3600 };
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  // As in its own process, with its own role: no request takes its connections.
  const db = connectionsTo(mayExplain ? h.databaseUrl : urlFor(h.databaseUrl, 'payments'));
  await db.initialize();
  const { keepRates } = rateActivities({ db, config, log: { warn: () => undefined } });
  const ended = environment.run(keepRates).catch((error: Error) => error.message);
  const stop = async () => {
    environment.cancel();
    await ended;
    await db.destroy();
  };
  const look = () => h.api.deps.freshRates.look(...Object.keys(prices));
  await look().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { move, look, stop };
}
