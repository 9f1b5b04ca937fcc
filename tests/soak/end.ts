import { setTimeout as sleep } from 'node:timers/promises';

/** When all that runs at once is over: at a moment of `performance.now()`, or as soon as one of them fails. */
export class End {
  private readonly failed = new AbortController();

  constructor(readonly atMs: number) {}

  isOver = (): boolean => this.failed.signal.aborted || performance.now() >= this.atMs;

  /** Waits until a moment, and never beyond the end. */
  async orAt(dueMs: number): Promise<void> {
    const waitMs = Math.min(dueMs, this.atMs) - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.failed.signal }).catch(() => undefined);
  }

  /** What they come to; where one fails the others end too, and its error is thrown. */
  async ofAll<All extends readonly unknown[]>(running: {
    [Index in keyof All]: Promise<All[Index]>;
  }): Promise<All> {
    for (const one of running) one.catch(() => this.failed.abort());
    await Promise.allSettled(running);
    return Promise.all(running) as Promise<unknown> as Promise<All>;
  }
}
