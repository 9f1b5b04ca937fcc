import { Context } from '@temporalio/activity';
import type { ActivityInterceptors, InjectedSinks } from '@temporalio/worker';
import { inSpan, startSpan } from '../../domain/tracing';
import { traceparentIn } from '../../workflows/traceparent-header';
import type { TraceSinks } from '../../workflows/tracing';

/** Each try of an activity is a span of the trace that its workflow belongs to. */
export const inTrace = (): ActivityInterceptors => ({
  inbound: {
    execute(input, next) {
      const parent = traceparentIn(input.headers);
      if (parent === null) return next(input);
      const { activityType, attempt, workflowExecution, taskQueue } = Context.current().info;
      const attributes = { workflowId: workflowExecution?.workflowId, taskQueue, attempt };
      return inSpan({ name: activityType, kind: 'internal', parent, attributes }, () => next(input));
    },
  },
});

/** Records runs of workflows when they end. Nothing is recorded while a history is replayed. */
export const traceSinks: InjectedSinks<TraceSinks> = {
  tracing: {
    ended: {
      fn({ workflowType, workflowId, runId }, { parent, spanId, startedAt, fault }) {
        const attributes = { workflowId, runId };
        const run = { name: `workflow ${workflowType}`, kind: 'internal', parent, id: spanId, attributes } as const;
        startSpan({ ...run, startedAt: new Date(startedAt) })?.end({}, fault);
      },
    },
  },
};
