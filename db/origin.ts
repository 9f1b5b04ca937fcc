import { AsyncLocalStorage } from 'node:async_hooks';

/** What the code that runs now is done for: a request of the API, or a workflow whose activity it is. */
export type Origin = Readonly<{
  /** X-Request-Id. */
  requestId?: string;
  workflowId?: string;
}>;

const origins = new AsyncLocalStorage<Origin>();
const none: Origin = {};

/** Runs `act`, and all that it waits for, with this origin. */
export const withOrigin = <Result>(origin: Origin, act: () => Result): Result => origins.run(origin, act);

/** The origin of what runs now; empty where nobody has told one. */
export const originNow = (): Origin => origins.getStore() ?? none;
