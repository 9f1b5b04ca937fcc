import type { WorkflowClientInterceptor } from '@temporalio/client';
import { traceparentNow } from '../../domain/tracing';
import { withTraceparent } from '../../workflows/traceparent-header';

/** Workflows that are started, signalled or updated from a trace belong to it. */
export const traceInterceptor: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withTraceparent(input.headers, traceparentNow()) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTraceparent(input.headers, traceparentNow()) }),
  startUpdateWithStart: (input, next) =>
    next({
      ...input,
      workflowStartHeaders: withTraceparent(input.workflowStartHeaders, traceparentNow()),
      updateHeaders: withTraceparent(input.updateHeaders, traceparentNow()),
    }),
};
