import { createChainActivities, createLightningActivities } from '../activities';
import { createAdapter, createSecondAdapter } from '../chains/adapters';
import { lightningTaker } from '../chains/lightning/node';
import { logOf } from '../domain/log';
import { taskQueues } from '../workflows/messages';
import { runProcess } from './worker';

/** Follows the networks of CHAIN_NETWORKS and broadcasts on them; the only process with node credentials that can do
 *  more than read. That of Bitcoin has our Lightning node make invoices and take their money, where there is one. */
void runProcess('chain', async ({ config, db, log: ofProcess }) => {
  const log = logOf(ofProcess, 'chains', config.LOG_LEVELS);
  const lightning = lightningTaker(config);
  return [
    ...config.chainNetworks.map((network) => {
      const adapter = createAdapter(network, config, (text) => log.warn({ network }, text));
      return {
        taskQueue: taskQueues.chain(network),
        activities: createChainActivities({ db, config, log, adapter, second: createSecondAdapter(network, config) }),
        maxConcurrentActivityTaskExecutions: 40,
      };
    }),
    ...(lightning
      ? [
          {
            taskQueue: taskQueues.lightning,
            activities: createLightningActivities({ db, config, log, ...lightning }),
            maxConcurrentActivityTaskExecutions: 4,
          },
        ]
      : []),
  ];
});
