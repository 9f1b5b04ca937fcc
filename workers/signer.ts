import { createLightningPayerActivities, createSignerActivities } from '../activities';
import { createCodecs } from '../chains/adapters';
import { expiringFamilies } from '../chains/expiring-nodes';
import { lightningPayer } from '../chains/lightning/node';
import { taskQueues } from '../workflows/messages';
import type { Records } from '../db/recovery/epoch';
import { epochFile, monitorEpoch } from './epoch';
import { outsideRecord } from './outside-record';
import { readSeeds, seedRing } from './seeds';
import { runProcess } from './worker';

/** Holds the seeds and signs what recorded intents say; the only process that can. Where it has the macaroon, it pays
 *  by our Lightning node. */
void runProcess('signer', async ({ config, db, log, onStop }) => {
  const given = readSeeds(config);
  const codecs = createCodecs(config.chain);
  const expiring = expiringFamilies(config);
  const lightning = lightningPayer(config);
  const file = epochFile(config.SIGNER_EPOCH_FILE);
  const ring = await seedRing({ db, codecs, networks: config.networks, lanes: config.lanes, file }, given);
  for (const { network, lanes, wanted } of await ring.register())
    log.warn({ network, lanes, wanted }, 'Wallets of merchants have the indexes of some lanes');
  const records: Records = {
    signatures: outsideRecord(`${config.SIGNER_EPOCH_FILE}.signed`),
    calls: outsideRecord(`${config.SIGNER_EPOCH_FILE}.called`),
  };
  const epochs = monitorEpoch({
    db,
    log,
    codecs,
    file,
    records,
    watchCount: config.RECOVERY_WATCH_ADDRESSES,
    async first() {
      if (ring.isNew) log.warn({ branch: await ring.begin() }, 'A seed begins: all that is made from now on is of it');
    },
  });
  await epochs.begun;
  onStop(() => epochs.stop());
  return [
    {
      taskQueue: taskQueues.signer,
      activities: createSignerActivities({
        db,
        config,
        log,
        codecs,
        seed: ring.seeds,
        expiring,
        record: records.signatures,
      }),
      maxConcurrentActivityTaskExecutions: 10,
    },
    ...(lightning
      ? [
          {
            taskQueue: taskQueues.lightningPayments,
            activities: createLightningPayerActivities({
              ...{ db, config, log, ...lightning },
              newDestinations: config.newDestinations,
              mostUnderWay: config.SIGNER_LIGHTNING_UNDER_WAY,
              record: records.calls,
            }),
            maxConcurrentActivityTaskExecutions: 4,
          },
        ]
      : []),
  ];
});
