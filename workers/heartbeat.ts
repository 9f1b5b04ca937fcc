import { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';

const everyMs = 500;

/** Every activity beats as long as its process lives, so that Temporal notices a dead one within `heartbeatTimeout` and
 *  not only at the end of the time that an activity may take. */
export const heartbeat = (): ActivityInterceptors => ({
  inbound: {
    async execute(input, next) {
      const context = Context.current();
      if (context.info.isLocal) return next(input); // the task that it is a part of has its own timeout
      const beat = setInterval(() => context.heartbeat(), everyMs);
      try {
        return await next(input);
      } finally {
        clearInterval(beat);
      }
    },
  },
});
