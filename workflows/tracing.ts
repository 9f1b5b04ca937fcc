import {
  AsyncLocalStorage,
  ContinueAsNew,
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { traceparentIn, withTraceparent } from './traceparent-header';

/** A run that has ended, for the worker to record. */
type EndedRun = Readonly<{
  /** What it was started by, as `traceparent`. */
  parent: string;
  spanId: string;
  startedAt: string;
  fault?: string;
}>;
export interface TraceSinks extends Sinks {
  tracing: { ended(run: EndedRun): void };
}

/** What the activities of a run are told by headers: its trace. A workflow makes no random id and no command for it, so
 *  histories of runs with and without a trace replay alike. Decision: 0053. */
export const interceptors = (): WorkflowInterceptors => {
  const sinks = proxySinks<TraceSinks>();
  /** Of an update: the request that waits for it. */
  const ofUpdates = new AsyncLocalStorage<string>();
  let ofRun: string | null = null;
  const now = (): string | null => ofUpdates.getStore() ?? ofRun;

  return {
    inbound: [
      {
        async execute(input, next) {
          const parent = traceparentIn(input.headers);
          if (parent === null) return next(input);
          const { runId, startTime } = workflowInfo();
          const spanId = spanIdOf(runId);
          const run = { parent, spanId, startedAt: startTime.toISOString() };
          ofRun = `${parent.slice(0, 36)}${spanId}-01`;
          try {
            const result = await next(input);
            sinks.tracing.ended(run);
            return result;
          } catch (error) {
            sinks.tracing.ended(error instanceof ContinueAsNew ? run : { ...run, fault: (error as Error).name });
            throw error;
          }
        },
        handleUpdate(input, next) {
          const parent = traceparentIn(input.headers);
          return parent === null ? next(input) : ofUpdates.run(parent, () => next(input));
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: withTraceparent(input.headers, now()) }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: withTraceparent(input.headers, now()) }),
        startChildWorkflowExecution: (input, next) =>
          next({ ...input, headers: withTraceparent(input.headers, now()) }),
        continueAsNew: (input, next) => next({ ...input, headers: withTraceparent(input.headers, ofRun) }),
      },
    ],
  };
};

/** The span of a run: known in the workflow and outside of it, also after a worker has died. The end of an UUID is
 *  random in each of its versions. */
const spanIdOf = (runId: string): string => runId.replaceAll('-', '').slice(-16);
