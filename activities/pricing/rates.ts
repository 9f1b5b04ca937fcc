import { ApplicationFailure, Context } from '@temporalio/activity';
import type { DataSource } from 'typeorm';
import { assetsOn, findAsset } from '../../domain/chains/assets';
import type { Config } from '../../domain/config';
import { fiatDecimals } from '../../domain/pricing/quote';
import { Bell } from '../../db/temporal/bell';
import { databaseNow } from '../../db/payments/payments';
import { lookChannel, pruneRates, storeLook, type NewRate } from '../../db/pricing/rates';
import { exchangeClient, exchangeSource } from './exchanges';
import { fileSource } from './file';
import { medianOfTicks } from './oracle';
import type { RateSource, Tick } from './source';

export type RateDeps = Readonly<{
  db: DataSource;
  config: Config;
  log: { warn(fields: object, text: string): void };
  /** Where prices come from; by configuration unless given. */
  sources?: readonly RateSource[];
}>;

const pruneEveryMs = 3_600_000;
const keepDays = 7;

const sourcesOf = async (config: Config): Promise<RateSource[]> =>
  config.RATE_SOURCE === 'file'
    ? [fileSource(config.RATE_FILE)]
    : Promise.all(
        config.rateExchanges.map(async (id) => exchangeSource(await exchangeClient(id), assetsOn(config.networks))),
      );

/** Keeps the rates fresh that quotes are made of. Contract: 1.1. */
export const rateActivities = ({ db, config, log, ...deps }: RateDeps) => {
  /** One look at all sources; a source that fails is missing from the evidence, nothing more. */
  async function refresh(sources: readonly RateSource[]): Promise<void> {
    const startedAt = await databaseNow(db.manager);
    const answers = await Promise.allSettled(sources.map((source) => source.read()));
    const ticks: Tick[] = [];
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') ticks.push(...answer.value);
      else log.warn({ source: sources[index]!.name, error: String(answer.reason) }, 'A rate source does not answer');
    }
    const now = await databaseNow(db.manager);
    const quorum = config.RATE_SOURCE === 'file' ? 1 : config.RATE_QUORUM;
    const pairs = new Map<string, Tick[]>();
    for (const tick of ticks) {
      if (!findAsset(tick.currency) || !(tick.fiat in fiatDecimals)) continue;
      const key = `${tick.currency}/${tick.fiat}`;
      pairs.set(key, [...(pairs.get(key) ?? []), tick]);
    }
    const rates: NewRate[] = [];
    for (const [pair, said] of pairs) {
      const median = medianOfTicks(said, { quorum, maxAgeSeconds: config.RATE_MAX_AGE_SECONDS, now });
      if (!median) {
        log.warn({ pair, said: said.length, quorum }, 'No quorum for a rate');
        continue;
      }
      const { currency, fiat } = said[0]!;
      // The database's clock decides freshness: a price counts from when it was read, or from when its source took it.
      const takenAt = median.takenAt < now ? median.takenAt : now;
      rates.push({ currency, fiat, value: median.value, takenAt, sources: median.evidence });
    }
    await db.transaction((tx) => storeLook(tx, startedAt, rates));
  }

  return {
    /** Never returns while its worker lives: a look at the sources every RATE_REFRESH_SECONDS, and whenever one is
     *  asked for. */
    async keepRates(): Promise<void> {
      const context = Context.current();
      const sources = deps.sources ?? (await sourcesOf(config));
      const bell = new Bell(config.DATABASE_URL, lookChannel);
      let prunedAt = 0;
      try {
        while (!context.cancellationSignal.aborted) {
          await refresh(sources);
          if (Date.now() - prunedAt > pruneEveryMs) {
            await pruneRates(db, keepDays);
            prunedAt = Date.now();
          }
          await bell.wait(config.RATE_REFRESH_SECONDS * 1000, context.cancellationSignal);
        }
      } finally {
        await bell.close();
      }
      throw ApplicationFailure.retryable('This worker is shutting down', 'MOVES');
    },
  };
};
