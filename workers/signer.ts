import { mnemonicToSeedSync, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { readFileSync, statSync } from 'node:fs';
import { createSignerActivities } from '../activities';
import { createCodecs } from '../chains/adapters';
import type { KeyRole } from '../domain/chains/chain';
import { ConfigError } from '../domain/config';
import { registerKeys } from '../db/chains/extended-keys';
import { taskQueues } from '../workflows/messages';
import { epochFile, monitorEpoch } from './epoch';
import { signatureRecord } from './signature-record';
import { runProcess } from './worker';

/** The seed of the mnemonic in `path`. Throws where others could read the file or it holds no mnemonic. */
function readSeed(path: string): Uint8Array {
  if (!path)
    throw new ConfigError('SIGNER_SEED_FILE is missing: the signer needs a file with a BIP-39 mnemonic, mode 0600');
  const { mode } = statSync(path);
  if (mode & 0o077) throw new ConfigError(`SIGNER_SEED_FILE: others may read ${path}; set its mode to 0600`);
  const mnemonic = readFileSync(path, 'utf8').trim();
  if (!validateMnemonic(mnemonic, wordlist)) throw new ConfigError('SIGNER_SEED_FILE holds no BIP-39 mnemonic');
  return mnemonicToSeedSync(mnemonic);
}

/** Holds the seed and signs what recorded intents say; the only process that can. */
void runProcess('signer', async ({ config, db, log, onStop }) => {
  const seed = readSeed(config.SIGNER_SEED_FILE);
  const codecs = createCodecs(config.chain);
  for (const network of config.networks) {
    const codec = codecs[network];
    const wanted = config.lanes[network]!;
    const keyOf = (role: KeyRole): string => codec.extendedKey(seed, role);
    const lanes = await db.transaction((tx) => registerKeys(tx, codec, keyOf, wanted));
    if (lanes < wanted) log.warn({ network, lanes, wanted }, 'Wallets of merchants have the indexes of some lanes');
  }
  const record = signatureRecord(`${config.SIGNER_EPOCH_FILE}.signed`);
  const epochs = monitorEpoch({
    db,
    log,
    codecs,
    file: epochFile(config.SIGNER_EPOCH_FILE),
    record,
    watchCount: config.RECOVERY_WATCH_ADDRESSES,
  });
  await epochs.begun;
  onStop(() => epochs.stop());
  return [
    {
      taskQueue: taskQueues.signer,
      activities: createSignerActivities({ db, config, log, codecs, seed, record }),
      maxConcurrentActivityTaskExecutions: 10,
    },
  ];
});
