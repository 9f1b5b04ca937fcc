import { createChainActivities } from '../activities';
import { createAdapter, createSecondAdapter } from '../chains/adapters';
import { logOf } from '../domain/log';
import { taskQueues } from '../workflows/messages';
import { runProcess } from './worker';

/** Follows the networks of CHAIN_NETWORKS and broadcasts on them; the only process with node credentials. */
void runProcess('chain', ({ config, db, log: ofProcess }) => {
  const log = logOf(ofProcess, 'chains', config.LOG_LEVELS);
  return Promise.resolve(
    config.chainNetworks.map((network) => {
      const adapter = createAdapter(network, config, (text) => log.warn({ network }, text));
      return {
        taskQueue: taskQueues.chain(network),
        activities: createChainActivities({ db, config, log, adapter, second: createSecondAdapter(network, config) }),
        maxConcurrentActivityTaskExecutions: 40,
      };
    }),
  );
});
