import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor, ActivityInterceptors } from '@temporalio/worker';
import { DomainError, errorTable } from '../domain/errors';

/** What Temporal shall see of a failed activity: the code as its type, final where the table says so, and a message
 *  that names no secret because none is ever put into one. */
function asFailure(error: unknown): unknown {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (error instanceof DomainError) {
    return ApplicationFailure.create({
      type: error.code,
      message: error.message,
      nonRetryable: errorTable[error.code].final,
      cause: error,
    });
  }
  return error;
}

const translating: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    try {
      return await next(input);
    } catch (error) {
      throw asFailure(error);
    }
  },
};
export const translateFailures = (): ActivityInterceptors => ({ inbound: translating });
