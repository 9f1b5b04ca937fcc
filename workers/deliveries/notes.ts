import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../db/query';
import { noteDelivered, type Delivered } from '../../db/webhooks/delivery-queue';

/** Attempts of one statement. */
const mostAtOnce = 100;
const tries = 5;
const pauseMs = 1000;

/** Does it again for a while: PostgreSQL comes back, and so do locks. */
export async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let left = tries; ; left -= 1)
    try {
      return await act();
    } catch (error) {
      if (left <= 1) throw error;
      await sleep(pauseMs);
    }
}

type Waiting = Readonly<{ delivered: Delivered; done: () => void; failed: (error: unknown) => void }>;

/** Notes attempts that succeeded: those that come while a statement is under way share the next one. */
export class Notes {
  private waiting: Waiting[] = [];
  private isBusy = false;

  constructor(private readonly db: Queryable) {}

  /** Resolves once it is noted. */
  add(delivered: Delivered): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ delivered, done, failed });
      if (!this.isBusy) void this.noteAll();
    });
  }

  private async noteAll(): Promise<void> {
    this.isBusy = true;
    while (this.waiting.length) {
      const some = this.waiting.splice(0, mostAtOnce);
      const list = some.map(({ delivered }) => delivered);
      await patiently(() => noteDelivered(this.db, list)).then(
        () => some.forEach(({ done }) => done()),
        (error: unknown) => some.forEach(({ failed }) => failed(error)),
      );
    }
    this.isBusy = false;
  }
}
