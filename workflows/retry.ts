import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import { finalErrors } from '../domain/errors';

/** Nodes, oracles and our own database come back: keep asking, at most once a minute. A final refusal ends it at
 *  once. */
export const untilAnswered = {
  startToCloseTimeout: '30s',
  /** Workers beat for every activity: a dead one is noticed within this. */
  heartbeatTimeout: '3s',
  retry: {
    initialInterval: '500ms',
    backoffCoefficient: 1.7,
    maximumInterval: '30s',
    nonRetryableErrorTypes: finalErrors,
  },
} satisfies ActivityOptions;

/** For what waits by failing, and names its own pauses: after a thousand looks, an error or a dead worker delays it no
 *  more than after the first. */
export const untilSeen = {
  ...untilAnswered,
  retry: { ...untilAnswered.retry, maximumInterval: '10s' },
} satisfies ActivityOptions;

/** Of activities within a workflow's task: within its time, and once, because all the task's answers wait for it. */
export const onceInTask = {
  startToCloseTimeout: '4s',
  retry: { maximumAttempts: 1 },
} satisfies LocalActivityOptions;
