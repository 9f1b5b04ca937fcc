import { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import { withOrigin } from '../db/origin';

/** What an activity does is done for the workflow that asked for it, and logged so. */
export const inWorkflow = (): ActivityInterceptors => ({
  inbound: {
    execute(input, next) {
      const workflowId = Context.current().info.workflowExecution?.workflowId;
      return workflowId === undefined ? next(input) : withOrigin({ workflowId }, () => next(input));
    },
  },
});
