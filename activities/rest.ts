import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';

/** Waits `ms`, or until the worker shuts down, whichever is first. */
export const restUntil = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });

/** What an activity throws that waits by failing: it is tried again after `ms`, which leaves no trace in the
 *  history. */
export const lookAgainIn = (ms: number, type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, category: ApplicationFailureCategory.BENIGN, nextRetryDelay: ms });

/** Looks again and again, `ms` apart, until the worker shuts down; then another worker is to go on. */
export async function lookForEver(ms: number, look: () => Promise<void>): Promise<never> {
  const { cancellationSignal } = Context.current();
  while (!cancellationSignal.aborted) {
    await look();
    await restUntil(ms, cancellationSignal);
  }
  throw ApplicationFailure.retryable('This worker is shutting down', 'MOVES');
}
