import { ApplicationFailure } from '@temporalio/activity';
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
