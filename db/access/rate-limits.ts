import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { DataSource } from 'typeorm';
import type { Limit } from '../../domain/access/rate-limits';
import { poolOf } from '../query';

/** `retryAfterSeconds`: set where the request is refused. */
export type LimitAnswer = Readonly<{ left: number; limit: number; resetSeconds: number; retryAfterSeconds?: number }>;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Limits kept in PostgreSQL by one atomic statement each, so that all copies of the API share them. Contract: 8. */
export class RateLimits {
  private readonly limiters = new Map<string, RateLimiterPostgres>();

  constructor(private readonly db: DataSource) {}

  /** Counts one request of `caller` against `limit`, under the name `bucket`. Rejects where PostgreSQL does not
   *  answer. */
  async consume(bucket: string, caller: string, limit: Limit): Promise<LimitAnswer> {
    try {
      const answer = await this.limiter(bucket, limit).consume(caller);
      return { left: answer.remainingPoints, limit: limit.points, resetSeconds: seconds(answer.msBeforeNext) };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const retryAfterSeconds = seconds(refusal.msBeforeNext);
      return { left: 0, limit: limit.points, resetSeconds: retryAfterSeconds, retryAfterSeconds };
    }
  }

  /** Starts the count of `caller` anew. */
  async forget(bucket: string, caller: string, limit: Limit): Promise<void> {
    await this.limiter(bucket, limit).delete(caller);
  }

  /** Takes back one request that was counted. */
  async uncount(bucket: string, caller: string, limit: Limit): Promise<void> {
    await this.limiter(bucket, limit).reward(caller);
  }

  private limiter(bucket: string, limit: Limit): RateLimiterPostgres {
    let limiter = this.limiters.get(bucket);
    if (!limiter) {
      limiter = new RateLimiterPostgres({
        storeClient: poolOf(this.db),
        storeType: 'pool',
        tableName: 'rate_limit',
        tableCreated: true,
        clearExpiredByTimeout: false,
        keyPrefix: bucket,
        points: limit.points,
        duration: limit.seconds,
        // A caller who is over the limit costs no further queries.
        inMemoryBlockOnConsumed: limit.points + 1,
      });
      this.limiters.set(bucket, limiter);
    }
    return limiter;
  }

  /** Removes counters that ended. */
  async clear(): Promise<void> {
    await this.db.query('DELETE FROM rate_limit WHERE expire < $1', [Date.now() - 3_600_000]);
  }
}
