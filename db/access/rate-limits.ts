import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { DataSource } from 'typeorm';
import type { Limit } from '../../domain/access/rate-limits';
import { Batcher } from '../batcher';
import { poolOf } from '../query';

/** `retryAfterSeconds`: set where the request is refused. */
export type LimitAnswer = Readonly<{ left: number; limit: number; resetSeconds: number; retryAfterSeconds?: number }>;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Requests of one caller that are counted by one statement. */
const most = 64;
/** What one statement counted for one of its requests. */
type Counted = Readonly<{ isOver: boolean; left: number; msLeft: number }>;

/** Limits kept in PostgreSQL by one atomic statement each, so that all copies of the API share them. What one caller
 *  asks at once is counted together, each in its turn. Contract: 8. */
export class RateLimits {
  private readonly limiters = new Map<string, RateLimiterPostgres>();
  private readonly counts = new Map<string, Batcher<string, Counted>>();

  constructor(private readonly db: DataSource) {}

  /** Counts one request of `caller` against `limit`, under the name `bucket`. Rejects where PostgreSQL does not
   *  answer. */
  async consume(bucket: string, caller: string, limit: Limit): Promise<LimitAnswer> {
    const counts =
      this.counts.get(bucket) ?? new Batcher((callers: readonly string[]) => this.count(bucket, callers, limit), most);
    this.counts.set(bucket, counts);
    const { isOver, left, msLeft } = await counts.add(caller, caller);
    const answer = { left, limit: limit.points, resetSeconds: seconds(msLeft) };
    return isOver ? { ...answer, retryAfterSeconds: answer.resetSeconds } : answer;
  }

  /** Requests of one caller, all of the same name. */
  private async count(bucket: string, callers: readonly string[], limit: Limit): Promise<Counted[]> {
    let isRefused = false;
    const answer = await this.limiter(bucket, limit)
      .consume(callers[0]!, callers.length)
      .catch((refusal: unknown) => {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        isRefused = true;
        return refusal;
      });
    // Whom this process knows to be over the limit is counted no further.
    const isKnown = isRefused && answer.consumedPoints === 0;
    return callers.map((_, n) => {
      const nth = answer.consumedPoints - callers.length + n + 1;
      const left = isKnown ? 0 : Math.max(0, limit.points - nth);
      return { isOver: isKnown || nth > limit.points, left, msLeft: answer.msBeforeNext };
    });
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
