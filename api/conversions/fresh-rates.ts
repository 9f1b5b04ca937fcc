import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { askForLook, lookSince } from '../../db/pricing/rates';

/** A request waits so long for a fresh look at the markets. */
const deadlineMs = 5000;
const pollMs = 15;
/** Looks of one process begin so long after each other: whoever comes meanwhile shares the next. */
const spacingMs = 100;

/** Has the sources of rates looked at now. The worker that keeps the rates does it, so that this process reaches no
 *  exchange; whoever asks while a look is under way shares the next one. See docs/decisions/0013-fresh-rates.md. */
export class FreshRates {
  private current: Promise<ReadonlySet<string>> | undefined;
  private next: Promise<ReadonlySet<string>> | undefined;
  private begun = -Infinity;

  constructor(private readonly db: DataSource) {}

  /** Resolves when rates of a look that began after this call are stored. Throws RATE_UNAVAILABLE where it does not
   *  come in time, or found no price for one of the currencies. */
  async look(...currencies: readonly string[]): Promise<void> {
    const found = await (this.next ??= this.after(this.current));
    if (!currencies.every((currency) => found.has(currency))) throw new DomainError('RATE_UNAVAILABLE');
  }

  private async after(running: Promise<unknown> | undefined): Promise<ReadonlySet<string>> {
    await Promise.allSettled([running]);
    const rest = this.begun + spacingMs - performance.now();
    if (rest > 0) await sleep(rest);
    this.begun = performance.now();
    this.next = undefined;
    return (this.current = this.once());
  }

  private async once(): Promise<ReadonlySet<string>> {
    const until = Date.now() + deadlineMs;
    const asked = await askForLook(this.db);
    while (Date.now() < until) {
      await sleep(pollMs);
      const found = await lookSince(this.db, asked);
      if (found) return new Set(found);
    }
    throw new DomainError('RATE_UNAVAILABLE');
  }
}
